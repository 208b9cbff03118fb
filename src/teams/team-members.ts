import type { Config } from '../config.ts'
import { AppError, type Problem } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { serviceAccountId } from '../users/users.ts'
import { findMemberCandidates, type MemberCandidate } from './member-candidate-store.ts'
import { countTeamMembers, listOwners } from './team-member-store.ts'
import type { TeamRow } from './team-store.ts'

/** A problem above the limit, because every document of the team lists all members. */
export async function tooManyMembers(
  tx: Transaction,
  team: TeamRow,
  more: number,
  { maxTeamMembers }: Config,
): Promise<Problem[]> {
  if ((await countTeamMembers(tx, team.id)) + more <= maxTeamMembers) return []
  const detail = `the team ${team.name} may have at most ${maxTeamMembers} members (PURSER_MAX_TEAM_MEMBERS)`
  return [{ detail, pointer: '/data' }]
}

export const SERVICE_ACCOUNT_IS_KEPT = "a team's service account comes and goes with the team's tokens"

const NO_OWNER_LEFT = 'an organization must keep an owner who is a person and not suspended'

/** Whether the organization would have no owner if these users left it or its team `owners`. */
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

/** How a request names members: by user name or user id, or by membership id. */
export type MemberIds = 'users' | 'organization-memberships'

const IS_NOBODY: Record<MemberIds, string> = {
  users: 'id does not name an active member of the organization',
  'organization-memberships': 'id does not name a membership of the organization',
}

/**
 * The memberships that a request names, each once. To add somebody who is not found is a problem with a pointer. The text
 * is the same for unknown ids, ids of other organizations and, by user, ids that are only invited. To remove them is none:
 * a client that ends a membership and its places in teams side by side finds it gone.
 *
 * The team's service account stays whatever a request says. To add it is a problem. To remove it is none, because the tfe
 * provider removes whoever is in the team.
 */
export async function resolveMembers(
  tx: Transaction,
  team: TeamRow,
  by: MemberIds,
  ids: readonly string[],
  isAdding: boolean,
  problems: Problem[],
): Promise<MemberCandidate[]> {
  // A name or an id, also while the team has no token and so no account.
  const account = serviceAccountId(team.id)
  const found = await findMemberCandidates(tx, team.organization_id, by, ids)
  const members = new Map<string, MemberCandidate>()
  ids.forEach((id, place) => {
    // Its item has a problem already.
    if (id === '') return
    const member = found(id)
    const pointer = `/data/${place}/id`
    if (id === account || member?.user_id === account) {
      if (isAdding) problems.push({ detail: SERVICE_ACCOUNT_IS_KEPT, pointer })
    } else if (member === undefined || member.is_service_account === 1) {
      if (isAdding) problems.push({ detail: IS_NOBODY[by], pointer })
    } else members.set(member.id, member)
  })
  return [...members.values()]
}
