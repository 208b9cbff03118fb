import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import {
  inOrganization,
  pageOf,
  related,
  request,
  type One,
  type Page,
  type Resource,
} from '../api/client.ts'
import { live } from '../api/live.ts'

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

export type Membership = { readonly status: 'active' | 'invited'; readonly email: string | null }

type People = Page<Membership> & {
  readonly included?: readonly Resource<{ readonly username: string | null }>[]
}

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

/** The user name, or the email of somebody who has no account yet. */
export function memberName(included: People['included'] = [], member: Resource<Membership>): string {
  const user = included.find(({ id }) => id === related(member, 'user')?.id)
  return user?.attributes.username ?? member.attributes.email ?? member.id
}

/** People of the organization whose name or email contains `q`. */
export const peopleQuery = (organization: string, q: string) =>
  queryOptions({
    queryKey: ['people', organization, q],
    queryFn: ({ signal }) => {
      const path = inOrganization(organization, 'organization-memberships')
      return request<People>(pageOf(path, 1, 10, { include: 'user', q }), { signal })
    },
    placeholderData: keepPreviousData,
  })
