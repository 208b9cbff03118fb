import type { Logger } from 'pino'
import type { AuditKey } from '../audit/audit-links.ts'
import { insertAuditEvents } from '../audit/audit-store.ts'
import { timestamp, type Clock } from '../core/clock.ts'
import type { Database } from '../database/database.ts'
import { findUser, findUserByEmail, findUserByUsername } from '../users/user-store.ts'
import type { Throttle } from './guesses.ts'

/** Writes an audit event when attempts to guess somebody's password begin to be slowed down. */
export class ThrottleEvents {
  readonly #database: Database
  readonly #key: AuditKey
  readonly #clock: Clock
  readonly #log: Logger
  readonly #writing = new Set<Promise<void>>()

  constructor(database: Database, { key, clock, log }: { key: AuditKey; clock: Clock; log: Logger }) {
    this.#database = database
    this.#key = key
    this.#clock = clock
    this.#log = log
  }

  /** Nobody waits for the event: an attacker must not see by the time whether there is such an account. */
  note(begun: Throttle): void {
    if (begun.of === 'network') return
    const writing = this.#write(begun).catch((error: unknown) => {
      this.#log.error({ error }, 'a slow-down of guesses could not be audited')
    })
    this.#writing.add(writing)
    void writing.finally(() => this.#writing.delete(writing))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#writing)
  }

  async #write({ of, account, network, from }: Throttle): Promise<void> {
    // A read first: a stranger who guesses must not take the turn of a writer.
    const user = await this.#database.read(
      async (tx) =>
        (await findUser(tx, account)) ??
        (await findUserByUsername(tx, account)) ??
        (await findUserByEmail(tx, account)),
    )
    // What somebody typed that is no account is not stored: it may be a password.
    if (user === undefined) return
    const at = timestamp(this.#clock.now())
    const context = { at, requestId: null, address: from, actor: null, key: this.#key }
    const details = { username: user.username, of, network }
    const event = { action: 'user.slow-down', resourceType: 'users', resourceId: user.id, details }
    await this.#database.write(async (tx) => insertAuditEvents(tx, context, [event]))
  }
}
