import type { Target } from '../access/decide.ts'
import type { Permission } from '../access/rules.ts'
import { NO_ID, parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { noContent, ok, type Call } from '../http/call.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { document } from '../jsonapi/document.ts'
import { findOrganization, type OrganizationRow } from '../organizations/organization-store.ts'
import { findTeam, teamFacts, type TeamRow } from '../teams/team-store.ts'
import { deleteOrganizationToken, deleteTeamToken, deleteUserToken } from './token-deletion.ts'
import { tokenFragment } from './token-document.ts'
import { findToken, type TokenRow } from './token-store.ts'

const PATH = '/authentication-tokens/:token_id'

type LoadedToken = {
  token: TokenRow
  permission: Permission
  target: Target
  organization?: OrganizationRow
  team?: TeamRow
}

const tokenOfPath = (call: Call) => {
  const tokenId = parseId('token', call.params.token_id as string)
  return tokenId === undefined ? undefined : { tokenId }
}

/** Each kind of token has its own permission. */
async function loadToken(tx: Transaction, tokenId: string): Promise<LoadedToken | undefined> {
  const token = await findToken(tx, tokenId)
  const team = await findTeam(tx, token?.team_id ?? NO_ID)
  const organization = await findOrganization(tx, token?.organization_id ?? NO_ID)
  if (token?.kind === 'user') return { token, permission: 'user:tokens', target: { userId: token.user_id } }
  if (token === undefined || organization === undefined) return undefined
  if (token.kind !== 'team') return { token, permission: 'organization:token', target: {}, organization }
  if (team === undefined) return undefined
  return { token, permission: 'team:tokens', target: { team: teamFacts(team) }, organization, team }
}

const show = readRoute({
  path: PATH,
  permission: 'user:tokens',
  summary: 'Show a token',
  answers: 'authentication-tokens',
  address: tokenOfPath,
  load: ({ tx, address }) => loadToken(tx, address.tokenId),
  document: async ({ tx, actor, standing, resource }) => {
    const { token, organization } = resource
    const ownersTeam =
      organization === undefined ? undefined : await findTeam(tx, organization.owners_team_id)
    return ok(document(tokenFragment(token, { actor, standing, organization, ownersTeam })))
  },
})

const remove = writeRoute({
  method: 'DELETE',
  path: PATH,
  permission: 'user:tokens',
  summary: 'Delete a token',
  status: 204,
  address: tokenOfPath,
  load: ({ tx, address }) => loadToken(tx, address.tokenId),
  act: async ({ tx, resource, audit }) => {
    const { token, team, organization } = resource
    if (organization === undefined) audit(await deleteUserToken(tx, token))
    else if (team === undefined) audit(await deleteOrganizationToken(tx, token, organization))
    else audit(await deleteTeamToken(tx, token, team, organization))
    return noContent
  },
})

export const tokenRoutes: readonly Route[] = [show, remove]
