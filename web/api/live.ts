import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { request } from './client.ts'
import { ApiError } from './errors.ts'

const LIVE_MS = 10_000

type Asking = {
  readonly signal: AbortSignal
  readonly client: QueryClient
  readonly queryKey: QueryKey
}

/**
 * The options of a query that is asked again every 10 seconds while it is in view and the tab is visible. If nothing has
 * changed, the server sends no body, and the answer stays the same object.
 *
 * @param path below /api/v2
 */
export function live<Answer extends object>(path: string) {
  return {
    queryFn: ({ signal, client, queryKey }: Asking) =>
      request<Answer>(path, { signal, before: client.getQueryData<Answer>(queryKey) }),
    // The answer before is known by its identity.
    structuralSharing: false,
    refetchInterval: ({ state }: { readonly state: { readonly error: Error | null } }) =>
      isRefused(state.error) ? false : LIVE_MS,
  } as const
}

/**
 * What is refused is not asked again: each 404 is a row among the refusals. A 409 is about the state of a workspace, and a
 * newer state may come.
 */
function isRefused(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500 && error.status !== 409
}
