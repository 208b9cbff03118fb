import { codeOf } from '../core/error-fields.ts'
import { createReadStream, statSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { isDeepStrictEqual } from 'node:util'
import { existing } from '../core/existing.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import { inBareTransaction } from '../database/bare-transaction.ts'
import type { Transaction } from '../database/database.ts'
import { makeLaterIndexes } from '../database/later-indexes.ts'
import { appliedMigrations, migrate, migrateTo, migrations } from '../database/migrate.ts'
import { continueCounting, learnTables, type Engine } from '../database/portable.ts'
import type { Connection, OpenDatabase } from '../database/open.ts'
import { decompressor, fromText, type Header, type Piece } from './backup-format.ts'
import { hasNoRows, insertRows, type Value } from './backup-store.ts'
import { countedTables, rowsAtOnce } from './backup-tables.ts'

/** The header of a backup. Throws OperatorError if the file is no backup, incomplete or damaged. */
export async function readHeader(file: string): Promise<Header> {
  let header: Header | undefined
  refusePipe(file)
  try {
    await unpack(file, async (chunks) => {
      for await (const piece of fromText(chunks)) {
        if ('header' in piece) header = piece.header
        return
      }
    })
  } catch (error) {
    // After the header the stream is closed early, which is reported as an error.
    if (header === undefined) throw error
  }
  if (header === undefined) throw new OperatorError(`${file} is empty: no backup`)
  const unknown = header.migrations.filter((name) => !Object.hasOwn(migrations, name))
  if (unknown.length > 0) {
    throw new OperatorError(
      `the backup was made by a newer Purser (${header.version}, with ${unknown.join(', ')}): restore it with that`,
    )
  }
  // The checksum is at the end of the file. No statement is made from bytes that it has not confirmed.
  await unpack(file, async (chunks) => {
    for await (const _ of chunks);
  })
  return header
}

/** The file is read more than once. What a pipe has given away does not come again. */
function refusePipe(file: string): void {
  try {
    if (!statSync(file).isFIFO()) return
  } catch (error) {
    throw readProblem(error, file)
  }
  throw new OperatorError(`${file} is a pipe: write the backup into a file, and restore that`)
}

/**
 * Restores a backup into an empty database, together with its tables, in one transaction: all of it or nothing. Returns
 * the number of rows.
 *
 * @param finish runs last in that transaction
 */
export async function restoreBackup(
  open: OpenDatabase,
  file: string,
  header: Header,
  finish: (tx: Transaction) => Promise<void>,
): Promise<number> {
  const { engine } = open.database
  const restoreIn = async (tx: Transaction): Promise<number> => {
    const { db } = tx
    const applied = await appliedMigrations(db)
    if (applied.length > 0 && !(await hasNoRows(db))) {
      throw new OperatorError('the database is not empty: a backup is restored into a new one')
    }
    if (applied.length > header.migrations.length) {
      throw new OperatorError('the database has newer tables than the backup: restore it into a new one')
    }
    await migrateTo(db, existing(header.migrations.at(-1)))
    let count = 0
    await unpack(file, async (chunks) => {
      count = await load(db, engine, header, fromText(chunks))
    })
    await migrate(db)
    await learnTables(db, engine)
    await finish(tx)
    return count
  }
  return open.withConnection(async (db) => {
    const count = await inBareTransaction(db, engine, restoreIn)
    await makeLaterIndexes(db)
    return count
  })
}

async function load(
  db: Connection,
  engine: Engine,
  header: Header,
  pieces: AsyncIterable<Piece>,
): Promise<number> {
  let current: { table: string; columns: string[] } | undefined
  let waiting: Value[][] = []
  let count = 0
  const flush = async () => {
    if (current === undefined || waiting.length === 0) return
    await insertRows(db, current.table, current.columns, waiting)
    count += waiting.length
    waiting = []
  }
  for await (const piece of pieces) {
    if ('header' in piece) {
      // The key was chosen for the header that was read first.
      if (!isDeepStrictEqual(piece.header, header)) {
        throw new OperatorError('the file was replaced by another backup while it was read')
      }
    } else if ('table' in piece) {
      await flush()
      current = piece
    } else if ('row' in piece) {
      waiting.push(piece.row)
      if (waiting.length >= rowsAtOnce(current?.table ?? '')) await flush()
    } else if ('end' in piece) {
      await flush()
      if (piece.end.rows !== count) throw new OperatorError('the backup is incomplete: rows are missing')
    }
  }
  for (const table of countedTables) await continueCounting(db, engine, table)
  return count
}

async function unpack(file: string, work: (chunks: AsyncIterable<Buffer>) => Promise<void>): Promise<void> {
  try {
    await pipeline(createReadStream(file), decompressor(), work)
  } catch (error) {
    throw readProblem(error, file)
  }
}

/** Turns errors of the decompressor and the system into text for the operator; returns any other error unchanged. */
function readProblem(error: unknown, file: string): unknown {
  const code = codeOf(error) ?? ''
  if (code === 'ZSTD_error_prefix_unknown') return new OperatorError(`${file} is not a backup of Purser`)
  if (code === 'Z_BUF_ERROR') return new OperatorError(`the backup ${file} is incomplete: it ends too early`)
  if (code.startsWith('ZSTD_')) return new OperatorError(`the backup ${file} is damaged: ${reasonOf(error)}`)
  return /^E[A-Z]+$/.test(code)
    ? new OperatorError(`cannot read the backup ${file}: ${reasonOf(error)}`)
    : error
}
