import { OperatorError } from '../core/operator-error.ts'
import { inBareTransaction } from '../database/bare-transaction.ts'
import type { Transaction } from '../database/database.ts'
import { makeLaterIndexes } from '../database/later-indexes.ts'
import { migrate, missingMigrations, refuseNewerTables } from '../database/migrate.ts'
import type { Connection, OpenDatabase } from '../database/open.ts'
import { continueCounting, learnTables } from '../database/portable.ts'
import { hasNoRows, readTable } from './backup-store.ts'
import { backedUpTables, countedTables, type TableName } from './backup-tables.ts'
import {
  beginMove,
  countRows,
  digestOf,
  endMove,
  findEndedMove,
  findPlace,
  insertPage,
  type Digest,
  type Place,
} from './move-store.ts'

export type MovedTable = Digest & { readonly table: TableName }

export type MoveOptions = {
  /** Names the source. An interrupted move continues only from the same one. */
  readonly source: string
  readonly signal: AbortSignal
  readonly onContinue: (rows: number, table: TableName) => void
  readonly onProgress: (stage: string, done: number, total: number) => void
  /** Runs in the transaction that ends the move. */
  readonly finish: (tx: Transaction) => Promise<void>
}

/**
 * Copies all tables of a database that nobody writes into an empty one, compares both table by table, and returns what was
 * compared. The target stores its place with each page of rows. If the move is interrupted, the next one continues there.
 */
export async function moveDatabase(
  from: OpenDatabase,
  to: OpenDatabase,
  options: MoveOptions,
): Promise<MovedTable[]> {
  return from.withConnection((source) =>
    to.withConnection(async (target) => {
      await refuseNewerTables(source)
      const place = await placeIn(target, options)
      await copyFrom(place, source, target, options)
      const tables = await compared(source, target, options)
      const { engine } = to.database
      await inBareTransaction(target, engine, async (tx) => {
        for (const table of countedTables) await continueCounting(tx.db, engine, table)
        await learnTables(tx.db, engine)
        await endMove(tx.db)
        await options.finish(tx)
      })
      await makeLaterIndexes(target)
      return tables
    }),
  )
}

async function placeIn(target: Connection, { source, onContinue }: MoveOptions): Promise<Place> {
  const place = await findPlace(target)
  if (place === undefined) {
    const { applied } = await missingMigrations(target)
    if (applied > 0 && !(await hasNoRows(target))) {
      const endedAt = await findEndedMove(target, source)
      throw new OperatorError(
        endedAt === undefined
          ? 'the target is not empty: move into a new database'
          : `the move of ${source} into this database is complete: it ended at ${endedAt}. Start the server on it; to move again, make a new database`,
      )
    }
    await migrate(target)
    return beginMove(target, source)
  }
  if (place.source !== source) {
    throw new OperatorError(
      `the target has an unfinished move from ${place.source}: continue that one, or move into a new database`,
    )
  }
  onContinue(place.rows, place.table)
  return place
}

async function copyFrom(
  begin: Place,
  source: Connection,
  target: Connection,
  { signal, onProgress }: MoveOptions,
): Promise<void> {
  let place = begin
  const first = backedUpTables.findIndex(([table]) => table === begin.table)
  for (const [table] of backedUpTables.slice(first)) {
    const total = await countRows(source, table)
    const after = table === begin.table ? begin.after : undefined
    for await (const page of readTable(source, table, after)) {
      signal.throwIfAborted()
      place = await insertPage(target, place, page)
      onProgress(`copied ${table}`, place.rows, total)
    }
  }
}

/** Reads both sides again. Throws OperatorError naming the tables that differ. */
async function compared(
  source: Connection,
  target: Connection,
  { signal, onProgress }: MoveOptions,
): Promise<MovedTable[]> {
  const tables: MovedTable[] = []
  const different: string[] = []
  for (const [table] of backedUpTables) {
    signal.throwIfAborted()
    const total = await countRows(source, table)
    const [mine, theirs] = await Promise.all([
      digestOf(source, table, (done) => onProgress(`compared ${table}`, done, total)),
      digestOf(target, table, () => signal.throwIfAborted()),
    ])
    if (mine.sha256 === theirs.sha256) tables.push({ table, ...mine })
    else different.push(`${table} (${mine.rows} rows here, ${theirs.rows} there)`)
  }
  if (different.length > 0) {
    throw new OperatorError(
      `both sides differ in ${different.join(', ')}: the source was changed after the move began, or the target was; move into a new database`,
    )
  }
  return tables
}
