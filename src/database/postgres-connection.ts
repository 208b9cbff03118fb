import { createHash } from 'node:crypto'
import type { CompiledQuery, DatabaseConnection, Kysely, QueryResult } from 'kysely'
import { DatabaseError, type PoolClient, type QueryConfig, type QueryResult as PostgresResult } from 'pg'
import { kyselyOver } from './connection-driver.ts'
import { assertOpen, type Sparing, type Transaction } from './database.ts'
import { GENERIC_PLANS, NO_JIT, type PostgresClient } from './postgres-client.ts'
import { isAnswer, isAway, UnknownOutcomeError } from './postgres-errors.ts'
import { ReplayedRead, type ReadRecord } from './postgres-replay.ts'
import type { PreparedQuery } from './prepared.ts'
import type { ReadPlan } from './read-plans.ts'
import { asOne, type ReadAnswer } from './read-statement.ts'
import type { Tables } from './tables.ts'

/** A connection with its prepared statements. */
export class PostgresConnection implements DatabaseConnection {
  readonly client: PoolClient & PostgresClient
  readonly db: Kysely<Tables>
  /** Rows that were read at the beginning of the transaction. */
  ahead: ReplayedRead | undefined
  readonly #sent: Promise<unknown>[] = []

  constructor(client: PoolClient & PostgresClient) {
    this.client = client
    this.db = kyselyOver(this, 'postgres')
  }

  query(config: string | QueryConfig): Promise<PostgresResult> {
    return this.client.query(config)
  }

  /** Sends a statement and does not wait for it. If it fails, the transaction fails at its end. */
  send(config: string | QueryConfig): void {
    const sent = this.query(config)
    // The failure is thrown by `failureOfSent`.
    sent.catch(() => {})
    this.#sent.push(sent)
  }

