import { queryOptions } from '@tanstack/react-query'
import { request, type One, type Page, type Resource } from '../api/client.ts'
import { isStatus } from '../api/errors.ts'
import { parseExact } from './exact.ts'

export type Output = {
  readonly name: string
  readonly sensitive: boolean
  readonly type: string
  /** Null for a sensitive output. */
  readonly value: unknown
}

const none: Page<Output> = {
  data: [],
  meta: { pagination: { 'current-page': 1, 'next-page': null, 'total-count': 0 } },
}

/** The current outputs, sensitive ones without their value. None before the first state. */
export const outputsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ['outputs', workspaceId],
    queryFn: async ({ signal }) => {
      try {
        const path = `/workspaces/${workspaceId}/current-state-version-outputs`
        return await request<Page<Output>>(path, { signal, parse: parseExact })
      } catch (error) {
        if (isStatus(error, 404)) return none
        throw error
      }
    },
  })

/** Reads the value of one output. If it is sensitive, the audit trail names who read it: call it on a click only. */
export async function reveal(id: string): Promise<Resource<Output>> {
  return (await request<One<Output>>(`/state-version-outputs/${id}`, { parse: parseExact })).data
}
