import { isPermitted, type Caller } from '../access/decide.ts'
import type { AuditEvent } from '../audit/audit-store.ts'
import { invalid } from '../core/errors.ts'
import { existing } from '../core/existing.ts'
import type { Transaction } from '../database/database.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { findTeams, type TeamRow } from '../teams/team-store.ts'
import { deletePasswordLinksMadeBy } from '../users/password-link-store.ts'
import { deleteHandedOutTokens, findOrganizationTokensSeenBy } from './handed-out-store.ts'
import { findTeamTokensSeenBy } from './team-token-store.ts'
import { deleteOrganizationToken, deleteTeamToken } from './token-deletion.ts'
import type { TokenRow } from './token-store.ts'

/** Limits the statements of a removal, and the tokens that its dry run names. */
export const MOST_LEFT_TOKENS = 500

/**
 * Ends the tokens and links that a person has handed out to other users. To be called when the person may do that no more, and
 * when they may again: nothing from before comes back. Returns the details for the audit event.
 */
export async function endHandedOut(tx: Transaction, userId: string): Promise<Record<string, unknown>> {
  const tokens = await deleteHandedOutTokens(tx, userId)
  const links = await deletePasswordLinksMadeBy(tx, userId)
  return { 'ended-tokens-of-others': tokens || undefined, 'ended-links-of-others': links || undefined }
}

/** A token of a team or an organization that somebody who leaves knows. */
export type LeftToken = { readonly token: TokenRow; readonly team: TeamRow | undefined }

/**
 * The tokens of an organization and its teams that a person has made or seen, as far as the caller may end them: at most one
 * more than the limit.
 */
export async function leftTokensOf(
  { tx, actor, standing }: Caller & { readonly tx: Transaction },
  organization: OrganizationRow,
  userId: string,
): Promise<LeftToken[]> {
  const most = MOST_LEFT_TOKENS + 1
  const isManager = isPermitted('organization:token', actor, standing, {})
  const own = isManager ? await findOrganizationTokensSeenBy(tx, organization.id, userId) : []
  const ofTeams = await findTeamTokensSeenBy(tx, organization, { actor, standing }, userId, most)
  const teamIds = new Set(ofTeams.flatMap(({ team_id: id }) => id ?? []))
  const teams = new Map((await findTeams(tx, organization.id, [...teamIds])).map((team) => [team.id, team]))
  return [...own, ...ofTeams].slice(0, most).map((token) => ({ token, team: teams.get(token.team_id ?? '') }))
}

/** Ends these tokens. Throws 422 if there are too many. */
export async function endLeftTokens(
  tx: Transaction,
  organization: OrganizationRow,
  left: readonly LeftToken[],
): Promise<AuditEvent[]> {
  if (left.length > MOST_LEFT_TOKENS) {
    throw invalid(
      `more than ${MOST_LEFT_TOKENS} tokens would end; end some of them with DELETE /organizations/${organization.name}/team-tokens first`,
    )
  }
  const events: AuditEvent[] = []
  for (const { token, team } of left) {
    events.push(
      token.kind === 'team'
        ? await deleteTeamToken(tx, token, existing(team), organization)
        : await deleteOrganizationToken(tx, token, organization),
    )
  }
  return events
}
