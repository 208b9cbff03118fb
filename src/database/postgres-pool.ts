import { setTimeout as pause } from 'node:timers/promises'
import { Pool, type ClientConfig, type PoolClient } from 'pg'
import { afterPatience } from '../core/patience.ts'
import type { PostgresAddress } from './postgres-address.ts'
import { PostgresClient } from './postgres-client.ts'
import { beginText, PostgresConnection, type Kind } from './postgres-connection.ts'
import { DeadlineError, isAway, isStaleStatement, UnreachableError } from './postgres-errors.ts'
import { commit, finish } from './postgres-transaction.ts'

/** What a process has beside the pool: two for reads that are one statement, one for probes, three for uploads of states. */
const CONNECTIONS_OF_OTHERS = 6
const RETRY_PAUSE_MS = 20
/** A begin waits for no lock: without an answer the connection is broken. */
const BEGIN_TIMEOUT_MS = 1_000
const MAX_BEGINS = 3
/** After an outage, a connection silent for this long is lost. If only one was lost, busy ones get more time. */
const SILENCE_MS = 500
const SILENCE_AT_WORK_MS = 3_000
const SILENCE_AFTER_LOSS_MS = 1_000
const CLOSE_MS = 5_000
/** Longer than the statement timeouts, so that normally the server ends a slow transaction first. */
const DEADLINE_MS = 30_000
const LONG_DEADLINE_MS = 3_600_000

/** Runs transactions on connections. A broken connection is replaced. */
export class PostgresPool {
  readonly #address: PostgresAddress
  readonly #pool: Pool
  /** All connections of the pool, including those still connecting. */
  readonly #clients = new Set<PostgresClient>()
  readonly #connections = new WeakMap<PoolClient, PostgresConnection>()
  readonly #suspect: (error: unknown) => void

