import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { pageOf, type Page } from '../api/client.ts'
import { live } from '../api/live.ts'

export type StateVersion = {
  readonly serial: number
  readonly status: string
  readonly 'created-at': string
  readonly 'hosted-state-download-url': string | null
  /** Null if the outputs can be read, or there is no state yet. */
  readonly 'outputs-unreadable-reason': string | null
}

/** A page of the state versions of a workspace, newest first. */
export const stateVersionsQuery = (organization: string, workspace: string, page: number) =>
  queryOptions({
    queryKey: ['state-versions', organization, workspace, page],
    ...live<Page<StateVersion>>(
      pageOf('/state-versions', page, 20, {
        'filter[organization][name]': organization,
        'filter[workspace][name]': workspace,
      }),
    ),
    placeholderData: keepPreviousData,
  })
