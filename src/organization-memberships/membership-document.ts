import { Type } from 'typebox'
import { isPermitted, type Caller, type TeamFacts } from '../access/decide.ts'
import {
  nullable,
  relationMany,
  relationOne,
  schemasIn,
  timeSchema,
  valuesIn,
  type Fields,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import { shownUserId } from './invited-user.ts'
import type { MembershipRow, TeamOfMembership } from './membership-store.ts'

const fields: Fields<{ membership: MembershipRow; isReadable: boolean }> = {
  status: [
    Type.Union([Type.Literal('active'), Type.Literal('invited')]),
    ({ membership }) => membership.status,
  ],
  email: [
    nullable(Type.String()),
    // A team document names memberships that the caller may not read directly. Then the email is hidden.
    ({ membership, isReadable }) => (isReadable ? membership.email : null),
  ],
  'created-at': [timeSchema, ({ membership }) => membership.created_at],
}

export const membershipDescription: ResourceDescription = {
  type: 'organization-memberships',
  attributes: schemasIn(fields),
  relationships: {
    organization: relationOne('organizations'),
    user: relationOne('users'),
    teams: relationMany('teams'),
  },
}

/** The resources of memberships, whose teams are given. */
export function fragmentsOf(
  memberships: readonly MembershipRow[],
  teams: readonly TeamOfMembership[],
  viewer: Caller,
): Fragment[] {
  const byMembership = Map.groupBy(teams, ({ membershipId }) => membershipId)
  return memberships.map((membership) => {
    const own = (byMembership.get(membership.id) ?? []).map(({ team }) => team)
    return membershipFragment(membership, own, viewer)
  })
}

/** The teams that the viewer may see. */
export function seenTeams(teams: readonly TeamFacts[], { actor, standing }: Caller): TeamFacts[] {
  return teams.filter((team) => isPermitted('team:read', actor, standing, { team }))
}

/** The only function that builds `"type": "organization-memberships"`, without teams that the caller may not see. */
export function membershipFragment(
  membership: MembershipRow,
  teams: readonly TeamFacts[],
  viewer: Caller,
): Fragment {
  const { actor, standing } = viewer
  const isReadable = isPermitted('membership:read', actor, standing, { userId: membership.user_id })
  return fragment({
    id: membership.id,
    type: 'organization-memberships',
    attributes: valuesIn(fields, { membership, isReadable }),
    relationships: {
      organization: { data: { id: membership.organization_name, type: 'organizations' } },
      user: { data: { id: shownUserId(membership, actor), type: 'users' } },
      teams: { data: seenTeams(teams, viewer).map(({ id }) => ({ id, type: 'teams' })) },
    },
  })
}
