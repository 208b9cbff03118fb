import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { Availability } from './availability.ts'
import {
  assertOpen,
  type Database,
  type DatabaseOptions,
  type Load,
  type TransactionOptions,
  type Work,
} from './database.ts'
import { KnownRows } from './known-rows.ts'
import { LaterReads } from './later-reads.ts'
import { setMeta } from './meta-store.ts'
import { ReadThreadError } from './read-thread-client.ts'
import { SlowReads } from './slow-reads.ts'
import { openConnection, type Checkpoint, type SqliteConnection } from './sqlite-connection.ts'
import { isBusy, isDiskFailure, noTransaction, reportOutage, sqliteProblem } from './sqlite-errors.ts'
import { assertInPlace, idOfFile } from './sqlite-file.ts'
import { SqliteLog } from './sqlite-log.ts'
import { SqliteTransaction } from './sqlite-transaction.ts'
import type { Tables } from './tables.ts'
import { WaitingWrites, type WaitingWrite } from './waiting-writes.ts'

const MAX_BUSY_WAIT_MS = 10_000
/** How long reads may start within one turn of the event loop. */
const MAX_READING_MS = 10

/**
 * SQLite in WAL mode. Reads of one turn of the event loop share a transaction, which more than halves their cost.
 * Writes that wait share one commit, thus one fsync; a savepoint undoes each alone. A connection that failed at more
 * than a statement is dropped, because its state is unknown. The next transaction opens another, or ends with 503.
 */
export class SqliteDatabase implements Database {
  readonly engine = 'sqlite'
  /** Its probe is the smallest possible write: if it commits, others can. */
  readonly availability = new Availability(() => this.write((tx) => setMeta(tx, 'probe', randomUUID())))
  beforeBlocking?: () => void
  readonly #path: string
  readonly #isDurable: boolean
  readonly #fileId: string | undefined
  #writer: SqliteConnection | undefined
  #reader: SqliteConnection | undefined
  #known = new KnownRows()
  #snapshot: SqliteTransaction | undefined
  #snapshotSince = 0
  readonly #later = new LaterReads({ isFull: () => this.#isTurnFull(), end: () => this.#closeSnapshot() })
  readonly #jobs = new WaitingWrites<WaitingWrite>()
  readonly #slowReads: SlowReads
  readonly #log: SqliteLog
  #isWriting = false
  #isClosed = false
  /** After a failed sync the system may have dropped unwritten log pages: see #renewLog. */
  #isLogInDoubt = false

