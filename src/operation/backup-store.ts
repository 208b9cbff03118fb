import { sql, type Kysely } from 'kysely'
import { beginSnapshot, type Engine } from '../database/portable.ts'
import type { Tables } from '../database/tables.ts'
import { tableKeys } from '../database/table-keys.ts'
import { backedUpTables, rowsAtOnce, type TableName } from './backup-tables.ts'

export type Value = string | number | null | Uint8Array
type Row = Record<string, Value>
export type Rows = { table: TableName; rows: Row[] }

/** An older database may lack some of the tables. */
async function namesOfTables(db: Kysely<Tables>): Promise<Set<string>> {
  return new Set((await db.introspection.getTables()).map(({ name }) => name))
}

/** Reads all tables from one snapshot, in pages of rows, while others write. */
export async function* readEverything(db: Kysely<Tables>, engine: Engine): AsyncGenerator<Rows> {
  await beginSnapshot(db, engine)
  try {
    const there = await namesOfTables(db)
    for (const [table] of backedUpTables) if (there.has(table)) yield* readTable(db, table)
  } finally {
    // This fails if the connection is lost; the original error is more useful.
    await sql
      .raw('rollback')
      .execute(db)
      .catch(() => {})
  }
}

/** Reads a table in pages, in the order of its key, which is the same on both engines. `after` is the key of a row. */
export async function* readTable(
  db: Kysely<Tables>,
  table: TableName,
  after?: readonly Value[],
): AsyncGenerator<Rows> {
  const limit = rowsAtOnce(table)
  const columns = sql.join(tableKeys[table].map((name) => sql.ref(name)))
  for (;;) {
    const rest = after === undefined ? sql`` : sql`where (${columns}) > (${sql.join(after)})`
    const { rows } = await sql<Row>`
      select * from ${sql.table(table)} ${rest} order by ${columns} limit ${sql.lit(limit)}`.execute(db)
    const last = rows.at(-1)
    if (last === undefined) return
    yield { table, rows }
    if (rows.length < limit) return
    after = keyIn(table, last)
  }
}

export function keyIn(table: TableName, row: Row): Value[] {
  return tableKeys[table].map((name) => row[name] ?? null)
}

/** Whether no table has a row. */
export async function hasNoRows(db: Kysely<Tables>): Promise<boolean> {
  const there = await namesOfTables(db)
  for (const [table] of backedUpTables) {
    if (!there.has(table)) continue
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db)
    if (rows.length > 0) return false
  }
  return true
}

export async function insertRows(
  db: Kysely<Tables>,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly Value[])[],
): Promise<void> {
  const names = sql.join(columns.map((name) => sql.ref(name)))
  const values = sql.join(rows.map((row) => sql`(${sql.join(row)})`))
  await sql`insert into ${sql.table(table)} (${names}) values ${values}`.execute(db)
}
