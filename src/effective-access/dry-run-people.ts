import type { Transaction } from '../database/database.ts'
import { inSlices } from '../database/slices.ts'
import { membersInSlices } from '../teams/team-members-in-turns.ts'
import { membersOfTeams, type TeamMember, type TeamRow } from '../teams/team-store.ts'
import type { UserRow } from '../users/user-store.ts'
import type { Concerned } from './access-changes.ts'
import type { Sight } from './access-sight.ts'
import { teamsOfUsers } from './holdings-store.ts'

/** Users may be in very many teams, and other requests must not wait long for one statement. */
const USERS_A_STATEMENT = 200

/** The users with their teams that the caller sees. */
export async function concernedPeople(
  tx: Transaction,
  organizationId: string,
  users: readonly Pick<UserRow, 'id' | 'username'>[],
  sight: Sight,
): Promise<Concerned[]> {
  const read = (some: readonly string[]) => teamsOfUsers(tx, organizationId, some)
  const ids = users.map(({ id }) => id)
  const found = await inSlices(ids, read, USERS_A_STATEMENT)
  const teams = Map.groupBy(found.filter(sight.seesTeam), (team) => team.user_id)
  return users.map(({ id, username }) => ({
    who: { type: 'users', id, name: username ?? id },
    teams: teams.get(id) ?? [],
  }))
}

/** Teams whose members one statement reads, if they have no more than this in total. */
const TEAMS_A_STATEMENT = 100
const MEMBERS_A_STATEMENT = 2_000

/** The most members to read, because very many teams may have the same people. */
const MOST_MEMBERS = 200_000

/**
 * The active people in some teams. A service account is left out, because it acts as its team.
 *
 * @param most people to find: when they are found, or too many members are read, later teams are only counted. Then
 *   `total` may count their members twice
 */
export async function peopleIn(
  tx: Transaction,
  teams: readonly TeamRow[],
  most = Number.POSITIVE_INFINITY,
): Promise<{ ids: ReadonlySet<string>; total: number }> {
  const accounts = new Set(teams.map((team) => team.service_account_id))
  const ids = new Set<string>()
  let read = 0
  let counted = 0
  const isEnough = () => ids.size >= most || read >= MOST_MEMBERS
  const add = (members: readonly TeamMember[]) => {
    read += members.length
    for (const { user_id: id, is_active: isActive } of members) {
      if (isActive === 1 && !accounts.has(id)) ids.add(id)
    }
  }
  for (let from = 0; from < teams.length; from += TEAMS_A_STATEMENT) {
    const some = teams.slice(from, from + TEAMS_A_STATEMENT)
    const teamIds = some.map(({ id }) => id)
    const ofSmall =
      some.length === 1 || isEnough() ? undefined : await membersOfTeams(tx, teamIds, MEMBERS_A_STATEMENT)
    if (ofSmall !== undefined) {
      for (const members of ofSmall.values()) add(members)
      continue
    }
    for (const team of some) {
      if (isEnough()) counted += team.users_count
      else for await (const members of membersInSlices(tx, team.id)) add(members)
    }
  }
  return { ids, total: ids.size + counted }
}
