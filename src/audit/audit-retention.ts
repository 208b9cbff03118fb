import type { Logger } from 'pino'
import { timestamp, type Clock } from '../core/clock.ts'
import type { Database } from '../database/database.ts'
import { deleteAuditEventsBefore } from './audit-store.ts'

const LOOK_EVERY_MS = 10 * 60_000
const EVENTS_A_TRANSACTION = 500
const DAY_MS = 86_400_000

/** Deletes audit events that are older than PURSER_AUDIT_DAYS, in slices beside the requests. */
export class AuditRetention {
  readonly #database: Database
  readonly #clock: Clock
  readonly #log: Logger
  readonly #days: number
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> | undefined

  constructor(database: Database, clock: Clock, log: Logger, days: number) {
    this.#database = database
    this.#clock = clock
    this.#log = log
    this.#days = days
    this.#timer = setInterval(() => void this.apply(), LOOK_EVERY_MS).unref()
  }

  /** Resolves when nothing too old is left. */
  apply(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    return this.#running
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    const oldest = timestamp(new Date(this.#clock.now().getTime() - this.#days * DAY_MS))
    try {
      let deleted: number
      do
        deleted = await this.#database.write((tx) =>
          deleteAuditEventsBefore(tx, oldest, EVENTS_A_TRANSACTION),
        )
      while (deleted === EVENTS_A_TRANSACTION)
    } catch (error) {
      this.#log.warn({ error }, 'old audit events could not be deleted yet')
    }
  }
}
