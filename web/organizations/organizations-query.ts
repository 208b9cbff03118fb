import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { pageOf, request, type One, type Page } from '../api/client.ts'

export type ShownOrganization = {
  readonly name: string
  readonly email: string
  readonly 'user-tokens-enabled': boolean
  readonly 'max-ttl-enabled': boolean
  readonly 'delegated-team-management': boolean
  /** What the caller may do in it. */
  readonly permissions: Readonly<Record<string, boolean>>
}

export const organizationQuery = (name: string) =>
  queryOptions({
    queryKey: ['organization', name],
    queryFn: ({ signal }) =>
      request<One<ShownOrganization>>(`/organizations/${encodeURIComponent(name)}`, { signal }),
    staleTime: 60_000,
  })

export const organizationsQuery = (page: number) =>
  queryOptions({
    queryKey: ['organizations', page],
    queryFn: ({ signal }) =>
      request<Page<ShownOrganization>>(pageOf('/organizations', page, 100), { signal }),
    placeholderData: keepPreviousData,
  })
