import { setTimeout as pause } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { Pool, types, type ClientConfig, type PoolClient } from 'pg'
import { afterPatience } from '../core/patience.ts'
import { Availability } from './availability.ts'
import type { Database, DatabaseOptions, Transaction, TransactionOptions } from './database.ts'
import { PostgresClient } from './postgres-client.ts'
import {
  beginText,
  beginWrite,
  commit,
  PostgresConnection,
  PostgresTransaction,
} from './postgres-connection.ts'
import {
  DeadlineError,
  isAway,
  isStarting,
  isBusy,
  isStaleStatement,
  isWorthRetrying,
  outcomeOf,
  UnreachableError,
} from './postgres-errors.ts'
import { PostgresPipeline } from './postgres-pipeline.ts'
import { ReadRecord, Replays, type NamedRead } from './postgres-replay.ts'
import { PostgresProbe } from './postgres-probe.ts'
import type { Tables } from './tables.ts'
import { Turns } from './turns.ts'
import { databaseUnavailable } from './unavailable.ts'

const MAX_CONNECTIONS = 10
const MAX_TRIES = 8
const RETRY_PAUSE_MS = 20
const CONNECT_TIMEOUT_MS = 3_000
const KEEP_ALIVE_MS = 10_000
/** A begin waits for no lock: without an answer the connection is broken. */
const BEGIN_TIMEOUT_MS = 1_000
const MAX_BEGINS = 3
/** Longer than the statement timeouts, so that normally the server ends a slow transaction first. */
const DEADLINE_MS = 30_000
const LONG_DEADLINE_MS = 3_600_000
/** After an outage, a connection silent for this long is lost. If only one was lost, busy ones get more time. */
const SILENCE_MS = 500
const SILENCE_AT_WORK_MS = 3_000
/** Pause between attempts to reach a server. */
const WAIT_MS = 500
const CLOSE_MS = 5_000

// pg returns count(*) and bigint as text by default; our numbers stay below 2^53.
types.setTypeParser(types.builtins.INT8, Number)

type Asked = {
  readonly isLong: boolean
  readonly organizationId: string | undefined
  readonly named: NamedRead | undefined
}

export class PostgresDatabase implements Database {
  readonly engine = 'postgres'
  readonly availability: Availability
  readonly #pool: Pool
  readonly #probe: PostgresProbe
  readonly #turns: Turns
  readonly #pipeline: PostgresPipeline
  readonly #replays: Replays
  /** All connections of the pool, including those still connecting. */
  readonly #clients = new Set<PostgresClient>()
  readonly #connections = new WeakMap<PoolClient, PostgresConnection>()

  constructor(url: string, { connections = MAX_CONNECTIONS }: DatabaseOptions = {}) {
    const config: ClientConfig = {
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'purser',
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    }
    this.#probe = new PostgresProbe(config)
    this.#pipeline = new PostgresPipeline(config)
    this.#replays = new Replays(this.#pipeline)
    this.availability = new Availability(
      (signal) => this.#probe.look(signal),
      () => this.#cutSilent(SILENCE_MS),
    )
    this.#turns = new Turns(connections)
    const clients = this.#clients
    class PooledClient extends PostgresClient {
      constructor(own?: ClientConfig) {
        super(own)
        clients.add(this)
        this.once('end', () => clients.delete(this))
      }
    }
    // A statement may be sent before the answer to the one before it.
    const options = { max: connections, min: connections, pipeline: true, Client: PooledClient }
    this.#pool = new Pool({ ...config, ...options })
    this.#pool.on('release', (_, client) => ((client as PoolClient & PostgresClient).isIdle = true))
    // An idle connection failed; the pool replaces it.
    this.#pool.on('error', (error) => this.availability.suspect(error))
  }

