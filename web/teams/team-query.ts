import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { inOrganization, pageOf, request, type One } from '../api/client.ts'
import { live } from '../api/live.ts'
import type { People } from '../people/people-query.ts'

export type Team = {
  readonly name: string
  readonly visibility: 'secret' | 'organization'
  readonly 'users-count': number
  /** Null: none. Undefined: this server has none. */
  readonly 'sso-team-id'?: string | null
  readonly 'allow-member-token-management': boolean
  readonly 'organization-access': Readonly<Record<string, boolean>>
  /** What the caller may do. Pages hold no rules of their own. */
  readonly permissions: Readonly<Record<string, boolean>>
}

/** Without the ids of its members. A request for fields also shows the permissions that only Purser has. */
const parameters = new URLSearchParams({
  'fields[teams]':
    'name,visibility,users-count,sso-team-id,allow-member-token-management,organization-access,permissions',
})

export const teamQuery = (id: string) =>
  queryOptions({
    queryKey: ['team', id],
    ...live<One<Team>>(`/teams/${encodeURIComponent(id)}?${parameters}`),
  })

/** The people in a team, with their users. Its service account is left out. */
export const membersQuery = (teamId: string, page: number) =>
  queryOptions({
    queryKey: ['team-members', teamId, page],
    ...live<People>(
      pageOf(`/teams/${encodeURIComponent(teamId)}/relationships/organization-memberships`, page, 20, {
        'filter[is_service_account]': 'false',
        include: 'user',
      }),
    ),
    placeholderData: keepPreviousData,
  })

/** People of the organization whose name or email contains `q`. */
export const peopleQuery = (organization: string, q: string) =>
  queryOptions({
    queryKey: ['people', organization, q],
    queryFn: ({ signal }) => {
      const path = inOrganization(organization, 'organization-memberships')
      return request<People>(pageOf(path, 1, 10, { include: 'user,teams', q }), { signal })
    },
    placeholderData: keepPreviousData,
  })
