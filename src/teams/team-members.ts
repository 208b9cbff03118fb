import type { Config } from '../config.ts'
import { AppError, invalid } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { countTeamMembers, listOwners } from './team-member-store.ts'
import type { TeamRow } from './team-store.ts'

/** They are all in every document of the team. */
export async function checkMemberLimit(
  tx: Transaction,
  team: TeamRow,
  more: number,
  { maxTeamMembers }: Config,
): Promise<void> {
  if ((await countTeamMembers(tx, team.id)) + more <= maxTeamMembers) return
  throw invalid(
    `the team ${team.name} may have at most ${maxTeamMembers} members (PURSER_MAX_TEAM_MEMBERS)`,
    '/data',
  )
}

export const SERVICE_ACCOUNT_IS_KEPT = "a team's service account comes and goes with the team's tokens"

const NO_OWNER_LEFT = 'an organization must keep an owner who is a person and not suspended'

/** Whether an organization would be left without an owner by these leaving it, or its team `owners`. */
export async function isLastOwner(
  tx: Transaction,
  organization: Pick<OrganizationRow, 'owners_team_id'>,
  leaving: readonly string[],
): Promise<boolean> {
  const owners = await listOwners(tx, organization.owners_team_id)
  const ids = new Set(leaving)
  const isOwnerLeft = owners.some((owner) => !ids.has(owner.id) && owner.is_suspended === 0)
  return !isOwnerLeft && owners.some((owner) => ids.has(owner.id))
}

export async function checkOwnerRemains(...of: Parameters<typeof isLastOwner>): Promise<void> {
  if (await isLastOwner(...of)) throw new AppError('forbidden', [{ detail: NO_OWNER_LEFT }])
}
