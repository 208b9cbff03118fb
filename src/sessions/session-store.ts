import { sql, type Insertable, type Selectable } from 'kysely'
import { isFarAhead } from '../core/clock.ts'
import type { Transaction } from '../database/database.ts'
import { rowBy } from '../database/rows.ts'
import { pageOf } from '../database/pages.ts'
import type { SessionTable } from '../database/session-tables.ts'
import type { Page } from '../jsonapi/paging.ts'

export type SessionRow = Selectable<SessionTable>

export async function insertSession(tx: Transaction, row: Insertable<SessionTable>): Promise<void> {
  await tx.db.insertInto('sessions').values(row).execute()
}

export const findSession = rowBy('sessions', 'id')

/** A page of the user's sessions, newest first. Ended ones count until they are deleted. */
export async function listSessions(
  tx: Transaction,
  userId: string,
  page: Page,
): Promise<{ rows: SessionRow[]; total: number }> {
  const query = tx.db.selectFrom('sessions').where('user_id', '=', userId)
  return pageOf(query, page, (found) => found.selectAll().orderBy('created_at', 'desc').orderBy('id'))
}

/** Returns false if another request deleted it first. */
export async function deleteSession(tx: Transaction, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.db.deleteFrom('sessions').where('id', '=', id).executeTakeFirst()
  return numDeletedRows === 1n
}

/** Ends the sessions of a user, and returns how many there were. */
export async function deleteSessionsOf(tx: Transaction, userId: string, exceptId = ''): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('id', '!=', exceptId)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Notes that the user gave the password in a session. Undefined if it has ended. */
export function notePasswordCheck(tx: Transaction, id: string, at: string): Promise<SessionRow | undefined> {
  return tx.db
    .updateTable('sessions')
    .set({ password_checked_at: at })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** Deletes the sessions of this browser and those that have expired, and of the others all but the newest `most`. */
export async function makeRoomForSession(
  tx: Transaction,
  { userId, hash, now, most }: { userId: string; hash: string; now: string; most: number },
): Promise<void> {
  await tx.db
    .deleteFrom('sessions')
    .where((eb) => eb.or([eb('hash', '=', hash), eb('user_id', '=', userId).and('expires_at', '<=', now)]))
    .execute()
  const kept = tx.db
    .selectFrom('sessions')
    .where('user_id', '=', userId)
    .orderBy('last_used_at', 'desc')
    .orderBy('id')
    .limit(most - 1)
    .select('id')
  await tx.db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('id', 'not in', sql<string>`(select id from (${kept}) as kept)`)
    .execute()
}

/** Updates in the order of ids, so that two nodes cannot deadlock. */
export async function updateSessionsUsed(
  tx: Transaction,
  batch: readonly (readonly [id: string, at: string])[],
): Promise<void> {
  for (const [id, at] of batch.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const session = await findSession(tx, id)
    if (session === undefined) continue
    const before = Date.parse(session.last_used_at)
    const pause = Date.parse(at) - before
    // Another node may have stored a later use.
    if (pause <= 0 && !isFarAhead(before, new Date(at))) continue
    const longest_pause_ms = Math.max(session.longest_pause_ms, pause)
    await tx.db
      .updateTable('sessions')
      .set({ last_used_at: at, longest_pause_ms })
      .where('id', '=', id)
      .execute()
  }
}
