import { createHash } from 'node:crypto'
import type { CompiledQuery, DatabaseConnection, Kysely, QueryResult } from 'kysely'
import type { PoolClient, QueryConfig, QueryResult as PostgresResult } from 'pg'
import { kyselyOver } from './connection-driver.ts'
import { assertOpen, type Transaction } from './database.ts'
import type { PostgresClient } from './postgres-client.ts'
import type { ReadRecord } from './postgres-replay.ts'
import type { PreparedQuery } from './prepared.ts'
import type { Tables } from './tables.ts'

/** A connection with its prepared statements. */
export class PostgresConnection implements DatabaseConnection {
  readonly client: PoolClient & PostgresClient
  readonly db: Kysely<Tables>

  constructor(client: PoolClient & PostgresClient) {
    this.client = client
    this.db = kyselyOver(this, 'postgres')
  }

  query(config: string | QueryConfig): Promise<PostgresResult> {
    return this.client.query(config)
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const result = await this.query({ text: query.sql, values: [...query.parameters] })
    return { rows: result.rows as R[], numAffectedRows: BigInt(result.rowCount ?? 0) }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not used')
  }
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
  ): Promise<Row[]> {
    assertOpen(this.#isOpen)
    const result = await this.#connection.query({
      name: statementName(query),
      text: query.sql('postgres'),
      values: query.parameters('postgres', values),
    })
    this.#record?.note(query, values, result)
    return result.rows as Row[]
  }

  async repeat<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<void> {
    await this.all(query, values)
  }

  async first<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<Row | undefined> {
    return (await this.all(query, values))[0]
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