  /** @param suspect is told of each failed connection */
  constructor(address: PostgresAddress, size: number, suspect: (error: unknown) => void) {
    this.#address = address
    this.#suspect = suspect
    const clients = this.#clients
    class PooledClient extends PostgresClient {
      constructor(own?: ClientConfig) {
        super(own)
        clients.add(this)
        this.once('end', () => clients.delete(this))
      }
    }
    // A statement may be sent before the answer to the one before it.
    const options = { max: size, min: size, pipeline: true, Client: PooledClient }
    this.#pool = new Pool({ ...address.config, ...options })
    this.#pool.on('release', (_, client) => {
      if (client instanceof PostgresClient) client.isIdle = true
    })
    // An idle connection failed; the pool replaces it.
    this.#pool.on('error', suspect)
  }

  get connections(): { used: number; idle: number } {
    const { totalCount, idleCount } = this.#pool
    return { used: totalCount - idleCount, idle: idleCount }
  }

  /** Leaves some of all connections of the process to others. Returns how many are left to the pool. */
  limit(most: number): number {
    const { options } = this.#pool
    options.max = Math.min(options.max, Math.max(1, most - CONNECTIONS_OF_OTHERS))
    options.min = options.max
    return options.max
  }

  /** Opens all connections; they stay open. One that cannot be opened now is opened when it is needed. */
  async open(): Promise<void> {
    const opened = Array.from({ length: this.#pool.options.max }, () => this.#pool.connect())
    for (const one of await Promise.allSettled(opened)) if (one.status === 'fulfilled') one.value.release()
  }

  /**
   * Runs a transaction.
   *
   * @param sendBehind sends the first statements, in the same message as the beginning
   */
  async run<T, Behind>(
    kind: Kind,
    sendBehind: (connection: PostgresConnection) => Promise<Behind>,
    work: (connection: PostgresConnection, behind: Behind) => Promise<T>,
  ): Promise<T> {
    const { connection, behind } = await this.#begin(kind, sendBehind)
    const { client } = connection
    const deadline = setTimeout(
      () => client.cut(new DeadlineError('a transaction took too long')),
      kind.isLong === true ? LONG_DEADLINE_MS : DEADLINE_MS,
    )
    try {
      const value = await work(connection, await behind)
      if (kind.mode === 'read') {
        const ending = this.#endRead(connection, deadline)
        kind.onEnding?.(ending)
        return value
      }
      await finish(connection)
      await commit(connection)
      connection.endTransaction()
      client.release()
      clearTimeout(deadline)
      return value
    } catch (thrown) {
      // After a statement has failed, the ones behind it fail with an error that says less.
      const error = (await connection.failureOfSent()) ?? thrown
      connection.endTransaction()
      if (isStaleStatement(error)) this.cutIdle()
      if (isAway(error) || isStaleStatement(error)) client.release(true)
      else {
        await connection.query('rollback').then(
          () => client.release(),
          (broken: Error) => client.release(broken),
        )
      }
      clearTimeout(deadline)
      throw error
    }
  }

  /** The answer does not wait for this: a read has nothing to lose at its commit. */
  async #endRead(connection: PostgresConnection, deadline: NodeJS.Timeout): Promise<void> {
    const { client } = connection
    connection.endTransaction()
    try {
      await connection.query('commit')
      client.release()
    } catch (error) {
      this.#suspect(error)
      client.release(true)
    } finally {
      clearTimeout(deadline)
    }
  }

  /**
   * Opens a transaction, with the first statements in the same message. They lock and read only, so a broken connection is
   * simply replaced.
   */
  async #begin<Behind>(
    kind: Kind,
    sendBehind: (connection: PostgresConnection) => Promise<Behind>,
  ): Promise<{ connection: PostgresConnection; behind: Promise<Behind> }> {
    for (let attempt = 1; ; attempt++) {
      const connection = await this.connect().catch((error: unknown) => {
        // Cut while it was opened: the address leads elsewhere now.
        if (error instanceof DeadlineError && attempt < MAX_BEGINS) return undefined
        throw new UnreachableError(error)
      })
      if (connection === undefined) continue
      const { client } = connection
      const callOff = afterPatience(BEGIN_TIMEOUT_MS, () => {
        client.cut(lost())
        this.cutIdle()
        this.#cutSilentFor(SILENCE_AT_WORK_MS)
      })
      try {
        if (!client.isAdmitted) await this.#address.admit(client)
        const begun = connection.query(beginText(kind))
        connection.beginTransaction()
        const behind = sendBehind(connection)
        // If `begin` fails, so does what was sent behind it.
        behind.catch(() => {})
        await begun
        return { connection, behind }
      } catch (error) {
        client.release(true)
        if (attempt === MAX_BEGINS || !isAway(error)) throw error
        this.#suspect(error)
        // Idle connections that broke at the same time are removed from the pool meanwhile.
        await pause(RETRY_PAUSE_MS)
      } finally {
        callOff()
      }
    }
  }

  async connect(): Promise<PostgresConnection> {
    const client = await this.#pool.connect()
    if (!(client instanceof PostgresClient)) throw new Error('the pool has a client that is not its own')
    let connection = this.#connections.get(client)
    if (connection === undefined) {
      connection = new PostgresConnection(client)
      this.#connections.set(client, connection)
    }
    client.isIdle = false
    return connection
  }

  /** Other connections may have the same problem as one that failed. Idle ones are cheap to replace. */
  cutIdle(): void {
    for (const client of this.#clients) if (client.isIdle) client.cut(lost())
  }

  /** To be called when a connection got no answer although the server serves new ones: it may have lost others, too. */
  cutLost(): void {
    this.cutIdle()
    this.#cutSilentFor(SILENCE_AFTER_LOSS_MS)
  }

  /** Cuts the connections that an outage has silenced. */
  cutSilent(): void {
    this.#cutSilentFor(SILENCE_MS)
  }

  /** Cuts those that were opened before and are idle or silent, unless their server is known: it may be the one before. */
  cutUnknown(before: number): void {
    const isUnknown = ({ isAdmitted, openedAt }: PostgresClient) => !isAdmitted && openedAt < before
    for (const client of this.#clients) if (client.isIdle && isUnknown(client)) client.cut(lost())
    this.#cutSilentFor(SILENCE_MS, isUnknown)
  }

  /** Cuts connections that receive nothing for `ms`: the network lost them without an error. */
  #cutSilentFor(ms: number, isMeant: (client: PostgresClient) => boolean = () => true): void {
    const meant = [...this.#clients].filter(isMeant)
    const known = meant.map((client) => ({ client, bytesRead: client.bytesRead }))
    setTimeout(() => {
      for (const { client, bytesRead } of known) if (client.bytesRead === bytesRead) client.cut(lost())
    }, ms).unref()
  }

  /** Gives running transactions a moment to end. */
  async close(): Promise<void> {
    const cut = setTimeout(() => {
      for (const client of this.#clients) client.cut(new DeadlineError('the database was closed'))
    }, CLOSE_MS)
    await this.#pool.end()
    clearTimeout(cut)
  }
}

function lost(): DeadlineError {
  return new DeadlineError('a connection did not answer')
}
