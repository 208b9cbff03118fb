import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import {
  includedAs,
  inOrganization,
  pageOf,
  pagesOf,
  related,
  type One,
  type Page,
  type Resource,
} from '../api/client.ts'
import { live } from '../api/live.ts'

export type Membership = {
  readonly status: 'active' | 'invited'
  readonly email: string | null
  readonly 'created-at': string
}

type Named = {
  readonly username?: string | null
  readonly name?: string
  /** What the caller may do with a user. */
  readonly permissions?: Readonly<Record<string, boolean>>
}
export type WithIncluded = { readonly included?: readonly Resource<Named>[] }
export type People = Page<Membership> & WithIncluded

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

/** One person of an organization, by the id of the membership, with their user and teams. */
export const personQuery = (membershipId: string) =>
  queryOptions({
    queryKey: ['person', membershipId],
    ...live<One<Membership> & WithIncluded>(
      `/organization-memberships/${encodeURIComponent(membershipId)}?include=user,teams`,
    ),
  })

/** One's own invitations that wait. The server lists them among all memberships. */
export const ownInvitationsQuery = queryOptions({
  queryKey: ['own-invitations'],
  queryFn: async ({ signal }) => {
    const invitations: Resource<Membership>[] = []
    for await (const { data } of pagesOf<People>('/organization-memberships', {}, { signal })) {
      invitations.push(...data.filter(({ attributes }) => attributes.status === 'invited'))
    }
    return invitations
  },
})

/** The user name, or the email of somebody who has not accepted yet or has no account. */
export function nameOf(answer: WithIncluded, one: Resource<Membership>): string {
  return userOf(answer, one)?.attributes.username ?? one.attributes.email ?? one.id
}

export function userOf({ included }: WithIncluded, one: Resource<Membership>): Resource<Named> | undefined {
  return includedAs(included, one, 'user')
}

function teamIdsOf({ relationships }: Pick<Resource<Membership>, 'relationships'>): readonly string[] {
  const teams = relationships?.teams?.data
  return Array.isArray(teams) ? teams.map(({ id }: { id: string }) => id) : []
}

/** Whether the person is in a team. */
export const isIn = (teamId: string, one: Resource<Membership>) => teamIdsOf(one).includes(teamId)

/** The person's teams that the caller may see. */
export function teamsOf(
  { included }: WithIncluded,
  { relationships }: Resource<Membership>,
): readonly { readonly id: string; readonly name: string }[] {
  const ids = teamIdsOf({ relationships })
  return (included ?? [])
    .filter(({ type, id }) => type === 'teams' && ids.includes(id))
    .map(({ id, attributes }) => ({ id, name: attributes.name ?? id }))
}

/** The membership of an active member, and their teams but owners. Null if the person is none. */
export const membershipOfQuery = (organization: string, { id, name }: { id: string; name: string }) =>
  queryOptions({
    queryKey: ['memberships', organization, 'of', id],
    queryFn: async ({ signal }) => {
      const path = inOrganization(organization, 'organization-memberships')
      const query = { include: 'user,teams', q: name, 'filter[status]': 'active' }
      // The name of many others may contain this one.
      for await (const found of pagesOf<People>(path, query, { signal })) {
        const own = found.data.find((one) => related(one, 'user')?.id === id)
        if (own !== undefined) {
          return { id: own.id, teams: teamsOf(found, own).filter((team) => team.name !== 'owners') }
        }
      }
      return null
    },
  })
