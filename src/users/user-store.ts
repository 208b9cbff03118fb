import type { Insertable, Selectable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { rowBy, updateRow } from '../database/rows.ts'
import { pageOf } from '../database/pages.ts'
import { forUpdate, holdsText, locksRows } from '../database/portable.ts'
import { inSlices } from '../database/slices.ts'
import type { UserTable } from '../database/tables.ts'
import type { Page } from '../jsonapi/paging.ts'

export type UserRow = Selectable<UserTable>

export const findUser = rowBy('users', 'id')

/** Ordered by id. Unknown ids are ignored. */
export function findUsers(tx: Transaction, ids: readonly string[]): Promise<UserRow[]> {
  return inSlices(ids.toSorted(), (slice) =>
    tx.db.selectFrom('users').where('id', 'in', slice).selectAll().orderBy('id').execute(),
  )
}

/** @param key see keyOf */
export function findUserByEmail(tx: Transaction, key: string): Promise<UserRow | undefined> {
  return tx.db.selectFrom('users').where('email_key', '=', key).selectAll().executeTakeFirst()
}

/** By the key of the name: see keyOf. */
export const findUserByUsername = rowBy('users', 'username_key')

/**
 * Locks the user until this write ends, and returns the row as committed. Undefined if the user is gone. Lock the
 * organization, if any, first.
 */
export function lockUser(tx: Transaction, id: string): Promise<UserRow | undefined> {
  return tx.db.selectFrom('users').where('id', '=', id).selectAll().$call(forUpdate(tx)).executeTakeFirst()
}

/**
 * Locks the user and all site administrators who are not suspended until this write ends. Rows are locked in one order,
 * so that two administrators who revoke each other wait instead of causing a deadlock.
 */
export async function lockWithAdministrators(
  tx: Transaction,
  id: string,
): Promise<{ user: UserRow | undefined; administrators: string[] }> {
  const rows = await tx.db
    .selectFrom('users')
    .where((eb) => eb.or([eb('is_site_admin', '=', 1), eb('id', '=', id)]))
    .selectAll()
    .orderBy('id')
    .$call(forUpdate(tx))
    .execute()
  const administrators = rows.filter((row) => row.is_site_admin === 1 && row.is_suspended === 0)
  return { user: rows.find((row) => row.id === id), administrators: administrators.map((row) => row.id) }
}

/** A page of people, by user name or, without one, by email. `q` matches a part of either. */
export async function listUsers(
  tx: Transaction,
  q: string | undefined,
  page: Page,
): Promise<{ rows: UserRow[]; total: number }> {
  let query = tx.db.selectFrom('users').where('is_service_account', '=', 0)
  if (q !== undefined) {
    query = query.where((eb) =>
      eb.or([holdsText(tx.engine, 'users.username', q), holdsText(tx.engine, 'users.email', q)]),
    )
  }
  return pageOf(query, page, (found) =>
    found
      .selectAll()
      .orderBy((eb) => eb.fn.coalesce('username_key', 'email_key'))
      .orderBy('id'),
  )
}

/** Returns undefined if the user name or the email is taken. */
export function insertUser(tx: Transaction, row: Insertable<UserTable>): Promise<UserRow | undefined> {
  return tx.db
    .insertInto('users')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
}

export const updateUser = updateRow('users')

export async function deleteUser(tx: Transaction, id: string): Promise<void> {
  await tx.db.deleteFrom('users').where('id', '=', id).execute()
}

/** Deletes those of these users who have no account and no invitation any more. */
export async function deleteUnusedInvited(tx: Transaction, userIds: readonly string[]): Promise<void> {
  const invited = tx.db.selectFrom('users').where('id', 'in', userIds).where('username', 'is', null)
  if (locksRows(tx)) {
    // A request that invites the user elsewhere holds the row. Wait for it before looking for memberships.
    await invited.select('id').orderBy('id').forUpdate().execute()
  }
  await tx.db
    .deleteFrom('users')
    .where('id', 'in', userIds)
    .where('username', 'is', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('memberships')
            .whereRef('memberships.user_id', '=', 'users.id')
            .select('memberships.id'),
        ),
      ),
    )
    .execute()
}

/** Whether there are no users yet. */
export async function isFirstStart(tx: Transaction): Promise<boolean> {
  return (await tx.db.selectFrom('users').select('id').limit(1).executeTakeFirst()) === undefined
}

const MAX_ADMINISTRATORS = 100

/** The site administrators who are not suspended. */
export function findSiteAdministrators(tx: Transaction): Promise<UserRow[]> {
  return tx.db
    .selectFrom('users')
    .where('is_site_admin', '=', 1)
    .where('is_suspended', '=', 0)
    .where('username', 'is not', null)
    .selectAll()
    .orderBy('id')
    .limit(MAX_ADMINISTRATORS)
    .execute()
}
