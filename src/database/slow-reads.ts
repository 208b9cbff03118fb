import { setTimeout as pause } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { assertOpen, type Transaction, type Work } from './database.ts'
import { rowsOf } from './driver-values.ts'
import type { PreparedQuery, Values } from './prepared.ts'
import { ReadThread } from './read-thread-client.ts'
import { SlowTurns } from './slow-turns.ts'
import type { Tables } from './tables.ts'

/** Each needs some 15 MB of memory. */
const MAX_THREADS = 3
/** As the deadline of a transaction on PostgreSQL. */
const DEADLINE_MS = 30_000
/** A statement that runs at the end may take longer. */
const MAX_CLOSE_MS = 1_000

/**
 * Runs slow reads on SQLite in threads of their own: a statement on many rows would stop all other requests. Each read has
 * a snapshot of its own.
 */
export class SlowReads {
  readonly #path: string
  readonly #deadlineMs: number
  readonly #turns = new SlowTurns(MAX_THREADS)
  readonly #threads = new Set<ReadThread>()
  readonly #idle: ReadThread[] = []

  constructor(path: string, deadlineMs = DEADLINE_MS) {
    this.#path = path
    this.#deadlineMs = deadlineMs
  }

  /** @param caller has one turn at a time */
  async read<T>(work: Work<T>, caller: string): Promise<T> {
    const end = await this.#turns.take(caller)
    let thread: ReadThread
    try {
      thread = this.#takeThread()
    } catch (error) {
      end()
      throw error
    }
    const deadline = setTimeout(() => thread.stop('the read took too long'), this.#deadlineMs)
    const tx = new ThreadTransaction(thread)
    thread.begin()
    try {
      return await work(tx)
    } finally {
      clearTimeout(deadline)
      tx.end()
      // A statement cannot be stopped: its thread and the turn are in use until it ends, also after the deadline.
      void thread.end().then((isUsable) => {
        if (isUsable) this.#idle.push(thread)
        end()
      })
    }
  }

  /** Waits until no slow read runs, and lets none begin until the returned function is called. */
  pause(): Promise<() => void> {
    return this.#turns.pause()
  }

  /** Ends the threads. Waits a moment for them: the last connection to close copies the log into the file. */
  async close(): Promise<void> {
    this.#turns.close()
    const threads = [...this.#threads]
    for (const thread of threads) thread.stop('the database is closed')
    const ended = Promise.all(threads.map(({ gone }) => gone))
    await Promise.race([ended, pause(MAX_CLOSE_MS, undefined, { ref: false })])
  }

  #takeThread(): ReadThread {
    const idle = this.#idle.pop()
    if (idle?.isUsable === true) return idle
    const thread = new ReadThread(this.#path)
    this.#threads.add(thread)
    void thread.gone.then(() => this.#threads.delete(thread))
    return thread
  }
}

/** A transaction of a read. It caches no rows, so it need not report spared queries. */
class ThreadTransaction implements Transaction {
  readonly engine = 'sqlite'
  readonly mode = 'read'
  readonly #thread: ReadThread
  #isOpen = true

  constructor(thread: ReadThread) {
    this.#thread = thread
  }

  get db(): Kysely<Tables> {
    assertOpen(this.#isOpen)
    return this.#thread.db
  }

  async all<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<Row[]> {
    assertOpen(this.#isOpen)
    return rowsOf<Row>(await this.#thread.query(query.sql('sqlite'), query.parameters('sqlite', values)))
  }

  async first<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<Row | undefined> {
    return (await this.all(query, values))[0]
  }

  async repeat<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<void> {
    await this.all(query, values)
  }

  async send(): Promise<void> {
    throw new Error('a read sends no statement of a write')
  }

  beforeCommit(): void {
    throw new Error('a read is not committed')
  }

  afterCommit(): void {
    throw new Error('a read is not committed')
  }

  end(): void {
    this.#isOpen = false
  }
}
