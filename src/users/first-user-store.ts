import type { Transaction } from '../database/database.ts'

/** Nobody has an account yet. */
export async function isFirstStart(tx: Transaction): Promise<boolean> {
  return (await tx.db.selectFrom('users').select('id').limit(1).executeTakeFirst()) === undefined
}
