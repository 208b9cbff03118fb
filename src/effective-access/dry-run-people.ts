import type { Transaction } from '../database/database.ts'
import { membersInSlices } from '../teams/team-members-in-turns.ts'
import type { TeamRow } from '../teams/team-store.ts'
import type { UserRow } from '../users/user-store.ts'
import type { Concerned } from './access-changes.ts'
import type { Sight } from './access-sight.ts'
import { teamsOfUsers, type HoldingTeam } from './holdings-store.ts'

/** The users with their teams that the caller sees. */
export async function concernedPeople(
  tx: Transaction,
  organizationId: string,
  users: readonly Pick<UserRow, 'id' | 'username'>[],
  sight: Sight,
): Promise<Concerned[]> {
  const teams = new Map<string, HoldingTeam[]>(users.map(({ id }) => [id, []]))
  for (const team of await teamsOfUsers(tx, organizationId, [...teams.keys()])) {
    if (sight.seesTeam(team)) teams.get(team.user_id)?.push(team)
  }
  return users.map(({ id, username }) => ({
    who: { type: 'users', id, name: username ?? id },
    teams: teams.get(id) ?? [],
  }))
}

/**
 * The active people in some teams. A service account is left out, because it acts as its team.
 *
 * @param most people to find: later teams are only counted, so `total` may count their members twice
 */
export async function peopleIn(
  tx: Transaction,
  teams: readonly TeamRow[],
  most = Number.POSITIVE_INFINITY,
): Promise<{ ids: ReadonlySet<string>; total: number }> {
  const ids = new Set<string>()
  let counted = 0
  for (const team of teams) {
    if (ids.size >= most) {
      counted += team.users_count
      continue
    }
    for await (const members of membersInSlices(tx, team.id)) {
      for (const { user_id: id, is_active: isActive } of members) {
        if (isActive === 1 && id !== team.service_account_id) ids.add(id)
      }
    }
  }
  return { ids, total: ids.size + counted }
}
