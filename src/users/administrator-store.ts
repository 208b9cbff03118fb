import type { Transaction } from '../database/database.ts'
import type { UserRow } from './user-store.ts'

const MAX_LISTED = 100

/** The site administrators who are not suspended. */
export function findSiteAdministrators(tx: Transaction): Promise<UserRow[]> {
  return tx.db
    .selectFrom('users')
    .where('is_site_admin', '=', 1)
    .where('is_suspended', '=', 0)
    .where('username', 'is not', null)
    .selectAll()
    .orderBy('id')
    .limit(MAX_LISTED)
    .execute()
}
