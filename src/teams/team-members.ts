import type { Config } from '../config.ts'
import { invalid } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { countTeamMembers } from './team-member-store.ts'
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
