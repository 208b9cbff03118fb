import type { Standing } from '../access/decide.ts'
import type { Transaction } from '../database/database.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import { teamsOfMemberships, type MembershipRow } from './membership-store.ts'

/** The only maker of `"type": "organization-memberships"`; teams that the caller may not see are not in it. */
export async function membershipFragments(
  tx: Transaction,
  memberships: readonly MembershipRow[],
  standing: Standing,
): Promise<Fragment[]> {
  const teams = await teamsOfMemberships(
    tx,
    memberships.map(({ id }) => id),
  )
  const visible = teams.filter(
    (team) => standing.seesSecretTeams || team.visibility === 'organization' || standing.teamIds.has(team.id),
  )
  const byMembership = Map.groupBy(visible, (team) => team.membership_id)
  return memberships.map((membership) =>
    fragment({
      id: membership.id,
      type: 'organization-memberships',
      attributes: {
        status: membership.status,
        email: membership.email,
        'created-at': membership.created_at,
      },
      relationships: {
        organization: { data: { id: membership.organization_name, type: 'organizations' } },
        user: { data: { id: membership.user_id, type: 'users' } },
        teams: { data: (byMembership.get(membership.id) ?? []).map(({ id }) => ({ id, type: 'teams' })) },
      },
    }),
  )
}
