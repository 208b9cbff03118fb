import { ownTurn } from '../core/turns.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { someTeamMembers, type TeamMember } from './team-store.ts'

const MEMBERS_A_TURN = 1_000

/** All members of a team by user id, in slices. Each slice has its own transaction and turn of the event loop. */
export function membersInTurns(
  { database }: Pick<Deps, 'database'>,
  teamId: string,
): AsyncGenerator<TeamMember[]> {
  return inSlices(async (after) => {
    await ownTurn()
    return database.read((tx) => someTeamMembers(tx, teamId, after, MEMBERS_A_TURN))
  })
}

/** The same in one transaction, which lets other work run between the statements. */
export function membersInSlices(tx: Transaction, teamId: string): AsyncGenerator<TeamMember[]> {
  return inSlices((after) => someTeamMembers(tx, teamId, after, MEMBERS_A_TURN))
}

async function* inSlices(some: (after: string) => Promise<TeamMember[]>): AsyncGenerator<TeamMember[]> {
  let after = ''
  for (;;) {
    const members = await some(after)
    yield members
    const last = members.at(-1)
    if (last === undefined || members.length < MEMBERS_A_TURN) return
    after = last.user_id
  }
}
