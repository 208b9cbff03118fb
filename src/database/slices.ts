import { sql, type RawBuilder } from 'kysely'
import type { Transaction } from './database.ts'
import type { Tables } from './tables.ts'

/**
 * SQLite allows 32,766 values in a statement, PostgreSQL 65,535. The limit is lower so that a statement stays short.
 */
const VALUES_A_STATEMENT = 2_000

/** Maximum of rows that one transaction deletes from a large table, without rows that foreign keys delete with them. */
export const ROWS_A_SLICE = 500

/** Deletes up to `limit` rows that match `condition`. Returns whether there may be more. */
export async function deleteSome(
  tx: Transaction,
  table: keyof Tables,
  condition: RawBuilder<boolean>,
  limit = ROWS_A_SLICE,
): Promise<boolean> {
  const [row, some] = tx.engine === 'sqlite' ? ['rowid', 'in'] : ['ctid', '= any']
  const found = sql`select ${sql.raw(row)} from ${sql.table(table)} where ${condition} limit ${sql.lit(limit)}`
  // With an array PostgreSQL goes directly to the rows by their ctid.
  const rows = tx.engine === 'sqlite' ? sql`(${found})` : sql`(array(${found}))`
  const deleted = sql`delete from ${sql.table(table)} where ${sql.raw(row)} ${sql.raw(some)} ${rows}`
  return Number((await deleted.execute(tx.db)).numAffectedRows ?? 0n) === limit
}

/**
 * Deletes all matching rows in this transaction, one slice at a time. Call it for dependent rows before deleting their
 * parent: a cascade in one statement would block reads for too long.
 */
export async function deleteInSlices(
  tx: Transaction,
  table: keyof Tables,
  condition: RawBuilder<boolean>,
): Promise<void> {
  while (await deleteSome(tx, table, condition));
}

/** Runs a statement for each slice of a list of any length. Returns the rows of all. */
export async function inSlices<Value, Row>(
  values: readonly Value[],
  run: (slice: readonly Value[]) => Promise<Row[]>,
  size = VALUES_A_STATEMENT,
): Promise<Row[]> {
  if (values.length === 0) return []
  if (values.length <= size) return run(values)
  const rows: Row[] = []
  for (let from = 0; from < values.length; from += size) {
    for (const row of await run(values.slice(from, from + size))) rows.push(row)
  }
  return rows
}
