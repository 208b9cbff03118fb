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
        teams: {
          data: (byMembership.get(membership.id) ?? []).map(({ team }) => ({ id: team.id, type: 'teams' })),
        },
      },
    }),
  )
}
