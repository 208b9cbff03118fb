import { randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import { OperatorError } from '../core/operator-error.ts'
import { afterPatience } from '../core/patience.ts'
import type { PostgresAddress } from './postgres-address.ts'
import { PostgresClient } from './postgres-client.ts'
import { doubtOf, type Doubt } from './postgres-doubts.ts'
import {
  isAnswer,
  isBusy,
  MissingStandbyError,
  outcomeOfProbe,
  UnknownOutcomeError,
  UnreachableError,
} from './postgres-errors.ts'
import { databaseUnavailable } from './unavailable.ts'

/** Leaves time to open a new connection if the cached one is broken. */
const IDLE_CONNECTION_MS = 300
/** An answer that was sent earlier may arrive later, because connections are read one after the other. */
const LATER_ARRIVAL_MS = 100
/** More than one, because a single late answer may come from a busy machine. */
const LOOKS_WITHOUT_ANSWER = 3

/** Nodes hardly ever share a row, so that none waits for the commits of the others. */
const ROWS = 64

/**
 * A process writes the same row again, so a hanging transaction (its synchronous standby is away) blocks the next one. The
 * timeouts are short: the next probe must not leave another transaction hanging.
 */
const writeTo = (
  row: number,
) => `begin; set local lock_timeout = '400ms'; set local statement_timeout = '800ms';
insert into meta (key, value) values ('probe ${row}', clock_timestamp()::text)
on conflict (key) do update set value = excluded.value; commit`

/** Each commit waits a moment for a standby that is there. Of sessions of other roles PostgreSQL shows no event. */
const WAITS_FOR_STANDBY = `select exists (select from pg_stat_activity where wait_event = 'SyncRep'
  and usename = current_user and datname = current_database()
  and state_change < clock_timestamp() - interval '1 s') as waits`
const STANDBY_LOOK_MS = 400

/** Probes PostgreSQL over its own connection, because requests may use all others. */
export class PostgresProbe {
  readonly #doubts = new Set<Doubt>()
  readonly #statement = writeTo(randomInt(ROWS))
  readonly #address: PostgresAddress
  readonly #onLoss: () => void
  #idle: PostgresClient | undefined
  #withoutAnswer = 0
  #wasSilent = false
  /** Since the last small write that was committed. */
  #hasLostCommit = false
  #isWithoutStandby = false
  /** Grows with each small write, so that a late look at an old one changes nothing. */
  #writes = 0

  /** @param onLoss is called when a connection got no answer while a new one was served: the old server is gone */
  constructor(address: PostgresAddress, onLoss: () => void) {
    this.#address = address
    this.#onLoss = onLoss
  }

  /**
   * Throws 503 if the server accepted no connection, or did not answer, for longer than a busy machine explains: many requests
   * would wait for it. The same for a write after a commit has waited for a missing standby as long as it may. Its session
   * waits on in the server, and others would join it until no connection is left.
   */
  refuseUseless(mode: 'read' | 'write'): void {
    if (this.#withoutAnswer >= LOOKS_WITHOUT_ANSWER) throw databaseUnavailable(undefined)
    if (mode === 'write' && this.#hasLostCommit && this.#isWithoutStandby) {
      throw outcomeOfProbe(new MissingStandbyError())
    }
  }

  /** Takes an error of a request whose cause the small write would not show. Each probe examines it until the cause is gone. */
  doubt(error: unknown): void {
    if (error instanceof UnknownOutcomeError) this.#hasLostCommit = true
    const doubt = doubtOf(error)
    if (doubt !== undefined) this.#doubts.add(doubt)
  }

  async look(signal: AbortSignal): Promise<void> {
    try {
      await this.#lookNow(signal)
    } catch (error) {
      const isSilent =
        !isAnswer(error) && !(error instanceof MissingStandbyError || error instanceof UnreachableError)
      if (isSilent) this.#wasSilent = true
      throw error
    }
  }

  /** Whether a probe since the last call got no answer from the server. */
  endSilence(): boolean {
    const wasSilent = this.#wasSilent
    this.#wasSilent = false
    return wasSilent
  }

  async #lookNow(signal: AbortSignal): Promise<void> {
    const client = await this.#writeSomewhere(signal)
    try {
      for (const doubt of this.#doubts) {
        const problem = await cutAt(signal, client, doubt(client, this.#address.config))
        if (problem !== undefined) throw new OperatorError(problem)
        this.#doubts.delete(doubt)
      }
    } catch (error) {
      client.cut(new Error('given up'))
      throw error
    }
    this.#idle = client
  }

  async #writeSomewhere(signal: AbortSignal): Promise<PostgresClient> {
    const idle = this.#idle
    this.#idle = undefined
    if (idle === undefined) return this.#writeAnew(signal)
    let isSilent = true
    const writing = this.#write(idle, signal)
      .then(() => true)
      .catch(() => false)
      .finally(() => (isSilent = false))
    const late = Promise.withResolvers<false>()
    const callOff = afterPatience(IDLE_CONNECTION_MS, () => late.resolve(false))
    const isWritten = await Promise.race([writing, late.promise])
    callOff()
    if (isWritten) return idle
    try {
      // The old connection may be broken, or its server may not be the primary any more. A new one will tell.
      const client = await this.#writeAnew(signal)
      // Both write the same row and the same log: a server that is only slow has answered the old one first.
      await Promise.race([writing, pause(LATER_ARRIVAL_MS)])
      if (isSilent) this.#onLoss()
      return client
    } finally {
      idle.cut(new Error('replaced'))
    }
  }

  async #writeAnew(signal: AbortSignal): Promise<PostgresClient> {
    const client = new PostgresClient(this.#address.config)
    const number = (this.#writes += 1)
    this.#withoutAnswer += 1
    let mayWrite = false
    try {
      await cutAt(signal, client, client.connect())
      this.#withoutAnswer = 0
      // Before the write, which may wait for a standby. The write tells, too, if the server is a standby itself.
      await cutAt(signal, client, this.#address.learn(client))
      mayWrite = true
      return await this.#write(client, signal)
    } catch (error) {
      // The server itself refused, so it is reachable: for example, it has too many connections.
      if (error instanceof DatabaseError) this.#withoutAnswer = 0
      client.cut(new Error('given up'))
      const mayWait = mayWrite && (isBusy(error) || !isAnswer(error))
      const waits = mayWait && (await this.#waitsForStandby())
      if (this.#writes === number) this.#isWithoutStandby = waits
      throw waits ? new MissingStandbyError() : error
    }
  }

  close(): void {
    this.#idle?.cut(new Error('closed'))
  }

  async #write(client: PostgresClient, signal: AbortSignal): Promise<PostgresClient> {
    await cutAt(signal, client, client.query(this.#statement))
    this.#writes += 1
    this.#withoutAnswer = 0
    this.#hasLostCommit = false
    this.#isWithoutStandby = false
    return client
  }

  async #waitsForStandby(): Promise<boolean> {
    const client = new PostgresClient(this.#address.config)
    const callOff = afterPatience(STANDBY_LOOK_MS, () => client.cut(new Error('given up')))
    try {
      await client.connect()
      return (await client.query<{ waits: boolean }>(WAITS_FOR_STANDBY)).rows[0]?.waits === true
    } catch {
      return false
    } finally {
      callOff()
      client.cut(new Error('done'))
    }
  }
}

/** Cuts the connection when the signal fires, so that `work` fails. */
async function cutAt<T>(signal: AbortSignal, client: PostgresClient, work: Promise<T>): Promise<T> {
  const cut = () => client.cut(new Error('the database did not answer in time'))
  signal.addEventListener('abort', cut, { once: true })
  try {
    return await work
  } finally {
    signal.removeEventListener('abort', cut)
  }
}
