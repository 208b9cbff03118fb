import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import { isPermitted, type Standing } from '../access/decide.ts'
import type { Decided } from '../http/route.ts'
import { nullable, relationMaybe, timeSchema, type ResourceDescription } from '../jsonapi/description.ts'
import { fragment, type Fragment, type Identifier } from '../jsonapi/document.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { findTeam, teamFacts, type TeamRow } from '../teams/team-store.ts'
import type { TokenRow } from './token-store.ts'

export const tokenDescription: ResourceDescription = {
  type: 'authentication-tokens',
  attributes: {
    'created-at': timeSchema,
    'last-used-at': nullable(timeSchema),
    'expired-at': timeSchema,
    description: nullable(Type.String()),
    token: nullable(Type.String()),
  },
  relationships: {
    'created-by': relationMaybe('users', 'teams', 'organizations'),
    team: relationMaybe('teams'),
  },
  links: { self: Type.String() },
}

/** The viewer of a token. `ownersTeam` is the team `owners`, whose token may have created the viewed one. */
export type TokenViewer = {
  actor: Actor
  standing: Standing
  organization?: OrganizationRow
  ownersTeam?: TeamRow
}

/** The viewer of a team token, from the request that creates or reads it. */
export async function viewerOf<R extends { organization: OrganizationRow }>({
  tx,
  actor,
  standing,
  resource,
}: Decided<unknown, R>): Promise<TokenViewer> {
  const { organization } = resource
  return { actor, standing, organization, ownersTeam: await findTeam(tx, organization.owners_team_id) }
}

/**
 * The only function that builds `"type": "authentication-tokens"`.
 *
 * @param text the token itself, only in the answer that creates it: nobody can read it again
 */
export function tokenFragment(token: TokenRow, viewer: TokenViewer, text: string | null = null): Fragment {
  return fragment({
    id: token.id,
    type: 'authentication-tokens',
    attributes: {
      'created-at': token.created_at,
      'last-used-at': token.last_used_at,
      'expired-at': token.expires_at,
      description: token.description,
      token: text,
    },
    relationships: {
      'created-by': { data: creatorOf(token, viewer) },
      team: { data: token.team_id === null ? null : { id: token.team_id, type: 'teams' } },
    },
    links: { self: `/api/v2/authentication-tokens/${token.id}` },
  })
}

/** A user, team or organization. Null for a team that the viewer may not see. */
function creatorOf({ created_by_id: id }: TokenRow, viewer: TokenViewer): Identifier | null {
  const { actor, standing, organization, ownersTeam } = viewer
  if (id === null) return null
  if (id.startsWith('org-')) {
    return organization?.id === id ? { id: organization.name, type: 'organizations' } : null
  }
  if (!id.startsWith('team-')) return { id, type: 'users' }
  const isVisible =
    ownersTeam?.id === id && isPermitted('team:read', actor, standing, { team: teamFacts(ownersTeam) })
  return isVisible ? { id, type: 'teams' } : null
}
