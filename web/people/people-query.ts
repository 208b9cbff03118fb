import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { inOrganization, pageOf, related, request, type Page, type Resource } from '../api/client.ts'
import { live } from '../api/live.ts'

export type Membership = {
  readonly status: 'active' | 'invited'
  readonly email: string | null
  readonly 'created-at': string
}

type Named = { readonly username?: string | null; readonly name?: string }
export type People = Page<Membership> & { readonly included?: readonly Resource<Named>[] }

/** A page of the people of an organization, with their users and teams. */
export const membersOfOrganizationQuery = (organization: string, q: string, page: number) =>
  queryOptions({
    queryKey: ['memberships', organization, q, page],
    ...live<People>(
      pageOf(inOrganization(organization, 'organization-memberships'), page, 20, {
        include: 'user,teams',
        q,
      }),
    ),
    placeholderData: keepPreviousData,
  })

/** One's own memberships, invitations among them. */
export const ownMembershipsQuery = queryOptions({
  queryKey: ['own-memberships'],
  queryFn: ({ signal }) => request<People>('/organization-memberships?page[size]=100', { signal }),
})

/** The user name, or the email of somebody who has not accepted yet. */
export function nameOf({ included }: People, one: Resource<Membership>): string {
  const user = included?.find(({ id }) => id === related(one, 'user')?.id)
  return user?.attributes.username ?? one.attributes.email ?? one.id
}

/** The names of the person's teams that the caller may see. */
export function teamsOf({ included }: People, { relationships }: Resource<Membership>): string[] {
  const teams = relationships?.teams?.data
  const ids = Array.isArray(teams) ? teams.map(({ id }: { id: string }) => id) : []
  return (included ?? [])
    .filter(({ type, id }) => type === 'teams' && ids.includes(id))
    .map(({ attributes }) => attributes.name ?? '')
}
