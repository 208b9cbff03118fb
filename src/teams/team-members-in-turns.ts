import { ownTurn } from '../core/turns.ts'
import type { Deps } from '../http/deps.ts'
import { someTeamMembers, type TeamMember } from './team-store.ts'

const MEMBERS_A_TURN = 1_000

/** Everyone in a team, by user id, some at a time: each in a turn and a transaction of its own. */
export async function* membersInTurns(
  { database }: Pick<Deps, 'database'>,
  teamId: string,
): AsyncGenerator<TeamMember[]> {
  let after = ''
  for (;;) {
    await ownTurn()
    const members = await database.read((tx) => someTeamMembers(tx, teamId, after, MEMBERS_A_TURN))
    yield members
    const last = members.at(-1)
    if (last === undefined || members.length < MEMBERS_A_TURN) return
    after = last.user_id
  }
}
