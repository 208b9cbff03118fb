import { randomUUID } from 'node:crypto'
import type { Transaction } from './database.ts'

/** The smallest possible write: if it commits, others can. */
export async function writeProbe(tx: Transaction): Promise<void> {
  const value = randomUUID()
  await tx.db
    .insertInto('meta')
    .values({ key: 'probe', value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute()
}
