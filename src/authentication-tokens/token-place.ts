import type { Target } from '../access/decide.ts'
import type { Permission } from '../access/rules.ts'
import { NO_ID, idInPath, parseId } from '../core/ids.ts'
import type { Loading } from '../http/route.ts'
import { findOrganization, type OrganizationRow } from '../organizations/organization-store.ts'
import { findTeam, teamFacts, type TeamRow } from '../teams/team-store.ts'
import { findToken, type TokenRow } from './token-store.ts'

type LoadedToken = {
  token: TokenRow
  permission: Permission
  target: Target
  organization?: OrganizationRow
  team?: TeamRow
}

/** The token that a path names. Each kind of token has its own permission. */
export const tokenPlace = {
  path: '/authentication-tokens/:token_id',
  type: 'authentication-tokens',
  address: idInPath('token', 'token_id'),
  load: async ({ tx, address }: Loading<{ id: string }>): Promise<LoadedToken | undefined> => {
    const token = await findToken(tx, address.id)
    const team = await findTeam(tx, token?.team_id ?? NO_ID)
    const organization = await findOrganization(tx, token?.organization_id ?? NO_ID)
    if (token?.kind === 'user') return { token, permission: 'user:tokens', target: { userId: token.user_id } }
    if (token === undefined || organization === undefined) return undefined
    if (token.kind !== 'team') return { token, permission: 'organization:token', target: {}, organization }
    if (team === undefined) return undefined
    return { token, permission: 'team:tokens', target: { team: teamFacts(team) }, organization, team }
  },
}

/**
 * The team that a path names, or the team of the token that it names in place of the team: so the tfe provider closes an
 * `ephemeral "tfe_team_token"`, and takes a 404 for a token that is gone.
 */
export const teamOrItsTokenPlace = {
  path: '/teams/:team_id',
  type: 'teams',
  address: ({ params }: { params: Readonly<Record<string, string>> }) => {
    const given = params['team_id'] ?? ''
    const id = parseId('team', given) ?? parseId('token', given)
    return id === undefined ? undefined : { id }
  },
  load: async ({ tx, address }: Loading<{ id: string }>) => {
    const named = await findToken(tx, address.id)
    const team = await findTeam(tx, named?.team_id ?? address.id)
    const organization = await findOrganization(tx, team?.organization_id ?? NO_ID)
    if (team === undefined || organization === undefined) return undefined
    return { organization, team, named, target: { team: teamFacts(team) } }
  },
}
