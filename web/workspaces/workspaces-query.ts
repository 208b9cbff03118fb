import { queryOptions } from '@tanstack/react-query'
import { request, type One, type Page } from '../api/client.ts'

type Workspace = { readonly name: string; readonly locked: boolean; readonly description: string | null }

const pathOf = (organization: string) => `/organizations/${encodeURIComponent(organization)}/workspaces`

export const workspacesQuery = (organization: string) =>
  queryOptions({
    queryKey: ['workspaces', organization],
    queryFn: ({ signal }) => request<Page<Workspace>>(`${pathOf(organization)}?page[size]=100`, { signal }),
  })

export const workspaceQuery = (organization: string, name: string) =>
  queryOptions({
    queryKey: ['workspace', organization, name],
    queryFn: ({ signal }) =>
      request<One<Workspace>>(`${pathOf(organization)}/${encodeURIComponent(name)}`, { signal }),
  })
