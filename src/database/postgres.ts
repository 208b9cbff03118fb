import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import { types } from 'pg'
import { AppError } from '../core/errors.ts'
import { Availability } from './availability.ts'
import type { Database, DatabaseOptions, Load, TransactionOptions, Work } from './database.ts'
import { PostgresAddress } from './postgres-address.ts'
import { LOCK_ORGANIZATION, type Kind, type PostgresConnection } from './postgres-connection.ts'
import {
  isAway,
  isStarting,
  isBusy,
  isOrphaned,
  isStaleStatement,
  isWorthRetrying,
  outcomeOf,
  outcomeOfProbe,
  UnknownOutcomeError,
} from './postgres-errors.ts'
import { examineFitness, type Fitness } from './postgres-fitness.ts'
import { withoutTimeouts } from './postgres-client.ts'
import { PostgresPipeline } from './postgres-pipeline.ts'
import { PostgresPool } from './postgres-pool.ts'
import { ReadRecord, Replays, type NamedRead, type ReplayedRead } from './postgres-replay.ts'
import { PostgresProbe } from './postgres-probe.ts'
import { runWhole } from './postgres-transaction.ts'
import { runWithRiders } from './riders.ts'
import { settleFailed, SharedWrite } from './shared-write.ts'
import type { Outcomes } from './side-by-side.ts'
import type { Tables } from './tables.ts'
import { Turns, type Turn } from './turns.ts'
import { databaseUnavailable } from './unavailable.ts'
import { WriteGroups } from './write-groups.ts'

const MAX_CONNECTIONS = 10
const MAX_TRIES = 8
const RETRY_PAUSE_MS = 20
/** Pause between attempts to reach a server. */
const WAIT_MS = 500

// pg returns count(*) and bigint as text by default; our numbers stay below 2^53.
types.setTypeParser(types.builtins.INT8, Number)

type Mode = 'read' | 'write'

type Asked = Omit<Turn, 'shared'> &
  Pick<Kind, 'onEnding'> & { readonly isLong: boolean; readonly named: NamedRead | undefined }

/**
 * PostgreSQL. A read that a caller repeats runs as one statement. Writes of one organization that wait share one
 * transaction, thus one wait for the disk. If one fails after a change, each runs in a transaction of its own.
 */
export class PostgresDatabase implements Database {
  readonly engine = 'postgres'
  readonly availability: Availability
  readonly #address: PostgresAddress
  readonly #pool: PostgresPool
  readonly #probe: PostgresProbe
  readonly #turns: Turns
  readonly #pipeline: PostgresPipeline
  readonly #replays: Replays
  readonly #groups: WriteGroups

