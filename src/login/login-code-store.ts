import { sql, type Selectable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import type { LoginCodeTable } from '../database/session-tables.ts'

export type LoginCodeRow = Selectable<LoginCodeTable>

/** The most codes of one user that are kept. */
export const MAX_CODES = 10

/** Inserts a code, and deletes the oldest of the user if there are more than MAX_CODES then. */
export async function insertLoginCode(tx: Transaction, row: LoginCodeRow): Promise<void> {
  const kept = tx.db
    .selectFrom('login_codes')
    .where('user_id', '=', row.user_id)
    .orderBy('created_at', 'desc')
    .orderBy('hash')
    .limit(MAX_CODES - 1)
    .select('hash')
  await tx.db
    .deleteFrom('login_codes')
    .where('user_id', '=', row.user_id)
    .where('hash', 'not in', sql<string>`(select hash from (${kept}) as kept)`)
    .execute()
  await tx.db.insertInto('login_codes').values(row).execute()
}

/** Marks a code as used. Undefined if it is unknown or was used before: only one request gets it. */
export function claimLoginCode(
  tx: Transaction,
  hash: string,
  now: string,
): Promise<LoginCodeRow | undefined> {
  return tx.db
    .updateTable('login_codes')
    .set({ used_at: now })
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
}

export function findLoginCode(tx: Transaction, hash: string): Promise<LoginCodeRow | undefined> {
  return tx.db.selectFrom('login_codes').where('hash', '=', hash).selectAll().executeTakeFirst()
}

/** Returns how many of them were not used. */
export async function deleteLoginCodesOf(tx: Transaction, userId: string): Promise<number> {
  const rows = await tx.db
    .deleteFrom('login_codes')
    .where('user_id', '=', userId)
    .returning('used_at')
    .execute()
  return rows.filter(({ used_at }) => used_at === null).length
}

/** Notes the token that was made with a code. */
export async function setTokenOfLoginCode(tx: Transaction, hash: string, tokenId: string): Promise<void> {
  await tx.db.updateTable('login_codes').set({ token_id: tokenId }).where('hash', '=', hash).execute()
}
