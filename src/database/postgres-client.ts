import { Socket } from 'node:net'
import { Client, type ClientConfig } from 'pg'

/**
 * PostgreSQL plans a prepared statement once. Without this setting it compares the plan's cost with that of plans for the
 * values, and may plan a statement of several reads anew each time, which took 0.9 of 3.3 milliseconds of a create.
 */
export const GENERIC_PLANS = 'plan_cache_mode = force_generic_plan'

/** PostgreSQL would compile a statement whose cost it overestimates, for some 50 ms. None of ours is worth that. */
export const NO_JIT = 'jit = off'

/**
 * PostgreSQL knows how many rows an average organization has. Beside a much larger one it would read the whole tables for a
 * small one, so that what others have would decide what its requests cost.
 */
export const NO_WHOLE_TABLES = 'enable_seqscan = off'

/**
 * Ends the timeouts that the server, the database or the role has, for work without bounds. This version of PostgreSQL may
 * not know all of them.
 */
export const withoutTimeouts = (isForTransaction: boolean) =>
  `select set_config(name, '0', ${isForTransaction}) from pg_settings where name in ('statement_timeout', 'lock_timeout',
  'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout')`

/** A connection that can be cut at any time, even while connecting or while the server does not answer. */
export class PostgresClient extends Client {
  readonly #socket: Socket
  #isGathering = false
  /**
   * Number of generic warnings (01000). A commit with such a warning may be on this server only, not on its standby.
   */
  warnings = 0
  /** Whether it is unused in the pool. False while it connects. */
  isIdle = false
  /** See `PostgresAddress.learn`. */
  isAdmitted = false
  /** When it began to connect, by `performance.now()`. */
  readonly openedAt = performance.now()

  constructor(config?: ClientConfig) {
    const socket = new Socket()
    super({ ...config, stream: () => socket })
    this.#socket = socket
    // A connection may break at any time. The current query fails then; without a listener the process would end.
    this.on('error', () => {})
    this.on('notice', ({ code }) => {
      if (code === '01000') this.warnings += 1
    })
  }

  /** Bytes received so far. */
  get bytesRead(): number {
    return this.#socket.bytesRead
  }

  /** Sends the statements of this turn in one packet. Without this, each is a packet of its own. */
  gather(): void {
    if (this.#isGathering) return
    this.#isGathering = true
    const { stream } = this.connection
    stream.cork()
    const send = () => {
      this.#isGathering = false
      stream.uncork()
    }
    // One tick later, because alike statements that wait for each other are given in the next one.
    process.nextTick(() => process.nextTick(send))
  }

  /** Destroys the socket; the current query fails with this error. */
  cut(error: Error): void {
    this.#socket.destroy(error)
  }
}
