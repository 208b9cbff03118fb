import { sql, type SqlBool, type Insertable, type Selectable } from 'kysely'
import { isStillHandedOut, mayHandOut } from '../access/actor-store.ts'
import { timestamp } from '../core/clock.ts'
import type { Transaction } from '../database/database.ts'
import type { PasswordLinkTable } from '../database/session-tables.ts'

type PasswordLinkRow = Selectable<PasswordLinkTable>

/** SQL condition: who made the link may still do that, and the token with which they made it still counts. */
const isStillMakers = sql<SqlBool>`((created_by_id is null or ${mayHandOut('password_links.created_by_id')})
  and (made_with_id is null or exists (select 1 from authentication_tokens token
    where token.id = made_with_id and ${isStillHandedOut})))`

/** Undefined if it has expired, or if its maker may make no links any more. */
export function findPasswordLink(
  tx: Transaction,
  hash: string,
  now: Date,
): Promise<PasswordLinkRow | undefined> {
  return tx.db
    .selectFrom('password_links')
    .where('hash', '=', hash)
    .where('expires_at', '>', timestamp(now))
    .where(isStillMakers)
    .selectAll()
    .executeTakeFirst()
}

/** To be called when an account changes hands or rights, so that an older link does not open it. */
export async function deletePasswordLinksOf(tx: Transaction, userId: string): Promise<void> {
  await tx.db.deleteFrom('password_links').where('user_id', '=', userId).execute()
}

/** Replaces an older link of the user. */
export async function insertPasswordLink(tx: Transaction, row: Insertable<PasswordLinkTable>): Promise<void> {
  await deletePasswordLinksOf(tx, row.user_id)
  await tx.db.insertInto('password_links').values(row).execute()
}

/**
 * Ends the links that a person made, once the person may make none and their handed out tokens have ended. Returns how many
 * there were.
 */
export async function deletePasswordLinksMadeBy(tx: Transaction, userId: string): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('password_links')
    .where((eb) => eb.or([eb('created_by_id', '=', userId), eb.not(isStillMakers)]))
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Returns false if another request used it first, or if its maker may make no links any more. */
export async function deletePasswordLink(tx: Transaction, hash: string): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('password_links')
    .where('hash', '=', hash)
    .where(isStillMakers)
    .executeTakeFirst()
  return numDeletedRows === 1n
}
