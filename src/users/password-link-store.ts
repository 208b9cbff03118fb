import type { Selectable } from 'kysely'
import { timestamp } from '../core/clock.ts'
import type { Transaction } from '../database/database.ts'
import type { PasswordLinkTable } from '../database/session-tables.ts'

type PasswordLinkRow = Selectable<PasswordLinkTable>

/** Undefined if it has expired. */
export function findPasswordLink(
  tx: Transaction,
  hash: string,
  now: Date,
): Promise<PasswordLinkRow | undefined> {
  return tx.db
    .selectFrom('password_links')
    .where('hash', '=', hash)
    .where('expires_at', '>', timestamp(now))
    .selectAll()
    .executeTakeFirst()
}

/** To be called when an account changes hands or rights, so that an older link does not open it. */
export async function deletePasswordLinksOf(tx: Transaction, userId: string): Promise<void> {
  await tx.db.deleteFrom('password_links').where('user_id', '=', userId).execute()
}

/** Replaces an older link of the user. */
export async function insertPasswordLink(tx: Transaction, row: PasswordLinkRow): Promise<void> {
  await deletePasswordLinksOf(tx, row.user_id)
  await tx.db.insertInto('password_links').values(row).execute()
}

/** Returns false if another request used it first. */
export async function deletePasswordLink(tx: Transaction, hash: string): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('password_links')
    .where('hash', '=', hash)
    .executeTakeFirst()
  return numDeletedRows === 1n
}
