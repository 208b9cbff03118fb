import { queryOptions } from '@tanstack/react-query'
import { request, type One, type Page } from '../api/client.ts'

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
      const query = new URLSearchParams({
        'filter[organization][name]': organization,
        'filter[workspace][name]': workspace,
        'page[size]': '20',
        'page[number]': String(page),
      })
      return request<Page<StateVersion>>(`/state-versions?${query}`, { signal })
    },
  })

type Named = { readonly username?: string; readonly name?: string }

/** The name of a user or a team. */
export const nameQuery = (type: string, id: string) =>
  queryOptions({
    queryKey: ['name', type, id],
    queryFn: async ({ signal }) => {
      const { attributes } = (await request<One<Named>>(`/${type}/${id}`, { signal })).data
      return attributes.username ?? attributes.name ?? id
    },
    staleTime: 600_000,
    retry: false,
  })
