import { queryOptions } from '@tanstack/react-query'
import { pageOf, request, type Page } from '../api/client.ts'

export type StateVersion = {
  readonly serial: number
  readonly status: string
  readonly 'created-at': string
  readonly size: number | null
  readonly 'terraform-version': string | null
  readonly 'resources-processed': boolean
  readonly 'hosted-state-download-url': string | null
}

/** A page of the state versions of a workspace, newest first. */
export const stateVersionsQuery = (organization: string, workspace: string, page: number) =>
  queryOptions({
    queryKey: ['state-versions', organization, workspace, page],
    queryFn: ({ signal }) => {
      const parameters = {
        'filter[organization][name]': organization,
        'filter[workspace][name]': workspace,
      }
      return request<Page<StateVersion>>(pageOf('/state-versions', page, 20, parameters), { signal })
    },
  })
