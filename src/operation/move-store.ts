import { createHash } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import { existing } from '../core/existing.ts'
import { OperatorError } from '../core/operator-error.ts'
import { parseStored } from '../core/stored-json.ts'
import { hasUnfinishedMove, UNFINISHED_MOVE } from '../database/migrate.ts'
import type { Tables } from '../database/tables.ts'
import { encode } from './backup-format.ts'
import { insertRows, keyIn, readTable, type Rows, type Value } from './backup-store.ts'
import { backedUpTables, type TableName } from './backup-tables.ts'

/** How far a move has come: all rows of the tables before `table`, and its rows up to the key `after`. */
export type Place = {
  readonly table: TableName
  readonly after: readonly Value[] | undefined
  readonly rows: number
}

type PlaceRow = { source: string; table_name: string; after_key: string; rows: number }

const moves = sql.table(UNFINISHED_MOVE)

/** The place of a move that was interrupted. Undefined if the database has none. */
export async function findPlace(db: Kysely<Tables>): Promise<(Place & { source: string }) | undefined> {
  if (!(await hasUnfinishedMove(db))) return undefined
  const { rows } = await sql<PlaceRow>`select source, table_name, after_key, rows from ${moves}`.execute(db)
  const { source, table_name, after_key, rows: done } = existing(rows[0])
  const [table] = existing(backedUpTables.find(([name]) => name === table_name))
  const after = parseStored<readonly Value[] | null>(after_key)
  return { source, table, after: after ?? undefined, rows: done }
}

/** When the newest move from this source ended, by its audit event. Undefined if none has ended here. */
export async function findEndedMove(db: Kysely<Tables>, source: string): Promise<string | undefined> {
  const event = await db
    .selectFrom('audit_events')
    .select('at')
    .where('action', '=', 'database.move')
    .where('resource_id', '=', source)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return event?.at
}

/** Marks the database as one that is being filled. No server starts on it until `endMove`. */
export async function beginMove(db: Kysely<Tables>, source: string): Promise<Place> {
  const [table] = existing(backedUpTables[0])
  await db.transaction().execute(async (tx) => {
    await sql`
      create table ${moves} (source text primary key, table_name text not null, after_key text not null, rows bigint not null)
    `.execute(tx)
    await sql`insert into ${moves} values (${source}, ${table}, 'null', 0)`.execute(tx)
  })
  return { table, after: undefined, rows: 0 }
}

/** Inserts a page of rows and stores the new place in the same transaction. Returns the new place. */
export async function insertPage(db: Kysely<Tables>, before: Place, { table, rows }: Rows): Promise<Place> {
  const columns = Object.keys(existing(rows[0]))
  const done = before.table === table ? before.rows + rows.length : rows.length
  const place: Place = { table, after: keyIn(table, existing(rows.at(-1))), rows: done }
  await db.transaction().execute(async (tx) => {
    const { numAffectedRows } = await sql`
      update ${moves} set table_name = ${table}, after_key = ${textOf(place)}, rows = ${done}
      where table_name = ${before.table} and after_key = ${textOf(before)}`.execute(tx)
    if (numAffectedRows !== 1n) throw new OperatorError('another purser move fills this database')
    await insertRows(
      tx,
      table,
      columns,
      rows.map((row) => columns.map((name) => row[name] ?? null)),
    )
  })
  return place
}

export async function endMove(db: Kysely<Tables>): Promise<void> {
  await sql`drop table ${moves}`.execute(db)
}

/** Keys are texts and numbers: JSON has both exactly. */
function textOf({ after }: Place): string {
  return JSON.stringify(after ?? null)
}

/** A table's number of rows, and the SHA-256 of all values in the order of its key, in hexadecimal. */
export type Digest = { readonly rows: number; readonly sha256: string }

export async function digestOf(
  db: Kysely<Tables>,
  table: TableName,
  onRows: (count: number) => void,
): Promise<Digest> {
  const hash = createHash('sha256')
  let count = 0
  for await (const { rows } of readTable(db, table)) {
    for (const row of rows) {
      // By name, because the engines may list columns in another order.
      const values = Object.keys(row)
        .toSorted()
        .map((name) => [name, encode(row[name] ?? null)])
      hash.update(`${JSON.stringify(values)}\n`)
    }
    count += rows.length
    onRows(count)
  }
  return { rows: count, sha256: hash.digest('hex') }
}

export async function countRows(db: Kysely<Tables>, table: TableName): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db)
  return existing(rows[0]).count
}
