import { createHash } from 'node:crypto'
import type { CompiledQuery, DatabaseConnection, Kysely, QueryResult } from 'kysely'
import { Pool, types, type PoolClient } from 'pg'
import { kyselyOver } from './connection-driver.ts'
import { assertOpen, type Database, type DatabaseOptions, type Transaction } from './database.ts'
import type { PreparedQuery } from './prepared.ts'
import type { Tables } from './tables.ts'

const MAX_CONNECTIONS = 10
const MAX_TRIES = 8
const CONNECT_TIMEOUT_MS = 10_000

// count(*) and bigint columns come as text otherwise; none of ours passes 2^53.
types.setTypeParser(types.builtins.INT8, Number)

class PostgresConnection implements DatabaseConnection {
  readonly client: PoolClient
  readonly db: Kysely<Tables>

  constructor(client: PoolClient) {
    this.client = client
    this.db = kyselyOver(this, 'postgres')
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const result = await this.client.query(query.sql, [...query.parameters])
    return { rows: result.rows as R[], numAffectedRows: BigInt(result.rowCount ?? 0) }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not used')
  }
}

const statementNames = new WeakMap<PreparedQuery<never, unknown>, string>()

/** PostgreSQL plans a named statement once for each connection. */
function statementName(query: PreparedQuery<never, unknown>): string {
  let name = statementNames.get(query)
  if (name === undefined) {
    name = createHash('md5').update(query.sql('postgres')).digest('hex')
    statementNames.set(query, name)
  }
  return name
}

class PostgresTransaction implements Transaction {
  readonly engine = 'postgres'
  readonly mode: 'read' | 'write'
  readonly #connection: PostgresConnection
  #isOpen = true

  constructor(connection: PostgresConnection, mode: 'read' | 'write') {
    this.#connection = connection
    this.mode = mode
  }

  get db(): Kysely<Tables> {
    assertOpen(this.#isOpen)
    return this.#connection.db
  }

  async all<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<Row[]> {
    assertOpen(this.#isOpen)
    const result = await this.#connection.client.query({
      name: statementName(query),
      text: query.sql('postgres'),
      values: query.parameters('postgres', values),
    })
    return result.rows as Row[]
  }

  async first<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<Row | undefined> {
    return (await this.all(query, values))[0]
  }

  end(): void {
    this.#isOpen = false
  }
}

/** A read sees one snapshot; a write runs read committed and takes row locks (see lockOrganization). */
const begin = {
  read: 'begin isolation level repeatable read read only',
  write: 'begin isolation level read committed',
} as const

export class PostgresDatabase implements Database {
  readonly engine = 'postgres'
  readonly #pool: Pool
  readonly #connections = new WeakMap<PoolClient, PostgresConnection>()

  constructor(
    url: string,
    onError: (error: Error) => void,
    { connections = MAX_CONNECTIONS }: DatabaseOptions = {},
  ) {
    this.#pool = new Pool({
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'purser',
    })
    // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
    this.#pool.on('error', onError)
  }

  read<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#transaction('read', work)
  }

  async write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#transaction('write', work)
      } catch (error) {
        if (attempt === MAX_TRIES || !isWorthRetrying(error)) throw error
      }
    }
  }

  /** One connection for as long as `work` takes: migrations, which begin and commit by themselves. */
  async withConnection<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    try {
      return await work(this.#connection(client).db)
    } finally {
      client.release()
    }
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #transaction<T>(mode: 'read' | 'write', work: (tx: Transaction) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    const tx = new PostgresTransaction(this.#connection(client), mode)
    try {
      await client.query(begin[mode])
      const value = await work(tx)
      await client.query('commit')
      client.release()
      return value
    } catch (error) {
      await client.query('rollback').then(
        () => client.release(),
        (broken: Error) => client.release(broken),
      )
      throw error
    } finally {
      tx.end()
    }
  }

  #connection(client: PoolClient): PostgresConnection {
    let connection = this.#connections.get(client)
    if (connection === undefined) {
      connection = new PostgresConnection(client)
      this.#connections.set(client, connection)
    }
    return connection
  }
}

/** Serialization failure or deadlock: the transaction was undone whole and may run again. */
function isWorthRetrying(error: unknown): boolean {
  const code = (error as { code?: string }).code
  return code === '40001' || code === '40P01'
}
