import type { Transaction } from '../database/database.ts'

/** Updates in the order of ids, so that two nodes cannot deadlock. */
export async function updateLastUsed(tx: Transaction, batch: readonly (readonly [id: string, at: string])[]) {
  for (const [id, at] of batch.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    await tx.db.updateTable('authentication_tokens').set({ last_used_at: at }).where('id', '=', id).execute()
  }
}
