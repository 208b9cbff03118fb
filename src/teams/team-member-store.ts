import { sql, type Insertable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import type { TeamMemberTable } from '../database/tables.ts'

/** False when the user is in the team already. Keeps the team's users-count and version. */
export async function insertTeamMember(tx: Transaction, row: Insertable<TeamMemberTable>): Promise<boolean> {
  const result = await tx.db
    .insertInto('team_members')
    .values(row)
    .onConflict((conflict) => conflict.columns(['team_id', 'user_id']).doNothing())
    .executeTakeFirst()
  const isNew = result.numInsertedOrUpdatedRows === 1n
  if (isNew) await countMembers(tx, row.team_id, row.is_active)
  return isNew
}

/** False when the user was not in the team. Keeps the team's users-count and version. */
export async function deleteTeamMember(tx: Transaction, teamId: string, userId: string): Promise<boolean> {
  const row = await tx.db
    .deleteFrom('team_members')
    .where('team_id', '=', teamId)
    .where('user_id', '=', userId)
    .returning('is_active')
    .executeTakeFirst()
  if (row !== undefined) await countMembers(tx, teamId, -row.is_active)
  return row !== undefined
}

async function countMembers(tx: Transaction, teamId: string, more: number): Promise<void> {
  await tx.db
    .updateTable('teams')
    .set({ users_count: sql`users_count + ${more}`, version: sql`version + 1` })
    .where('id', '=', teamId)
    .execute()
}