  read<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#inTurn('read', work, options)
  }

  write<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#inTurn('write', work, options)
  }

  /** Waits while the server is away or starting. If the server refuses, waiting would not help: throws at once. */
  async untilReachable(seconds: number, onWait: () => void): Promise<void> {
    const end = performance.now() + seconds * 1_000
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await this.withConnection(async () => {})
      } catch (error) {
        if (!isStarting(error) || performance.now() > end) throw error
        if (isFirst) onWait()
        await pause(WAIT_MS)
      }
    }
  }

  /** Opens all connections; they stay open. One that cannot be opened now is opened when it is needed. */
  async openConnections(): Promise<void> {
    const opened = Array.from({ length: this.#pool.options.max }, () => this.#pool.connect())
    await this.#pipeline.open()
    for (const one of await Promise.allSettled(opened)) if (one.status === 'fulfilled') one.value.release()
  }

  /** One connection for the whole of `work`, which begins and commits itself: for migrations. */
  async withConnection<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    const { client, db } = await this.#connect()
    let failure: unknown
    try {
      return await work(db)
    } catch (error) {
      failure = error
      throw error
    } finally {
      client.release(isAway(failure))
    }
  }

  /** Gives running transactions a moment to end. */
  async close(): Promise<void> {
    this.availability.close()
    this.#probe.close()
    this.#pipeline.close()
    const cut = setTimeout(() => {
      for (const client of this.#clients) client.cut(new DeadlineError('the database was closed'))
    }, CLOSE_MS)
    await this.#pool.end()
    clearTimeout(cut)
  }

  async #inTurn<T>(
    mode: 'read' | 'write',
    work: (tx: Transaction) => Promise<T>,
    { organizationId, caller, withoutToken, name, isLong = false }: TransactionOptions = {},
  ): Promise<T> {
    // Fail at once: otherwise many requests would wait for a server that does not answer.
    if (this.#probe.isUnreachable) throw databaseUnavailable(undefined)
    const named = caller === undefined || name === undefined ? undefined : { caller, name }
    const replayed = mode === 'read' && named && (await this.#replays.read(named, work))
    if (replayed) return replayed.value
    const end = await this.#turns.take({ mode, organizationId, caller, withoutToken })
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#transaction(mode, work, { isLong, organizationId, named })
        } catch (error) {
          const mayRepeat = isStaleStatement(error) || (mode === 'write' && isWorthRetrying(error))
          if (!mayRepeat || attempt === MAX_TRIES) throw error
        }
        await pause(RETRY_PAUSE_MS * attempt * Math.random())
      }
    } catch (error) {
      if (isAway(error)) this.availability.suspect(error)
      else if (isBusy(error)) this.availability.tooSlow(error)
      throw outcomeOf(error)
    } finally {
      end()
    }
  }

  async #transaction<T>(
    mode: 'read' | 'write',
    work: (tx: Transaction) => Promise<T>,
    { isLong, organizationId, named }: Asked,
  ): Promise<T> {
    const plan = mode === 'write' && named !== undefined ? this.#replays.find(named) : undefined
    const text = beginText(mode, isLong, plan !== undefined)
    const { connection, behind } = await this.#begin(text, async (begun) => {
      if (mode === 'write') await beginWrite(begun, organizationId, plan)
    })
    const { client } = connection
    const record = mode === 'read' && named !== undefined ? new ReadRecord() : undefined
    const tx = new PostgresTransaction(connection, mode, record)
    const deadline = setTimeout(
      () => client.cut(new DeadlineError('a transaction took too long')),
      isLong ? LONG_DEADLINE_MS : DEADLINE_MS,
    )
    try {
      await behind
      const value = await work(tx)
      connection.ahead = undefined
      await (mode === 'read' ? connection.query('commit') : commit(connection))
      client.release()
      tx.committed()
      if (named !== undefined && record !== undefined) this.#replays.keep(named, record)
      return value
    } catch (thrown) {
      connection.ahead = undefined
      // After a statement has failed, the ones behind it fail with an error that says less.
      const error = (await tx.failureOfSent()) ?? thrown
      if (isStaleStatement(error)) this.#cutIdle()
      if (isAway(error) || isStaleStatement(error)) client.release(true)
      else {
        await connection.query('rollback').then(
          () => client.release(),
          (broken: Error) => client.release(broken),
        )
      }
      throw error
    } finally {
      clearTimeout(deadline)
      tx.end()
    }
  }

  /**
   * Opens a transaction, with the first statements in the same message. They lock and read only, so a broken connection is
   * simply replaced.
   */
  async #begin(
    text: string,
    sendBehind: (connection: PostgresConnection) => Promise<void>,
  ): Promise<{ connection: PostgresConnection; behind: Promise<void> }> {
    for (let attempt = 1; ; attempt++) {
      const connection = await this.#connect().catch((error: unknown) => {
        throw new UnreachableError(error)
      })
      const { client } = connection
      const callOff = afterPatience(BEGIN_TIMEOUT_MS, () => {
        client.cut(lost())
        this.#cutIdle()
        this.#cutSilent(SILENCE_AT_WORK_MS)
      })
      try {
        const begun = connection.query(text)
        const behind = sendBehind(connection)
        // If `begin` fails, so does what was sent behind it.
        behind.catch(() => {})
        await begun
        return { connection, behind }
      } catch (error) {
        client.release(true)
        if (attempt === MAX_BEGINS || !isAway(error)) throw error
        this.availability.suspect(error)
        // Idle connections that broke at the same time are removed from the pool meanwhile.
        await pause(RETRY_PAUSE_MS)
      } finally {
        callOff()
      }
    }
  }

  async #connect(): Promise<PostgresConnection> {
    const client = (await this.#pool.connect()) as PoolClient & PostgresClient
    let connection = this.#connections.get(client)
    if (connection === undefined) {
      connection = new PostgresConnection(client)
      this.#connections.set(client, connection)
    }
    client.isIdle = false
    return connection
  }

  /** Other connections may have the same problem as one that failed. Idle ones are cheap to replace. */
  #cutIdle(): void {
    for (const client of this.#clients) if (client.isIdle) client.cut(lost())
  }

  /** Cuts connections that receive nothing for `ms`: the network lost them without an error. */
  #cutSilent(ms: number): void {
    const known = Array.from(this.#clients, (client) => ({ client, bytesRead: client.bytesRead }))
    setTimeout(() => {
      for (const { client, bytesRead } of known) if (client.bytesRead === bytesRead) client.cut(lost())
    }, ms).unref()
  }
}

function lost(): DeadlineError {
  return new DeadlineError('a connection did not answer')
}
