import type { Insertable, Selectable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
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

const byId = prepared<{ id: string }>()((db, param) =>
  db.selectFrom('projects').where('id', '=', param('id')).selectAll(),
)

export function findProject(tx: Transaction, id: string): Promise<ProjectRow | undefined> {
  return tx.first(byId, { id })
}
