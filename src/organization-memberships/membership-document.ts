import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import { isPermitted, type Standing } from '../access/decide.ts'
import type { Transaction } from '../database/database.ts'
import {
  nullable,
  relationMany,
  relationOne,
  timeSchema,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import { checkIncluded } from '../jsonapi/included.ts'
import type { Deps } from '../http/deps.ts'
import { teamFragments } from '../teams/team-document.ts'
import { findTeams } from '../teams/team-store.ts'
import { userFragment } from '../users/user-document.ts'
import { findUsers } from '../users/user-store.ts'
import { teamsOfMemberships, type MembershipRow } from './membership-store.ts'

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

/** The only maker of `"type": "organization-memberships"`; teams that the caller may not see are not in it. */
export async function membershipFragments(
  tx: Transaction,
  memberships: readonly MembershipRow[],
  { actor, standing }: { actor: Actor; standing: Standing },
): Promise<Fragment[]> {
  const teams = await teamsOfMemberships(
    tx,
    memberships.map(({ id }) => id),
  )
  const visible = teams.filter(({ team }) => isPermitted('team:read', actor, standing, { team }))
  const byMembership = Map.groupBy(visible, ({ membershipId }) => membershipId)
  // A team names memberships that the caller may not read by themselves.
  const isReadable = ({ user_id: userId }: MembershipRow) =>
    isPermitted('membership:read', actor, standing, { userId })
  return memberships.map((membership) =>
    fragment({
      id: membership.id,
      type: 'organization-memberships',
      attributes: {
        status: membership.status,
        email: isReadable(membership) ? membership.email : null,
        'created-at': membership.created_at,
      },
      relationships: {
        organization: { data: { id: membership.organization_name, type: 'organizations' } },
        user: { data: { id: membership.user_id, type: 'users' } },
        teams: {
          data: (byMembership.get(membership.id) ?? []).map(({ team }) => ({ id: team.id, type: 'teams' })),
        },
      },
    }),
  )
}

type MembershipContext = { tx: Transaction; deps: Deps; actor: Actor; standing: Standing }

/** What `include` adds: the users, and those of the teams that the caller may see; undefined when nothing was asked for. */
export async function includedWithMemberships(
  context: MembershipContext,
  memberships: readonly MembershipRow[],
  include: ReadonlySet<string>,
): Promise<Fragment[] | undefined> {
  if (include.size === 0) return undefined
  const { tx, deps, actor, standing } = context
  const included: Fragment[] = []
  if (include.has('user')) {
    const users = await findUsers(tx, [...new Set(memberships.map((membership) => membership.user_id))])
    for (const user of users) {
      const isMembershipReadable = isPermitted('membership:read', actor, standing, { userId: user.id })
      included.push(userFragment(user, actor, { isMembershipReadable }))
    }
  }
  if (include.has('teams')) {
    const ids = memberships.map(({ id }) => id)
    const visible = (await teamsOfMemberships(tx, ids)).filter(({ team }) =>
      isPermitted('team:read', actor, standing, { team }),
    )
    const organizationId = memberships[0]?.organization_id ?? ''
    const teamIds = [...new Set(visible.map(({ team }) => team.id))]
    checkIncluded(memberships.length, teamIds.length)
    const teams = await findTeams(tx, organizationId, teamIds)
    for (const text of await teamFragments(tx, deps, teams, context, 'whole')) included.push(text)
  }
  return included
}
