import type { Transaction } from '../database/database.ts'

/** Throws when the database does not answer. */
export async function isReachable(tx: Transaction): Promise<void> {
  await tx.db.selectFrom('meta').select('key').limit(1).execute()
}
