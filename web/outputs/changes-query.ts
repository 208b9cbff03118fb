import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { pageOf, request, type Page } from '../api/client.ts'
import type { Preview } from './outputs-query.ts'

export type Change = {
  readonly name: string
  readonly change: 'added' | 'changed' | 'removed'
  readonly differs: readonly ('sensitive' | 'type' | 'value')[]
  readonly before: Preview | null
  readonly after: Preview | null
}

export type Changes = Page<Change> & {
  readonly meta: { readonly added: number; readonly changed: number; readonly removed: number }
}

/** What changed in the outputs up to a version, since another one or since the one before. */
export const changesQuery = (stateVersionId: string, since: string | undefined, page: number) =>
  queryOptions({
    queryKey: ['output-changes', stateVersionId, since, page],
    queryFn: ({ signal }) => {
      const path = `/state-versions/${encodeURIComponent(stateVersionId)}/output-changes`
      return request<Changes>(pageOf(path, page, 100, { since }), { signal })
    },
    placeholderData: keepPreviousData,
    // Stored outputs never change.
    staleTime: Infinity,
  })
