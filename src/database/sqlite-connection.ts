import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { CompiledQuery, Kysely, QueryResult } from 'kysely'
import { existing } from '../core/existing.ts'
import { kyselyOver } from './connection-driver.ts'
import { inputsOf, rowOf, rowsOf } from './driver-values.ts'
import type { PreparedQuery } from './prepared.ts'
import type { Tables } from './tables.ts'

const MAX_CACHED_STATEMENTS = 500
const CACHE_KIB = 16_000
/** How long writes may block the event loop. Then reads get a turn; they see the state before. */
const MAX_BUSY_MS = 4

type ConnectionOptions = {
  readOnly: boolean
  /** How long a statement waits for other processes. The wait blocks the event loop. */
  busyMs: number
  /** Maps SQLite's error to the error that is thrown. */
  problem?: (error: unknown) => unknown
}

/** Pages of the log, and how many of them are copied. `busy` is 1 if others kept it from completing. */
export type Checkpoint = Record<'busy' | 'log' | 'checkpointed', number>

type KnownStatement = { statement: StatementSync; givesRows: boolean }

/** A connection with its statements. node:sqlite is synchronous, so a query is complete when the call returns. */
export class SqliteConnection {
  readonly db: Kysely<Tables>
  readonly #database: DatabaseSync
  readonly #problem: (error: unknown) => unknown
  readonly #statements = new Map<string, KnownStatement>()
  readonly #prepared = new Map<PreparedQuery<never, unknown>, StatementSync>()
  /** data_version of the current snapshot. */
  #dataVersion: number | undefined
  #isInTransaction = false
  /** Since when a write has blocked the event loop; undefined if there is none. */
  #busySince: number | undefined
  /**
   * Why SQLite rolled the transaction back by itself. Later statements of it must fail: they would be committed alone.
   */
  #lost: { reason: unknown } | undefined

  constructor(path: string, { readOnly, busyMs, problem = (error) => error }: ConnectionOptions) {
    this.#database = new DatabaseSync(path, { readOnly, timeout: busyMs })
    this.#problem = problem
    this.db = kyselyOver((query) => this.#execute(query), 'sqlite')
  }

  async #execute<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.mustGiveWay) await this.giveWay()
    this.#assertNotLost()
    try {
      const { statement, givesRows } = this.#statement(query.sql)
      const parameters = inputsOf(query.parameters)
      if (givesRows) return { rows: rowsOf<R>(statement.all(...parameters)) }
      const { changes } = statement.run(...parameters)
      return { rows: [], numAffectedRows: BigInt(changes) }
    } catch (error) {
      throw this.#afterFailure(error)
    }
  }

  all<Row>(query: PreparedQuery<never, Row>, parameters: readonly unknown[]): Row[] {
    this.#assertNotLost()
    try {
      return rowsOf<Row>(this.#preparedStatement(query).all(...inputsOf(parameters)))
    } catch (error) {
      throw this.#afterFailure(error)
    }
  }

  first<Row>(query: PreparedQuery<never, Row>, parameters: readonly unknown[]): Row | undefined {
    this.#assertNotLost()
    try {
      return rowOf<Row>(this.#preparedStatement(query).get(...inputsOf(parameters)))
    } catch (error) {
      throw this.#afterFailure(error)
    }
  }

  /** Whether the writes of this turn have blocked the event loop for too long. */
  get mustGiveWay(): boolean {
    return this.#busySince !== undefined && performance.now() - this.#busySince > MAX_BUSY_MS
  }

  async giveWay(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    this.#busySince = performance.now()
  }

  /** Runs statements without parameters and results. */
  execute(text: string): void {
    this.#database.exec(text)
  }

  /** Copies pages from the log to the database file. `busy` is 1 if it could not complete in this mode. */
  checkpoint(mode: 'noop' | 'passive' | 'full'): Checkpoint {
    return this.#numbers(`pragma wal_checkpoint(${mode})`)
  }

  beginWriting(): void {
    this.#run('begin immediate')
    this.#isInTransaction = true
    this.#busySince = performance.now()
  }

  /** Returns a number that changes when another connection commits. */
  beginReading(): number {
    this.#run('begin')
    this.#isInTransaction = true
    this.#dataVersion = this.#findDataVersion()
    return this.#dataVersion
  }

  commit(): void {
    this.#assertNotLost()
    this.#run('commit')
    this.#isInTransaction = false
    this.#busySince = undefined
  }

  /** Ends a transaction that wrote nothing. */
  endReading(): void {
    if (this.#database.isTransaction) this.#run('commit')
    this.#isInTransaction = false
    this.#busySince = undefined
    this.#lost = undefined
  }

  beginPart(): void {
    this.#assertNotLost()
    this.#run('savepoint part')
  }

  commitPart(): void {
    this.#assertNotLost()
    this.#run('release part')
  }

  undoPart(): void {
    this.#assertNotLost()
    this.#run('rollback to part')
    this.#run('release part')
  }

  /** If closing fails, the garbage collector closes the connection. */
  close(): void {
    try {
      this.#database.close()
    } catch {
      // The reason for closing was already reported.
    }
  }

  /** If disk or memory fails, SQLite rolls back everything. A read may go on if its snapshot is still the newest. */
  #afterFailure(error: unknown): unknown {
    const reason = this.#problem(error)
    if (this.#isInTransaction && !this.#database.isTransaction && !this.#hasSnapshotAgain()) {
      this.#lost = { reason }
    }
    return reason
  }

  #hasSnapshotAgain(): boolean {
    if (this.#dataVersion === undefined) return false
    try {
      this.#run('begin')
      return this.#findDataVersion() === this.#dataVersion
    } catch {
      return false
    }
  }

  #assertNotLost(): void {
    if (this.#lost !== undefined) throw this.#lost.reason
  }

  #findDataVersion(): number {
    return this.#numbers<'data_version'>('pragma data_version').data_version
  }

  /** The first row of a pragma. */
  #numbers<Column extends string>(text: string): Record<Column, number> {
    return existing(rowOf<Record<Column, number>>(this.#statement(text).statement.get()))
  }

  #run(text: string): void {
    this.#statement(text).statement.run()
  }

  #preparedStatement(query: PreparedQuery<never, unknown>): StatementSync {
    let statement = this.#prepared.get(query)
    if (statement === undefined) {
      statement = this.#database.prepare(query.sql('sqlite'))
      this.#prepared.set(query, statement)
    }
    return statement
  }

  #statement(text: string): KnownStatement {
    let known = this.#statements.get(text)
    if (known === undefined) {
      const statement = this.#database.prepare(text)
      known = { statement, givesRows: statement.columns().length > 0 }
      if (this.#statements.size >= MAX_CACHED_STATEMENTS) {
        const [oldest] = this.#statements.keys()
        this.#statements.delete(existing(oldest))
      }
      this.#statements.set(text, known)
    }
    return known
  }
}

/** Opens and prepares a connection; closes it again if that fails. */
export function openConnection(
  path: string,
  options: ConnectionOptions,
  prepare: (connection: SqliteConnection) => void = () => {},
): SqliteConnection {
  const connection = new SqliteConnection(path, options)
  try {
    connection.execute(`pragma cache_size = -${CACHE_KIB}`)
    // What a savepoint would undo fills a file from 64 KiB on, in a folder of the system that may be full.
    connection.execute('pragma temp_store = memory')
    prepare(connection)
    // From now on SqliteDatabase does the waiting, without blocking the event loop.
    connection.execute('pragma busy_timeout = 0')
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}
