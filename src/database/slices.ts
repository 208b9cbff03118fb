import { sql, type RawBuilder } from 'kysely'
import type { Transaction } from './database.ts'
import type { Tables } from './tables.ts'

/** SQLite takes 32,766 values in a statement, PostgreSQL 65,535; but a statement must not take many milliseconds. */
const VALUES_A_STATEMENT = 2_000

/** Rows that one transaction deletes at most where there may be very many, but for what hangs on them by a foreign key. */
export const ROWS_A_SLICE = 500

/** Deletes some of the rows for which `condition` holds; whether there may be more. */
export async function deleteSome(
  tx: Transaction,
  table: keyof Tables,
  condition: RawBuilder<boolean>,
  limit = ROWS_A_SLICE,
): Promise<boolean> {
  const [row, some] = tx.engine === 'sqlite' ? ['rowid', 'in'] : ['ctid', '= any']
  const found = sql`select ${sql.raw(row)} from ${sql.table(table)} where ${condition} limit ${sql.lit(limit)}`
  // PostgreSQL goes straight to the rows of an array.
  const rows = tx.engine === 'sqlite' ? sql`(${found})` : sql`(array(${found}))`
  const deleted = sql`delete from ${sql.table(table)} where ${sql.raw(row)} ${sql.raw(some)} ${rows}`
  return Number((await deleted.execute(tx.db)).numAffectedRows ?? 0n) === limit
}

/**
 * Deletes them all in this transaction, a slice after the other: what hangs on a row by a foreign key goes before the row,
 * lest one statement takes so long that reads wait for it.
 */
export async function deleteInSlices(
  tx: Transaction,
  table: keyof Tables,
  condition: RawBuilder<boolean>,
): Promise<void> {
  while (await deleteSome(tx, table, condition));
}

/** The rows for a list of values of any length, a statement for each slice of it. */
export async function inSlices<Value, Row>(
  values: readonly Value[],
  read: (slice: readonly Value[]) => Promise<Row[]>,
  size = VALUES_A_STATEMENT,
): Promise<Row[]> {
  if (values.length === 0) return []
  if (values.length <= size) return read(values)
  const rows: Row[] = []
  for (let from = 0; from < values.length; from += size) {
    for (const row of await read(values.slice(from, from + size))) rows.push(row)
  }
  return rows
}
