import { timestamp } from '../core/clock.ts'
import { countTokens } from './token-store.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { insertMembership } from '../organization-memberships/membership-store.ts'
import { deleteUser, insertUser } from '../users/user-store.ts'
import { noAccount, serviceAccountId } from '../users/users.ts'
import { deleteTeamMembers, insertTeamMember } from '../teams/team-member-store.ts'
import { updateTeam, type TeamRow } from '../teams/team-store.ts'

/** The user that the team's tokens act as. Created with the first token, as a member of organization and team. */
export async function ensureServiceAccount(tx: Transaction, deps: Deps, team: TeamRow): Promise<string> {
  if (team.service_account_id !== null) return team.service_account_id
  const id = serviceAccountId(team.id)
  const membershipId = deps.newId('membership')
  const created_at = timestamp(deps.clock.now())
  // Without a key it cannot be found by name, so nobody adds or removes it by hand.
  await insertUser(tx, { ...noAccount, id, username: id, is_service_account: 1, created_at })
  await insertMembership(tx, {
    id: membershipId,
    organization_id: team.organization_id,
    user_id: id,
    status: 'active',
    is_service_account: 1,
    created_at,
  })
  await updateTeam(tx, team.id, { service_account_id: id })
  await insertTeamMember(tx, {
    team_id: team.id,
    membership_id: membershipId,
    user_id: id,
    organization_id: team.organization_id,
    is_active: 1,
  })
  return id
}

/** Deletes the service account after the team's last token. An expired token counts until it is deleted. */
export async function removeUnusedServiceAccount(tx: Transaction, team: TeamRow): Promise<void> {
  const id = team.service_account_id
  if (id === null || (await countTokens(tx, { kind: 'team', teamId: team.id })) > 0) return
  await deleteTeamMembers(tx, team.id, [id])
  await updateTeam(tx, team.id, { service_account_id: null })
  await deleteUser(tx, id)
}
