import type { Transaction } from '../database/database.ts'
import { locksRows } from '../database/portable.ts'

/**
 * Makes the writes of one organization follow each other on PostgreSQL, so that what a write read stays true until it
 * commits. SQLite has one writer anyway.
 */
export async function lockOrganization(tx: Transaction, id: string): Promise<void> {
  if (!locksRows(tx)) return
  await tx.db.selectFrom('organizations').select('id').where('id', '=', id).forUpdate().execute()
}