  constructor(path: string, options: DatabaseOptions = {}) {
    this.#path = path
    this.#isDurable = options.isDurable ?? true
    this.#slowReads = new SlowReads(path, options.slowReadMs)
    this.#log = new SqliteLog({
      slowReads: this.#slowReads,
      checkpoint: (mode) => this.#checkpoint(mode),
      isWriting: () => this.#isWriting,
    })
    // At start another process may be recovering the log after a crash. Nothing else runs yet, so waiting may block.
    this.#writer = this.#openWriter(MAX_BUSY_WAIT_MS)
    this.#fileId = idOfFile(path)
    this.#reader = this.#openReader()
  }

  get load(): Load {
    return { waiting: this.#jobs.count }
  }

  /** For migrations, backup and restore, which begin and commit themselves. Waiting for other processes blocks. */
  async withConnection<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    const writer = (this.#writer ??= this.#openWriter())
    // In files, because an index of a large table is sorted there.
    writer.execute(`pragma busy_timeout = ${MAX_BUSY_WAIT_MS}; pragma temp_store = file`)
    try {
      return await work(writer.db)
    } finally {
      writer.execute('pragma busy_timeout = 0; pragma temp_store = memory')
    }
  }

  read<T>(work: Work<T>, options: TransactionOptions = {}): Promise<T> {
    assertOpen(!this.#isClosed)
    if (options.isSlow === true) return this.#readSlowly(work, options)
    if (this.#later.isEmpty && !this.#isTurnFull()) return this.#readNow(work)
    return this.#later.add(() => this.#readNow(work), options.account)
  }

  #readNow<T>(work: Work<T>): Promise<T> {
    let snapshot: SqliteTransaction
    try {
      snapshot = this.#snapshot ??= this.#openSnapshot()
    } catch (error) {
      return Promise.reject(this.#reported(noTransaction(error)))
    }
    return work(snapshot)
  }

  /** Whether this turn's reads have taken long enough: many expensive reads in one turn would block everything else. */
  #isTurnFull(): boolean {
    return this.#snapshot !== undefined && performance.now() - this.#snapshotSince > MAX_READING_MS
  }

  async #readSlowly<T>(work: Work<T>, { account, organizationId = '' }: TransactionOptions): Promise<T> {
    try {
      return await this.#slowReads.read(work, account ?? organizationId)
    } catch (error) {
      if (error instanceof ReadThreadError) {
        this.availability.warn(error, 'a slow read was given up with its thread')
      }
      throw this.#problem(error)
    }
  }

  /** The snapshot of all reads in this turn. They await only their queries, so they end within the turn. */
  #openSnapshot(): SqliteTransaction {
    const reader = (this.#reader ??= this.#openReader())
    try {
      this.#known.forgetUnless(reader.beginReading())
    } catch (error) {
      this.#dropReader()
      throw error
    }
    this.#snapshotSince = performance.now()
    setImmediate(() => this.#closeSnapshot())
    return new SqliteTransaction(reader, this.#known)
  }

  write<T>(work: Work<T>, options: TransactionOptions = {}): Promise<T> {
    assertOpen(!this.#isClosed)
    return new Promise<T>((resolve, reject) => {
      const job: WaitingWrite = { work: (tx) => work(tx).then((value) => () => resolve(value)), reject }
      this.#jobs.add(job, options.account)
      if (!this.#isWriting) {
        this.#isWriting = true
        // Wait until the next turn, so that all writes arriving in this one are committed together.
        setImmediate(() => void this.#writeWaitingJobs())
      }
    })
  }

  async close(): Promise<void> {
    this.availability.close()
    while (this.#isWriting || !this.#later.isEmpty) await nextTurn()
    this.#isClosed = true
    this.#closeSnapshot()
    await this.#slowReads.close()
    this.#reader?.close()
    this.#writer?.close()
  }

  async #writeWaitingJobs(): Promise<void> {
    while (this.#jobs.count > 0) {
      this.beforeBlocking?.()
      await this.#commit(this.#jobs.ofOneCommit())
      // Between two commits, send answers and let reads run.
      await nextTurn()
      this.#log.shorten()
    }
    this.#isWriting = false
  }

  async #commit(jobs: Iterable<WaitingWrite>): Promise<void> {
    const taken: WaitingWrite[] = []
    const settle: (() => void)[] = []
    try {
      const writer = await this.#begin()
      for (const job of jobs) {
        taken.push(job)
        settle.push(await this.#run(job, writer))
      }
      writer.commit()
    } catch (error) {
      this.#dropWriter(error)
      const problem = this.#problem(error)
      // If no transaction could begin, `jobs` still has all of them: each try may take seconds.
      for (const job of [...taken, ...jobs]) job.reject(problem)
      return
    }
    this.#closeSnapshot()
    for (const answer of settle) answer()
  }

  /** Throws only if the transaction is lost for all its jobs. */
  async #run(job: WaitingWrite, writer: SqliteConnection): Promise<() => void> {
    const tx = new SqliteTransaction(writer)
    writer.beginPart()
    try {
      const answer = await job.work(tx)
      await tx.finish()
      writer.commitPart()
      tx.afterCommit(answer)
      return () => tx.committed()
    } catch (error) {
      writer.undoPart()
      return () => job.reject(this.#problem(error))
    } finally {
      tx.end()
    }
  }

  /** Another process or the worker for states may hold the write lock: waits without blocking the event loop. */
  async #begin(): Promise<SqliteConnection> {
    const start = performance.now()
    for (;;) {
      try {
        assertInPlace(this.#path, this.#fileId)
        const writer = (this.#writer ??= this.#openWriter())
        if (this.#isLogInDoubt) this.#renewLog(writer)
        writer.beginWriting()
        return writer
      } catch (error) {
        if (!isBusy(error) || performance.now() - start > MAX_BUSY_WAIT_MS) {
          throw this.#reported(noTransaction(error))
        }
        await pause(1)
      }
    }
  }

  #openWriter(busyMs = 0): SqliteConnection {
    return openConnection(this.#path, { readOnly: false, busyMs }, (writer) => {
      writer.execute('pragma journal_mode = wal')
      // FULL: an acknowledged write survives a power cut, not only a kill of the process.
      writer.execute(`pragma synchronous = ${this.#isDurable ? 'full' : 'normal'}`)
      // Off, because SQLite does not report failures of automatic checkpoints: see SqliteLog.
      writer.execute('pragma wal_autocheckpoint = 0')
    })
  }

  #openReader(): SqliteConnection {
    // Errors are mapped here and not in `read`, which saves one promise for each read.
    const problem = (error: unknown) => this.#problem(error)
    return openConnection(this.#path, { readOnly: true, busyMs: 0, problem })
  }

  #dropReader(): void {
    this.#reader?.close()
    this.#reader = undefined
    // A new connection counts data_version differently, so cached rows are useless.
    this.#known = new KnownRows()
  }

  #dropWriter(reason: unknown): void {
    if (isDiskFailure(reason)) this.#isLogInDoubt = true
    this.#writer?.close()
    this.#writer = undefined
  }

  #checkpoint(mode: 'noop' | 'passive'): Checkpoint | undefined {
    try {
      return this.#writer?.checkpoint(mode)
    } catch (error) {
      this.#dropWriter(error)
      this.#problem(error)
      return undefined
    }
  }

  /**
   * After a failed sync the system may treat unwritten pages as written, so the next sync succeeds without them.
   * Commits that did not wait for the disk, and all based on them, could be lost in a power cut. So the whole log is
   * copied into the database file and synced there before the next commit.
   */
  #renewLog(writer: SqliteConnection): void {
    this.#closeSnapshot()
    const { busy } = writer.checkpoint('full')
    if (busy !== 0)
      throw Object.assign(new Error('another process reads from an older snapshot'), { errcode: 5 })
    this.#isLogInDoubt = false
  }

  #closeSnapshot(): void {
    if (this.#snapshot === undefined) return
    this.#snapshot.end()
    this.#snapshot = undefined
    try {
      this.#reader?.endReading()
    } catch {
      this.#dropReader()
    }
  }

  #problem(error: unknown): unknown {
    const problem = sqliteProblem(error)
    return problem === error ? error : this.#reported(problem)
  }

  #reported(outage: unknown): unknown {
    reportOutage(this.availability, outage)
    return outage
  }
}
