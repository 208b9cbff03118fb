import type { Kysely } from 'kysely'
import { DatabaseError, type QueryResult } from 'pg'
import { oneStatement } from './alike-statements.ts'
import { BeforeCommit, type LastWork } from './before-commit.ts'
import { Changes } from './changes.ts'
import { assertOpen, type Sparing, type Transaction, type Work } from './database.ts'
import { kyselyOver } from './connection-driver.ts'
import { rowsOf } from './driver-values.ts'
import { changesRows, locksRows, resultOf, type PostgresConnection } from './postgres-connection.ts'
import { isAnswer, isAway, UnknownOutcomeError } from './postgres-errors.ts'
import type { ReadRecord, ReplayedRead } from './postgres-replay.ts'
import type { PreparedQuery, Values } from './prepared.ts'
import type { Tables } from './tables.ts'

/** What a transaction, or a part of one, starts with. */
type Given = {
  readonly record?: ReadRecord
  /** Rows that were read before. They count until something was changed or locked. */
  readonly ahead?: ReplayedRead
  /** See Transaction. */
  readonly beside?: number
  readonly together?: number | undefined
  /** No other write shares the transaction. */
  readonly isAlone?: boolean
}

/** Runs `work` and returns its result as a function, to be called after the commit. */
export async function runWhole<T>(
  connection: PostgresConnection,
  mode: 'read' | 'write',
  work: Work<T>,
  given?: Given,
): Promise<() => T> {
  return run(new PostgresTransaction(connection, mode, { ...given, isAlone: true }), work)
}

async function run<T>(tx: PostgresTransaction, work: Work<T>): Promise<() => T> {
  try {
    const value = await work(tx)
    await tx.finish()
    return () => {
      tx.committed()
      return value
    }
  } finally {
    await tx.end()
  }
}

/**
 * Runs one of several writes of a transaction. Returns its result or failure as a function, to be called after the commit:
 * also a failure may be due to another write. Throws if the transaction is lost, or if the write failed after it had
 * changed something: a savepoint for each write would cost more than to run all of them again in that rare case.
 */
export async function runPart<T>(connection: PostgresConnection, work: Work<T>, given?: Given) {
  const tx = new PostgresTransaction(connection, 'write', given)
  try {
    return { hasFailed: false, outcome: await run(tx, work) }
  } catch (error) {
    if (tx.isChanged || error instanceof DatabaseError || isAway(error)) throw error
    const outcome = (): T => {
      throw error
    }
    return { hasFailed: true, outcome }
  }
}

/** Does what the writes of the transaction have left to do. */
export async function finish(connection: PostgresConnection): Promise<void> {
  const { beforeCommit } = connection
  if (!beforeCommit.isEmpty) await runWhole(connection, 'write', (tx) => beforeCommit.run(tx))
}

/** If a commit is cut off, or holds on this server only, its outcome is unknown: throws UnknownOutcomeError. */
export async function commit(connection: PostgresConnection): Promise<void> {
  const { client } = connection
  const { warnings } = client
  const { command } = await connection.query('commit').catch((error: unknown) => {
    throw isAnswer(error) ? error : new UnknownOutcomeError(error)
  })
  if (client.warnings !== warnings) throw new UnknownOutcomeError('it was committed on one server only')
  if (command !== 'COMMIT')
    throw new Error('a transaction was committed after one of its statements had failed')
}

class PostgresTransaction implements Transaction {
  readonly engine = 'postgres'
  readonly mode: 'read' | 'write'
  readonly beside: number | undefined
  readonly together: number | undefined
  readonly #connection: PostgresConnection
  readonly #record: ReadRecord | undefined
  readonly #beforeCommit = new BeforeCommit()
  readonly #afterCommit: (() => void)[] = []
  readonly #ahead: ReplayedRead | undefined
  readonly #isAlone: boolean
  #finishing: Promise<void> | undefined
  readonly #changes = new Changes()
  #locks = 0
  #db: Kysely<Tables> | undefined
  #isOpen = true

  constructor(
    connection: PostgresConnection,
    mode: 'read' | 'write',
    { record, ahead, beside, together, isAlone = false }: Given = {},
  ) {
    this.#connection = connection
    this.#record = record
    this.#ahead = ahead
    this.mode = mode
    this.beside = beside
    this.together = together
    this.#isAlone = isAlone
  }

  get db(): Kysely<Tables> {
    assertOpen(this.#isOpen)
    this.#record?.giveUp()
    // Its own, because the changes of a part are not those of the parts beside it.
    return (this.#db ??= kyselyOver(
      async (query) => resultOf(await this.#note(query.sql, () => this.#connection.execute(query))),
      'postgres',
    ))
  }

  /** Whether rows may have been changed. */
  get isChanged(): boolean {
    return this.#changes.isAny
  }

  /** Rows are read anew after a change, and once a row lock is taken: others may have changed them before. */
  get #knowsRows(): boolean {
    return !this.isChanged && this.#locks === 0
  }

  async all<V extends Values, Row>(
    query: PreparedQuery<V, Row>,
    values: V,
    sparing?: Sparing,
  ): Promise<Row[]> {
    assertOpen(this.#isOpen)
    const known = this.#knowsRows ? this.#ahead?.find(query, values) : undefined
    if (known !== undefined) {
      sparing?.spare(query, values)
      return known
    }
    const result = await this.#run(query, values)
    this.#record?.note(query, values, result)
    return rowsOf<Row>(result.rows)
  }

  async send<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<void> {
    assertOpen(this.#isOpen)
    this.#connection.send(this.#run(query, values))
  }

  #run<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<QueryResult> {
    return this.#note(query.sql('postgres'), () =>
      query.many === undefined
        ? this.#connection.query(oneStatement(query, values))
        : this.#connection.alike.add(query, values),
    )
  }

  #note(text: string, run: () => Promise<QueryResult>): Promise<QueryResult> {
    const running = run()
    if (locksRows(text)) {
      this.#locks += 1
      // Work that goes on beside it may fail first when it fails, and would not say why.
      this.#connection.send(running)
    }
    return changesRows(text) ? this.#changes.note(running) : running
  }

  async repeat<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<void> {
    await this.#run(query, values)
  }

  async first<V extends Values, Row>(
    query: PreparedQuery<V, Row>,
    values: V,
    sparing?: Sparing,
  ): Promise<Row | undefined> {
    return (await this.all(query, values, sparing))[0]
  }

  beforeCommit<Item>(work: LastWork<Item>, items: readonly Item[]): void {
    assertOpen(this.#isOpen)
    if (this.#finishing !== undefined) throw new Error('the transaction has done its last work')
    this.#beforeCommit.add(work, items)
  }

  noMoreChanges(): void {
    if (!this.#isAlone) return
    this.#finishing = this.#beforeCommit.run(this)
    // If the work fails before it is done, `finish` is not called.
    this.#finishing.catch(() => {})
  }

  /** To be called when its work is done. Without `noMoreChanges`, the connection runs what is left for all writes together. */
  async finish(): Promise<void> {
    if (this.#finishing === undefined) this.#connection.beforeCommit.addAll(this.#beforeCommit)
    else await this.#finishing
  }

  afterCommit(work: () => void): void {
    assertOpen(this.#isOpen)
    this.#afterCommit.push(work)
  }

  /** To be called when the commit is done. */
  committed(): void {
    for (const work of this.#afterCommit) work()
  }

  /** Waits until nothing runs any more that `noMoreChanges` began. */
  async end(): Promise<void> {
    this.#isOpen = false
    await Promise.allSettled([this.#finishing])
  }
}
