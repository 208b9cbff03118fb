import type { Kysely } from 'kysely'
import { assertOpen, type Transaction, type TransactionOptions } from './database.ts'
import { rowsOf } from './driver-values.ts'
import type { PreparedQuery } from './prepared.ts'
import { ReadThread } from './read-thread-client.ts'
import type { Tables } from './tables.ts'
import { Turns } from './turns.ts'
import { databaseUnavailable } from './unavailable.ts'

/** Each needs some 15 MB of memory. A caller uses one at most. Dry runs and lists of people use two at most. */
const MAX_THREADS = 3
/** As the deadline of a transaction on PostgreSQL. */
const DEADLINE_MS = 30_000

/**
 * Runs slow reads on SQLite in threads of their own: a statement on many rows would stop all other requests. Each read has
 * a snapshot of its own.
 */
export class SlowReads {
  readonly #path: string
  readonly #deadlineMs: number
  readonly #turns = new Turns(MAX_THREADS)
  readonly #threads = new Set<ReadThread>()
  readonly #idle: ReadThread[] = []

  constructor(path: string, deadlineMs = DEADLINE_MS) {
    this.#path = path
    this.#deadlineMs = deadlineMs
  }

  async read<T>(
    work: (tx: Transaction) => Promise<T>,
    { caller, organizationId }: TransactionOptions,
  ): Promise<T> {
    const end = await this.#turns.take(
      caller === undefined ? { mode: 'write', organizationId } : { mode: 'read', caller },
    )
    let thread: ReadThread | undefined
    try {
      thread = this.#takeThread()
      return await this.#readIn(thread, work)
    } finally {
      if (thread?.isUsable === true) this.#idle.push(thread)
      // A statement cannot be stopped, and goes on until it ends.
      if (thread?.isUsable === false) void thread.gone.then(end)
      else end()
    }
  }

  /** Ends the threads. Waits for those that are idle: the last connection to close takes the log into the file. */
  async close(): Promise<void> {
    for (const thread of this.#threads) thread.stop(databaseUnavailable(undefined))
    await Promise.all(this.#idle.map(({ gone }) => gone))
  }

  async #readIn<T>(thread: ReadThread, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const deadline = setTimeout(
      () => thread.stop(databaseUnavailable(undefined, 'the read took too long')),
      this.#deadlineMs,
    )
    const tx = new ThreadTransaction(thread)
    thread.begin()
    try {
      return await work(tx)
    } finally {
      clearTimeout(deadline)
      tx.end()
      thread.end()
    }
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

  async all<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<Row[]> {
    assertOpen(this.#isOpen)
    return rowsOf<Row>(await this.#thread.query(query.sql('sqlite'), query.parameters('sqlite', values)))
  }

  async first<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<Row | undefined> {
    return (await this.all(query, values))[0]
  }

  async repeat<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<void> {
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
