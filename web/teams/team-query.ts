import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { request, type One, type Page, type Resource } from '../api/client.ts'

export type Team = {
  readonly name: string
  readonly visibility: 'secret' | 'organization'
  readonly 'users-count': number
  readonly 'organization-access': Readonly<Record<string, boolean>>
  /** What the caller may do. Pages hold no rules of their own. */
  readonly permissions: Readonly<Record<string, boolean>>
}

export const teamQuery = (id: string) =>
  queryOptions({
    queryKey: ['team', id],
    queryFn: ({ signal }) => request<One<Team>>(`/teams/${id}`, { signal }),
  })

export type Membership = { readonly status: 'active' | 'invited'; readonly email: string | null }

/** The people in a team. Its service account is left out. */
export const membersQuery = (teamId: string, page: number) =>
  queryOptions({
    queryKey: ['team-members', teamId, page],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams({
        'filter[is_service_account]': 'false',
        'page[size]': '20',
        'page[number]': String(page),
      })
      const path = `/teams/${teamId}/relationships/organization-memberships?${query}`
      return request<Page<Membership>>(path, { signal })
    },
    placeholderData: keepPreviousData,
  })

type People = Page<Membership> & {
  readonly included?: readonly Resource<{ readonly username: string | null }>[]
}

/** People of the organization whose name or email contains `q`. */
export const peopleQuery = (organization: string, q: string) =>
  queryOptions({
    queryKey: ['people', organization, q],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams({ include: 'user', 'page[size]': '10', ...(q === '' ? {} : { q }) })
      const path = `/organizations/${encodeURIComponent(organization)}/organization-memberships?${query}`
      return request<People>(path, { signal })
    },
    placeholderData: keepPreviousData,
  })
