import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { CompiledQuery, DatabaseConnection, Kysely, QueryResult } from 'kysely'
import { kyselyOver } from './connection-driver.ts'
import { assertOpen, type Database, type DatabaseOptions, type Transaction } from './database.ts'
import { KnownRows } from './known-rows.ts'
import type { PreparedQuery } from './prepared.ts'
import type { Tables } from './tables.ts'

const MAX_CACHED_STATEMENTS = 500
const MAX_JOBS_A_COMMIT = 64
const MAX_BUSY_WAIT_MS = 10_000

type KnownStatement = { statement: StatementSync; givesRows: boolean }

/** One connection with its statements. node:sqlite is synchronous, so a query is done when it returns. */
class SqliteConnection implements DatabaseConnection {
  readonly database: DatabaseSync
  readonly db: Kysely<Tables>
  readonly #statements = new Map<string, KnownStatement>()
  readonly #prepared = new Map<PreparedQuery<never, unknown>, StatementSync>()

  constructor(path: string, readOnly: boolean) {
    // No busy timeout: SQLite would wait asleep, with the event loop stopped. Waiting is done by `begin` below.
    this.database = new DatabaseSync(path, { readOnly, timeout: 0 })
    this.db = kyselyOver(this, 'sqlite')
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { statement, givesRows } = this.#statement(query.sql)
    const parameters = query.parameters as SQLInputValue[]
    if (givesRows) return { rows: statement.all(...parameters) as R[] }
    const { changes } = statement.run(...parameters)
    return { rows: [], numAffectedRows: BigInt(changes) }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not used')
  }

  all<Values extends Record<string, unknown>, Row>(query: PreparedQuery<Values, Row>, values: Values): Row[] {
    const parameters = query.parameters('sqlite', values) as SQLInputValue[]
    return this.#preparedStatement(query).all(...parameters) as Row[]
  }

  first<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Row | undefined {
    const parameters = query.parameters('sqlite', values) as SQLInputValue[]
    return this.#preparedStatement(query).get(...parameters) as Row | undefined
  }

  #preparedStatement(query: PreparedQuery<never, unknown>): StatementSync {
    let statement = this.#prepared.get(query)
    if (statement === undefined) {
      statement = this.database.prepare(query.sql('sqlite'))
      this.#prepared.set(query, statement)
    }
    return statement
  }

  /** A statement without parameters and rows: begin, commit and the like. */
  run(text: string): void {
    this.#statement(text).statement.run()
  }

  #statement(text: string): KnownStatement {
    let known = this.#statements.get(text)
    if (known === undefined) {
      const statement = this.database.prepare(text)
      known = { statement, givesRows: statement.columns().length > 0 }
      if (this.#statements.size >= MAX_CACHED_STATEMENTS) {
        const [oldest] = this.#statements.keys()
        this.#statements.delete(oldest as string)
      }
      this.#statements.set(text, known)
    }
    return known
  }
}

class SqliteTransaction implements Transaction {
  readonly engine = 'sqlite'
  readonly mode: 'read' | 'write'
  readonly #connection: SqliteConnection
  readonly #known: KnownRows | undefined
  #isOpen = true

  /** Without `known` it writes. */
  constructor(connection: SqliteConnection, known?: KnownRows) {
    this.#connection = connection
    this.#known = known
    this.mode = known === undefined ? 'write' : 'read'
  }

