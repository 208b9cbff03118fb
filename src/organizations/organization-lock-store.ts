import type { Transaction } from '../database/database.ts'
import { locksRows } from '../database/portable.ts'

/**
 * Serializes the writes of one organization on PostgreSQL, so that what a write has read stays true until it commits.
 * SQLite has only one writer.
 */
export async function lockOrganization(tx: Transaction, id: string): Promise<void> {
  if (!locksRows(tx)) return
  await tx.db.selectFrom('organizations').select('id').where('id', '=', id).forUpdate().execute()
}
