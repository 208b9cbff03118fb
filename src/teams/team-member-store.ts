import { sql, type Insertable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { countOf } from '../database/pages.ts'
import { nextVersion } from '../database/portable.ts'
import { inSlices, ROWS_A_SLICE } from '../database/slices.ts'
import type { Flag, TeamMemberTable } from '../database/tables.ts'

/** Does nothing if the user is already in the team. Updates the team's users-count and version. */
export function insertTeamMember(tx: Transaction, row: Insertable<TeamMemberTable>): Promise<void> {
  return insertTeamMembers(tx, row.team_id, [row])
}

/** Leaves out users who are already in the team. Updates the team's users-count and version. */
export async function insertTeamMembers(
  tx: Transaction,
  teamId: string,
  rows: readonly Insertable<TeamMemberTable>[],
): Promise<void> {
  const insert = (some: typeof rows) =>
    tx.db
      .insertInto('team_members')
      .values(some)
      .onConflict((conflict) => conflict.columns(['team_id', 'user_id']).doNothing())
      .returning('is_active')
      .execute()
  const inserted = await inSlices(rows, insert, ROWS_A_SLICE)
  const active = inserted.filter((row) => row.is_active === 1).length
  if (inserted.length > 0) await countMembers(tx, [teamId], active)
}

/** Returns how many rows were deleted. Updates the team's users-count and version. */
export async function deleteTeamMembers(
  tx: Transaction,
  teamId: string,
  userIds: readonly string[],
): Promise<number> {
  const remove = (some: readonly string[]) =>
    tx.db
      .deleteFrom('team_members')
      .where('team_id', '=', teamId)
      .where('user_id', 'in', some)
      .returning('is_active')
      .execute()
  const deleted = await inSlices(userIds, remove, ROWS_A_SLICE)
  const active = deleted.filter((row) => row.is_active === 1).length
  if (deleted.length > 0) await countMembers(tx, [teamId], -active)
  return deleted.length
}

/** Which of these users are in the team, and whether they are active members. */
export function teamMembersAmong(
  tx: Transaction,
  teamId: string,
  userIds: readonly string[],
): Promise<{ user_id: string; is_active: Flag }[]> {
  return inSlices(userIds, (slice) =>
    tx.db
      .selectFrom('team_members')
      .where('team_id', '=', teamId)
      .where('user_id', 'in', slice)
      .select(['user_id', 'is_active'])
      .execute(),
  )
}

/** Includes invited members. */
export async function countTeamMembers(tx: Transaction, teamId: string): Promise<number> {
  return countOf(tx.db.selectFrom('team_members').where('team_id', '=', teamId))
}

/** The members of the team who are active in the organization. */
export function listOwners(
  tx: Transaction,
  ownersTeamId: string,
): Promise<{ id: string; is_suspended: Flag }[]> {
  return tx.db
    .selectFrom('team_members')
    .innerJoin('users', 'users.id', 'team_members.user_id')
    .where('team_members.team_id', '=', ownersTeamId)
    .where('team_members.is_active', '=', 1)
    .where('users.is_service_account', '=', 0)
    .select(['users.id', 'users.is_suspended'])
    .execute()
}

/** Call when an invited member accepts: from now on their teams count them. */
export async function activateTeamMembers(tx: Transaction, membershipId: string): Promise<void> {
  const invited = (await teamsOfMembership(tx, membershipId)).filter((row) => row.is_active === 0)
  await inSlices(
    idsOf(invited),
    async (teamIds) => {
      await countMembers(tx, teamIds, 1)
      await tx.db
        .updateTable('team_members')
        .set({ is_active: 1 })
        .where('membership_id', '=', membershipId)
        .where('team_id', 'in', teamIds)
        .execute()
      return []
    },
    ROWS_A_SLICE,
  )
}

/** Removes a member from all teams of an organization, which may be very many. */
export async function deleteTeamMembersOf(tx: Transaction, membershipId: string): Promise<void> {
  const left = await teamsOfMembership(tx, membershipId)
  for (const isActive of [0, 1]) {
    const teams = left.filter((row) => row.is_active === isActive)
    await inSlices(
      idsOf(teams),
      async (teamIds) => {
        await countMembers(tx, teamIds, -isActive)
        await tx.db
          .deleteFrom('team_members')
          .where('membership_id', '=', membershipId)
          .where('team_id', 'in', teamIds)
          .execute()
        return []
      },
      ROWS_A_SLICE,
    )
  }
}

const idsOf = (rows: readonly { team_id: string }[]) => rows.map((row) => row.team_id)

function teamsOfMembership(tx: Transaction, membershipId: string) {
  return tx.db
    .selectFrom('team_members')
    .where('membership_id', '=', membershipId)
    .select(['team_id', 'is_active'])
    .orderBy('team_id')
    .execute()
}

async function countMembers(tx: Transaction, teamIds: readonly string[], more: number): Promise<void> {
  await tx.db
    .updateTable('teams')
    .set({ users_count: sql`users_count + ${more}`, version: nextVersion(tx.engine) })
    .where('id', 'in', teamIds)
    .execute()
}
