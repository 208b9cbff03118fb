import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { pageOf, type Page } from '../api/client.ts'
import { live } from '../api/live.ts'

export type OutputVersion = {
  readonly serial: number
  readonly status: string
  /** Why its outputs cannot be read; null if they can. */
  readonly 'outputs-unreadable-reason': string | null
  readonly 'created-at': string
  /** Null if the reader may not know who it was, or if they are not in the organization any more. */
  readonly 'created-by-name': string | null
}

/** A page of the state versions of a workspace, newest first, for those who may read its outputs. */
export const outputVersionsQuery = (workspaceId: string, page: number) =>
  queryOptions({
    queryKey: ['output-versions', workspaceId, page],
    ...live<Page<OutputVersion>>(pageOf(`/workspaces/${workspaceId}/output-versions`, page, 20)),
    placeholderData: keepPreviousData,
  })
