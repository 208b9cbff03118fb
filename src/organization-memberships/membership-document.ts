import { Type } from 'typebox'
import { isPermitted, type Caller, type TeamFacts } from '../access/decide.ts'
import { nullable, relationMany, relationOne, resourceType, timeSchema } from '../jsonapi/description.ts'
import type { Fragment } from '../jsonapi/document.ts'
import { shownUserId } from './invited-user.ts'
import type { MembershipRow, TeamOfMembership } from './membership-store.ts'

type MembershipView = {
  readonly membership: MembershipRow
  readonly isReadable: boolean
  readonly userId: string
  readonly teams: readonly TeamFacts[]
}

const memberships = resourceType<MembershipView>({
  type: 'organization-memberships',
  id: ({ membership }) => membership.id,
  attributes: {
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
  },
  relationships: {
    organization: relationOne('organizations'),
    user: relationOne('users'),
    teams: relationMany('teams'),
  },
  related: ({ membership, userId, teams }) => ({
    organization: { data: { id: membership.organization_name, type: 'organizations' } },
    user: { data: { id: userId, type: 'users' } },
    teams: { data: teams.map(({ id }) => ({ id, type: 'teams' })) },
  }),
})
export const membershipDescription = memberships.description

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

/** A membership, without teams that the viewer may not see. */
export function membershipFragment(
  membership: MembershipRow,
  teams: readonly TeamFacts[],
  viewer: Caller,
): Fragment {
  const { actor, standing } = viewer
  return memberships.fragment({
    membership,
    isReadable: isPermitted('membership:read', actor, standing, { userId: membership.user_id }),
    userId: shownUserId(membership, actor),
    teams: seenTeams(teams, viewer),
  })
}
