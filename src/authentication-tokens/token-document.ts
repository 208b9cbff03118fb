import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import { isPermitted, type Standing } from '../access/decide.ts'
import type { Decided } from '../http/route.ts'
import { nullable, relationMaybe, resourceType, timeSchema } from '../jsonapi/description.ts'
import type { Fragment, Identifier } from '../jsonapi/document.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { findTeam, teamFacts, type TeamRow } from '../teams/team-store.ts'
import type { TokenRow } from './token-store.ts'

type TokenView = { readonly token: TokenRow; readonly viewer: TokenViewer; readonly text: string | null }

const tokens = resourceType<TokenView>({
  type: 'authentication-tokens',
  id: ({ token }) => token.id,
  attributes: {
    'created-at': [timeSchema, ({ token }) => token.created_at],
    'last-used-at': [nullable(timeSchema), ({ token }) => token.last_used_at],
    'expired-at': [timeSchema, ({ token }) => token.expires_at],
    description: [nullable(Type.String()), ({ token }) => token.description],
    token: [nullable(Type.String()), ({ text }) => text],
  },
  relationships: {
    'created-by': relationMaybe('users', 'teams', 'organizations'),
    team: relationMaybe('teams'),
  },
  related: ({ token, viewer }) => ({
    'created-by': { data: creatorOf(token, viewer) },
    team: { data: token.team_id === null ? null : { id: token.team_id, type: 'teams' } },
  }),
  self: ({ token }) => `/api/v2/authentication-tokens/${token.id}`,
})
export const tokenDescription = tokens.description

/** The viewer of a token. `ownersTeam` is the team `owners`, whose token may have created the viewed one. */
type TokenViewer = {
  actor: Actor
  standing: Standing
  organization?: OrganizationRow
  ownersTeam?: TeamRow
}

/** The viewer of a token, from the request that creates or reads it. */
export async function viewerOf({
  tx,
  actor,
  standing,
  resource: { organization },
}: Decided<unknown, { organization?: OrganizationRow }>): Promise<TokenViewer> {
  const ownersTeam = organization && (await findTeam(tx, organization.owners_team_id))
  return { actor, standing, organization, ownersTeam }
}

/** @param text the token itself, only in the answer that creates it: nobody can read it again */
export function tokenFragment(token: TokenRow, viewer: TokenViewer, text: string | null = null): Fragment {
  return tokens.fragment({ token, viewer, text })
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
