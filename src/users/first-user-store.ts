import type { Transaction } from '../database/database.ts'

/** Whether there are no users yet. */
export async function isFirstStart(tx: Transaction): Promise<boolean> {
  return (await tx.db.selectFrom('users').select('id').limit(1).executeTakeFirst()) === undefined
}
