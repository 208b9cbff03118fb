import type { Insertable, Selectable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import type { ProjectTable } from '../database/tables.ts'

export type ProjectRow = Selectable<ProjectTable>

/** False when the organization has a project of this name. */
export async function insertProject(tx: Transaction, row: Insertable<ProjectTable>): Promise<boolean> {
  const result = await tx.db
    .insertInto('projects')
    .values(row)
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
    .executeTakeFirst()
  return result.numInsertedOrUpdatedRows === 1n
}