  get db(): Kysely<Tables> {
    assertOpen(this.#isOpen)
    return this.#connection.db
  }

  // Not async: what is there already is handed over with one promise and no more.
  // oxlint-disable-next-line typescript/promise-function-async
  all<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<Row[]> {
    return Promise.resolve(this.#all(query, values))
  }

  // oxlint-disable-next-line typescript/promise-function-async
  first<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<Row | undefined> {
    return Promise.resolve(this.#first(query, values))
  }

  #all<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Row[] {
    assertOpen(this.#isOpen)
    const known = this.#known
    const value = known === undefined ? undefined : query.onlyValue('sqlite', values)
    if (known === undefined || value === undefined) return this.#connection.all(query, values)
    return known.list(query, value) ?? known.keepList(query, value, this.#connection.all(query, values))
  }

  #first<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Row | undefined {
    assertOpen(this.#isOpen)
    const known = this.#known
    const value = known === undefined ? undefined : query.onlyValue('sqlite', values)
    if (known === undefined || value === undefined) return this.#connection.first(query, values)
    const row = known.get(query, value)
    return row === undefined
      ? known.keep(query, value, this.#connection.first(query, values))
      : (row ?? undefined)
  }

  end(): void {
    this.#isOpen = false
  }
}

type Job = {
  work: (tx: Transaction) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (reason: unknown) => void
}

/**
 * SQLite in WAL mode. Reads of one turn of the event loop share one read transaction (a read costs less than half inside
 * one); writes that wait together share one commit, thus one fsync, each undone alone by its savepoint.
 */
export class SqliteDatabase implements Database {
  readonly engine = 'sqlite'
  readonly #writer: SqliteConnection
  readonly #reader: SqliteConnection
  readonly #dataVersion: StatementSync
  readonly #known = new KnownRows()
  #snapshot: SqliteTransaction | undefined
  #jobs: Job[] = []
  #isWriting = false
  #isClosed = false

  constructor(path: string, { isDurable = true }: DatabaseOptions = {}) {
    this.#writer = new SqliteConnection(path, false)
    // At the start, another process may be mending the log after a crash: then waiting asleep does no harm.
    this.#writer.database.exec(`pragma busy_timeout = ${MAX_BUSY_WAIT_MS}`)
    this.#writer.database.exec('pragma journal_mode = wal')
    // FULL: an acknowledged write survives a power cut, not only a kill.
    this.#writer.database.exec(`pragma synchronous = ${isDurable ? 'full' : 'normal'}`)
    this.#writer.database.exec('pragma cache_size = -16000')
    // Pages that many commits change are copied out of the log once.
    this.#writer.database.exec('pragma wal_autocheckpoint = 4000')
    this.#reader = new SqliteConnection(path, true)
    this.#reader.database.exec('pragma cache_size = -16000')
    this.#writer.database.exec('pragma busy_timeout = 0')
    this.#dataVersion = this.#reader.database.prepare('pragma data_version')
  }

  /** For migrations and backup, which need the bare connection. */
  get connection(): { db: Kysely<Tables>; database: DatabaseSync } {
    return this.#writer
  }

  read<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    assertOpen(!this.#isClosed)
    return work((this.#snapshot ??= this.#openSnapshot()))
  }

  /** For all reads that begin in this turn: they await nothing but their queries, so they end in it. */
  #openSnapshot(): SqliteTransaction {
    this.#reader.run('begin')
    this.#known.forgetUnless(this.#dataVersion.get()?.data_version as number)
    setImmediate(() => this.#closeSnapshot())
    return new SqliteTransaction(this.#reader, this.#known)
  }

  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    assertOpen(!this.#isClosed)
    return new Promise<T>((resolve, reject) => {
      this.#jobs.push({ work, resolve: resolve as Job['resolve'], reject })
      if (!this.#isWriting) {
        this.#isWriting = true
        // The next turn, so that all that arrived in this one commits together.
        setImmediate(() => void this.#writeWaitingJobs())
      }
    })
  }

  async close(): Promise<void> {
    while (this.#isWriting) await new Promise((resolve) => setImmediate(resolve))
    this.#isClosed = true
    this.#closeSnapshot()
    this.#reader.database.close()
    this.#writer.database.close()
  }

  async #writeWaitingJobs(): Promise<void> {
    while (this.#jobs.length > 0) {
      const jobs = this.#jobs.splice(0, MAX_JOBS_A_COMMIT)
      try {
        await this.#begin()
        const settle: (() => void)[] = []
        for (const job of jobs) settle.push(await this.#run(job))
        this.#writer.run('commit')
        this.#closeSnapshot()
        for (const answer of settle) answer()
      } catch (error) {
        if (this.#writer.database.isTransaction) this.#writer.database.exec('rollback')
        for (const job of jobs) job.reject(error)
      }
      // Answers leave, and readers come in, between two commits.
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#isWriting = false
  }

  async #run(job: Job): Promise<() => void> {
    const tx = new SqliteTransaction(this.#writer)
    this.#writer.run('savepoint job')
    try {
      const value = await job.work(tx)
      this.#writer.run('release job')
      return () => job.resolve(value)
    } catch (error) {
      this.#writer.database.exec('rollback to job; release job')
      return () => job.reject(error)
    } finally {
      tx.end()
    }
  }

  /** Another process, or the worker that stores states, may hold the write lock: wait for it awake. */
  async #begin(): Promise<void> {
    const start = performance.now()
    for (;;) {
      try {
        this.#writer.run('begin immediate')
        return
      } catch (error) {
        const isBusy = (error as { errcode?: number }).errcode === 5
        if (!isBusy || performance.now() - start > MAX_BUSY_WAIT_MS) throw error
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    }
  }

  #closeSnapshot(): void {
    if (this.#snapshot === undefined) return
    this.#snapshot.end()
    this.#snapshot = undefined
    this.#reader.run('commit')
  }
}
