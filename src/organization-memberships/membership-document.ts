import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import { isPermitted, type Standing, type TeamFacts } from '../access/decide.ts'
import {
  nullable,
  relationMany,
  relationOne,
  timeSchema,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import { shownUserId } from './invited-user.ts'
import type { MembershipRow, TeamOfMembership } from './membership-store.ts'

export const membershipDescription: ResourceDescription = {
  type: 'organization-memberships',
  attributes: {
    status: Type.Union([Type.Literal('active'), Type.Literal('invited')]),
    email: nullable(Type.String()),
    'created-at': timeSchema,
  },
  relationships: {
    organization: relationOne('organizations'),
    user: relationOne('users'),
    teams: relationMany('teams'),
  },
}

export type MembershipViewer = { actor: Actor; standing: Standing }

/** The resources of memberships, whose teams are given. */
export function fragmentsOf(
  memberships: readonly MembershipRow[],
  teams: readonly TeamOfMembership[],
  viewer: MembershipViewer,
): Fragment[] {
  const byMembership = Map.groupBy(teams, ({ membershipId }) => membershipId)
  return memberships.map((membership) => {
    const own = (byMembership.get(membership.id) ?? []).map(({ team }) => team)
    return membershipFragment(membership, own, viewer)
  })
}

/** The teams that the viewer may see. */
export function seenTeams(teams: readonly TeamFacts[], { actor, standing }: MembershipViewer): TeamFacts[] {
  return teams.filter((team) => isPermitted('team:read', actor, standing, { team }))
}

/** The only function that builds `"type": "organization-memberships"`, without teams that the caller may not see. */
export function membershipFragment(
  membership: MembershipRow,
  teams: readonly TeamFacts[],
  viewer: MembershipViewer,
): Fragment {
  const { actor, standing } = viewer
  // A team document names memberships that the caller may not read directly. Then the email is hidden.
  const isReadable = isPermitted('membership:read', actor, standing, { userId: membership.user_id })
  return fragment({
    id: membership.id,
    type: 'organization-memberships',
    attributes: {
      status: membership.status,
      email: isReadable ? membership.email : null,
      'created-at': membership.created_at,
    },
    relationships: {
      organization: { data: { id: membership.organization_name, type: 'organizations' } },
      user: { data: { id: shownUserId(membership, actor), type: 'users' } },
      teams: { data: seenTeams(teams, viewer).map(({ id }) => ({ id, type: 'teams' })) },
    },
  })
}
