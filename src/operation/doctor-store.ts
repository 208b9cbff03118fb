import type { Transaction } from '../database/database.ts'
import { countOf } from '../database/pages.ts'

type Counts = { failedJobs: string[]; expiredTokens: number; hasStates: boolean }

/** The newest state versions with a failed job (failed for good or waiting for a retry), and expired tokens. */
export async function findTrouble(tx: Transaction, now: string): Promise<Counts> {
  const failed = await tx.db
    .selectFrom('state_versions')
    .where('last_failure', 'is not', null)
    .select(['id', 'attempts', 'last_failure'])
    .orderBy('created_at', 'desc')
    .limit(20)
    .execute()
  const expired = tx.db.selectFrom('authentication_tokens').where('expires_at', '<=', now)
  const some = await tx.db.selectFrom('state_versions').select('id').limit(1).execute()
  return {
    hasStates: some.length > 0,
    failedJobs: failed.map((row) => `${row.id} (tried ${row.attempts} times: ${row.last_failure})`),
    expiredTokens: await countOf(expired),
  }
}