  constructor(url: string, { connections = MAX_CONNECTIONS }: DatabaseOptions = {}) {
    this.#address = new PostgresAddress(url, (openedAt) => this.#onMove(openedAt))
    this.#probe = new PostgresProbe(this.#address, () => this.#pool.cutLost())
    this.#pipeline = new PostgresPipeline(this.#address)
    this.#replays = new Replays(this.#pipeline)
    this.#pool = new PostgresPool(this.#address, connections, (error) => this.#suspect(error))
    this.availability = new Availability((signal) => this.#probe.look(signal), {
      // A server that answered all the time has lost no connection: one that is silent is at work.
      onBack: () => this.#probe.endSilence() && this.#pool.cutSilent(),
      outcomeOf: outcomeOfProbe,
    })
    this.#turns = new Turns(connections)
    this.#groups = new WriteGroups(this.#turns, this.#replays, this.#pool, {
      refuseUseless: () => this.#probe.refuseUseless('write'),
      onFailure: (error) => this.#noteShared(error),
    })
  }

  get load(): Load {
    const waiting = this.#turns.waiting + this.#groups.waiting + this.#replays.waiting
    return { waiting, connections: this.#pool.connections }
  }

  read<T>(work: Work<T>, options?: TransactionOptions): Promise<T> {
    return this.#run('read', work, options)
  }

  write<T>(work: Work<T>, options?: TransactionOptions): Promise<T> {
    return this.#run('write', work, options)
  }

  /** Waits while the server is away or starting. If the server refuses, waiting would not help: throws at once. */
  async untilReachable(seconds: number, onWait: () => void): Promise<void> {
    const end = performance.now() + seconds * 1_000
    for (let isFirst = true; ; isFirst = false) {
      try {
        const { client } = await this.#pool.connect()
        return client.release()
      } catch (error) {
        if (!isStarting(error) || performance.now() > end) throw databaseUnavailable(error)
        if (isFirst) onWait()
        await pause(WAIT_MS)
      }
    }
  }

  /** Changes nothing. */
  examine(): Promise<Fitness> {
    return this.#onConnection(({ client }) => examineFitness(client, this.#address.config))
  }

  /** Opens all connections; they stay open. @param most how many this process may have */
  async openConnections(most: number): Promise<void> {
    this.#turns.share(this.#pool.limit(most))
    await Promise.all([this.#pipeline.open(), this.#pool.open()])
  }

  /**
   * One connection for the whole of `work`, which begins and commits itself: for migrations. It has no timeouts, also not
   * those of the server, so it is closed afterwards.
   */
  withConnection<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    return this.#onConnection(async ({ db }) => {
      await sql.raw(withoutTimeouts(false)).execute(db)
      return work(db)
    })
  }

  /** The error of a connection that fails is 503, with the driver's error as its cause. */
  async #onConnection<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const connection = await this.#pool.connect().catch((error: unknown) => {
      throw databaseUnavailable(error)
    })
    try {
      return await work(connection)
    } catch (error) {
      throw isAway(error) ? databaseUnavailable(error) : error
    } finally {
      connection.client.release(true)
    }
  }

  /** Gives running transactions a moment to end. */
  async close(): Promise<void> {
    this.availability.close()
    this.#probe.close()
    this.#pipeline.close()
    await this.#pool.close()
  }

  async #run<T>(mode: Mode, work: Work<T>, options: TransactionOptions = {}): Promise<T> {
    this.#probe.refuseUseless(mode)
    const { organizationId, caller, name, like, isLong = false } = options
    const { isRolledBack = false, isOneInsert = false, account, withoutToken } = options
    const named = caller === undefined || name === undefined ? undefined : { caller, name, like }
    const replayed = mode === 'read' && named && (await this.#replays.read(named, account, work))
    if (replayed) return replayed.value
    const asked = { mode, isLong, organizationId, named, account, withoutToken }
    const mayShare = mode === 'write' && !isLong && !isRolledBack
    const shared = () =>
      mayShare && organizationId !== undefined
        ? new SharedWrite(organizationId, work, { named, isOneInsert })
        : undefined
    try {
      const grouped = isOneInsert ? shared() : undefined
      const settled = await this.#inGroup(grouped)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the result of this work
      if (settled !== undefined) return settled() as T
      return await this.#inTurn(work, asked, grouped?.hasRun === true ? undefined : shared())
    } catch (error) {
      if (isAway(error)) this.#suspect(error)
      else if (isOrphaned(error)) this.availability.warn(error, 'a change refers to a row that was deleted')
      else if (isBusy(error)) this.availability.warn(error, 'a transaction took too long and was undone')
      throw outcomeOf(error)
    }
  }

  #onMove(openedAt: number): void {
    this.availability.note('PostgreSQL was restarted, or its address leads to another server')
    this.#pool.cutUnknown(openedAt)
  }

  #suspect(error: unknown): void {
    this.#probe.doubt(error)
    this.availability.suspect(error)
  }

  /** A transaction of several writes failed. They run alone now, and may succeed. */
  #noteShared(error: unknown): void {
    if (isAway(error)) this.#suspect(error)
    else if (!(error instanceof AppError) && !isBusy(error)) {
      this.availability.warn(error, 'changes that shared a transaction were undone, and run again one by one')
    }
  }

  /** Undefined: it did not run in a group, or was undone. */
  async #inGroup(write: SharedWrite | undefined): Promise<(() => unknown) | undefined> {
    if (write === undefined || !this.#groups.add(write)) return undefined
    const settled = await write.settled
    if (settled === undefined) this.#probe.refuseUseless('write')
    return settled
  }

  async #inTurn<T>(work: Work<T>, asked: Asked, shared?: SharedWrite): Promise<T> {
    const end = await this.#turns.take({ ...asked, shared })
    let ending: Promise<void> | undefined
    const onEnding = (given: Promise<void>) => {
      ending = given
    }
    try {
      if (shared?.isTaken !== true) {
        this.#probe.refuseUseless(asked.mode)
        return await this.#attempts(work, { ...asked, onEnding }, shared)
      }
    } finally {
      if (ending === undefined) end()
      else void ending.then(end)
    }
    const settled = await shared.settled
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the result of this work
    return settled === undefined ? this.#inTurn(work, asked) : (settled() as T)
  }

  async #attempts<T>(work: Work<T>, asked: Asked, shared: SharedWrite | undefined): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        const outcome = attempt === 1 && shared && (await this.#together(shared, asked))
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the result of this work
        return outcome ? (outcome() as T) : await this.#alone(work, asked)
      } catch (error) {
        // A read, too, may wait for a migration that waits for it.
        const mayRepeat = isStaleStatement(error) || isWorthRetrying(error)
        if (!mayRepeat || attempt === MAX_TRIES) throw error
        if (isStaleStatement(error)) this.#replays.forgetAll()
      }
      await pause(RETRY_PAUSE_MS * attempt * Math.random())
    }
  }

  async #alone<T>(work: Work<T>, asked: Asked): Promise<T> {
    const { mode, named } = asked
    const record = mode === 'read' && named !== undefined ? new ReadRecord() : undefined
    const { outcome, ahead } = await this.#pool.run(
      asked,
      (connection) => this.#begin(connection, asked),
      async (connection, ahead) => ({
        outcome: await runWhole(connection, mode, work, { record, ahead }),
        ahead,
      }),
    )
    if (named !== undefined && record !== undefined) this.#replays.keep(named, record, ahead)
    return outcome()
  }

  /**
   * Runs the write, and with it the writes of its organization that wait when it has the organization's lock. Returns its
   * outcome; undefined if it has to run alone.
   */
  async #together(own: SharedWrite, asked: Asked): Promise<(() => unknown) | undefined> {
    const from = { turns: this.#turns, replays: this.#replays }
    const outcomes: Outcomes = new Map()
    try {
      await this.#pool.run(
        asked,
        (connection) => this.#begin(connection, asked),
        async (connection, ahead) => {
          if (from.turns.hasToTakeOver(own.organizationId))
            await runWithRiders(connection, own, from, outcomes, ahead)
          else outcomes.set(own, await runWhole(connection, 'write', own.work, { ahead }))
        },
      )
    } catch (error) {
      outcomes.delete(own)
      if (outcomes.size > 0) this.#noteShared(error)
      settleFailed(outcomes.keys(), error)
      if (outcomes.size === 0 || error instanceof UnknownOutcomeError) throw error
      return undefined
    }
    for (const [write, outcome] of outcomes) write.settle(outcome)
    return outcomes.get(own)
  }

  /** The beginning of a transaction, in one message: locks the organization, then reads what the request read before. */
  async #begin(
    connection: PostgresConnection,
    { mode, organizationId, named }: Asked,
  ): Promise<ReplayedRead | undefined> {
    const plan = named && (mode === 'write' ? this.#replays.find(named) : this.#replays.findBeginning(named))
    const isLocked = mode === 'write' && organizationId !== undefined
    const locking = isLocked
      ? connection.query({ ...LOCK_ORGANIZATION, values: [organizationId] })
      : undefined
    // Both, so that no failure goes unhandled.
    const [, ahead] = await Promise.all([locking, plan && connection.readAhead([plan])])
    return ahead?.[0]
  }
}
