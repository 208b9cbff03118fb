import type { AuditEvent } from '../audit/audit-store.ts'
import { notFound } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { removeUnusedServiceAccount } from './service-accounts.ts'
import type { TeamRow } from '../teams/team-store.ts'
import { deleteToken, type TokenRow } from './token-store.ts'

/** Deletes a team token and, with the last one, the service account. Returns the audit event. */
export async function deleteTeamToken(
  tx: Transaction,
  token: TokenRow,
  team: TeamRow,
  organization: OrganizationRow,
): Promise<AuditEvent> {
  await deleteToken(tx, token.id)
  await removeUnusedServiceAccount(tx, team)
  return deletionOf(token, { team: team.name, description: token.description }, organization.id)
}

export async function deleteOrganizationToken(
  tx: Transaction,
  token: TokenRow,
  organization: OrganizationRow,
): Promise<AuditEvent> {
  await deleteToken(tx, token.id)
  return deletionOf(token, { organization: organization.name }, organization.id)
}

export async function deleteUserToken(tx: Transaction, token: TokenRow): Promise<AuditEvent> {
  // Deletions of a user token hold no organization lock, so two may run at once. The second one gets 404.
  if (!(await deleteToken(tx, token.id))) throw notFound()
  return deletionOf(token, { user: token.user_id, description: token.description })
}

function deletionOf(
  { id, kind }: TokenRow,
  details: Record<string, unknown>,
  organizationId?: string,
): AuditEvent {
  const action = `${kind}-token.delete`
  return { action, organizationId, resourceType: 'authentication-tokens', resourceId: id, details }
}
