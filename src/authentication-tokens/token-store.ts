import type { Insertable, Selectable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import type { AuthenticationTokenTable } from '../database/tables.ts'

export type TokenRow = Selectable<AuthenticationTokenTable>

export async function insertToken(tx: Transaction, row: Insertable<AuthenticationTokenTable>): Promise<void> {
  await tx.db.insertInto('authentication_tokens').values(row).execute()
}