  /** The failure that the server reported for a statement of `send`. Waits for their answers. */
  async failureOfSent(): Promise<Error | undefined> {
    const results = await Promise.allSettled(this.#sent)
    for (const result of results) {
      if (result.status === 'rejected' && isAnswer(result.reason)) return result.reason as Error
    }
    return undefined
  }

  endTransaction(): void {
    this.ahead = undefined
    this.#sent.length = 0
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.forgetUnlessRead(query.sql)
    const result = await this.query({ text: query.sql, values: [...query.parameters] })
    return { rows: result.rows as R[], numAffectedRows: BigInt(result.rowCount ?? 0) }
  }

  /** After a change, or once a row lock is taken, rows are read anew. */
  forgetUnlessRead(text: string): void {
    if (!text.startsWith('select') || text.includes('for update')) this.ahead = undefined
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not used')
  }
}

/**
 * A read sees one snapshot. A write runs read committed and takes row locks (see lockOrganization). The timeouts are in
 * the same message as begin: they cost no extra round trip, work through a pooler and end with the transaction.
 * lock_timeout is longer than the idle timeout: a waiter outlasts the lock of a node that lost its network.
 */
const begin = {
  read: 'begin isolation level repeatable read read only',
  write: 'begin isolation level read committed',
} as const
const timeouts = {
  read: "; set local statement_timeout = '20s'",
  write: `; set local statement_timeout = '20s'; set local lock_timeout = '6s'; set local idle_in_transaction_session_timeout = '4s'`,
} as const

/** @param hasPlan whether a plan is read with it, see readAhead */
export function beginText(mode: 'read' | 'write', isLong: boolean, hasPlan: boolean): string {
  const plans = hasPlan ? `; set local ${GENERIC_PLANS}` : ''
  return `${begin[mode]}; set local ${NO_JIT}${isLong ? '' : timeouts[mode]}${plans}`
}

const LOCK = { name: 'lock organization', text: 'select id from organizations where id = $1 for update' }

/** The beginning of a write, in one message: locks the organization, then reads what the request read before. */
export async function beginWrite(
  connection: PostgresConnection,
  organizationId: string | undefined,
  plan: ReadPlan | undefined,
): Promise<void> {
  const lock =
    organizationId === undefined ? undefined : connection.query({ ...LOCK, values: [organizationId] })
  // Both, so that no failure goes unhandled.
  await Promise.all([lock, plan === undefined ? undefined : readAhead(connection, plan)])
}

/** Reads what earlier requests read. To be sent with generic plans. */
export async function readAhead(connection: PostgresConnection, plan: ReadPlan): Promise<void> {
  const read = connection.query(asOne([plan.statement]))
  // Only for the plan: other statements of a write have long lists of values, or triggers that need other plans.
  const reset = connection.query('set local plan_cache_mode = auto')
  await Promise.all([read, reset])
  const answer = (await read).rows[0] as ReadAnswer | undefined
  if (answer !== undefined) connection.ahead = new ReplayedRead(plan, answer.steps)
}

/** Runs `work` and returns its result as a function, to be called after the commit. */
export async function runWhole<T>(
  connection: PostgresConnection,
  mode: 'read' | 'write',
  work: (tx: Transaction) => Promise<T>,
  record?: ReadRecord,
): Promise<() => T> {
  const tx = new PostgresTransaction(connection, mode, record)
  try {
    const value = await work(tx)
    return () => {
      tx.committed()
      return value
    }
  } finally {
    tx.end()
  }
}

/**
 * Runs one of several writes of a transaction. Returns its result or failure as a function, to be called after the commit:
 * also a failure may be due to a write before it. Throws if the transaction is lost.
 */
export async function runPart<T>(
  connection: PostgresConnection,
  work: (tx: Transaction) => Promise<T>,
  plan?: ReadPlan,
): Promise<() => T> {
  // The savepoint is not released: that would cost a message, and the commit ends all of them.
  connection.send(plan === undefined ? 'savepoint part' : `savepoint part; set local ${GENERIC_PLANS}`)
  if (plan !== undefined) await readAhead(connection, plan)
  try {
    return await runWhole(connection, 'write', work)
  } catch (error) {
    if (error instanceof DatabaseError || isAway(error)) throw error
    connection.ahead = undefined
    connection.send('rollback to savepoint part')
    return () => {
      throw error
    }
  }
}

/** If a commit is cut off, or holds on this server only, its outcome is unknown: throws UnknownOutcomeError. */
export async function commit({ client }: PostgresConnection): Promise<void> {
  const { warnings } = client
  const { command } = await client.query('commit').catch((error: unknown) => {
    throw isAnswer(error) ? error : new UnknownOutcomeError(error)
  })
  if (client.warnings !== warnings) throw new UnknownOutcomeError('it was committed on one server only')
  if (command !== 'COMMIT')
    throw new Error('a transaction was committed after one of its statements had failed')
}

const statementNames = new WeakMap<PreparedQuery<never, unknown>, string>()

/** PostgreSQL plans a named statement once per connection. */
function statementName(query: PreparedQuery<never, unknown>): string {
  let name = statementNames.get(query)
  if (name === undefined) {
    name = createHash('md5').update(query.sql('postgres')).digest('hex')
    statementNames.set(query, name)
  }
  return name
}

export class PostgresTransaction implements Transaction {
  readonly engine = 'postgres'
  readonly mode: 'read' | 'write'
  readonly #connection: PostgresConnection
  readonly #record: ReadRecord | undefined
  readonly #afterCommit: (() => void)[] = []
  #isOpen = true

  constructor(connection: PostgresConnection, mode: 'read' | 'write', record?: ReadRecord) {
    this.#connection = connection
    this.#record = record
    this.mode = mode
  }

  get db(): Kysely<Tables> {
    assertOpen(this.#isOpen)
    this.#record?.giveUp()
    return this.#connection.db
  }

  async all<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
    sparing?: Sparing,
  ): Promise<Row[]> {
    assertOpen(this.#isOpen)
    const known = this.#connection.ahead?.find(query, values)
    if (known !== undefined) {
      sparing?.spare(query, values)
      return known
    }
    const result = await this.#run(query, values)
    this.#record?.note(query, values, result)
    return result.rows as Row[]
  }

  async send<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<void> {
    assertOpen(this.#isOpen)
    this.#connection.send(this.#statement(query, values))
  }

  #run<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<PostgresResult> {
    return this.#connection.query(this.#statement(query, values))
  }

  #statement<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): QueryConfig {
    const text = query.sql('postgres')
    this.#connection.forgetUnlessRead(text)
    return { name: statementName(query), text, values: query.parameters('postgres', values) }
  }

  async repeat<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<void> {
    await this.#run(query, values)
  }

  async first<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
    sparing?: Sparing,
  ): Promise<Row | undefined> {
    return (await this.all(query, values, sparing))[0]
  }

  afterCommit(work: () => void): void {
    assertOpen(this.#isOpen)
    this.#afterCommit.push(work)
  }

  /** To be called when the commit is done. */
  committed(): void {
    for (const work of this.#afterCommit) work()
  }

  end(): void {
    this.#isOpen = false
  }
}
