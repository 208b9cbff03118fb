import type { Logger } from 'pino'
import type { Authentication } from '../access/actor-store.ts'
import { timestamp } from '../core/clock.ts'
import type { Database } from '../database/database.ts'
import { logRepeated } from '../database/unavailable.ts'
import { updateLastUsed } from './last-used-store.ts'

const RESOLUTION_MS = 60_000
const FLUSH_EVERY_MS = 2_000
const MAX_WAITING = 10_000

/** Notes when tokens were used: at most once a minute for each, written in batches beside the requests. */
export class LastUsed {
  readonly #database: Database
  readonly #log: Logger
  readonly #waiting = new Map<string, string>()
  readonly #written = new Map<string, number>()
  readonly #timer: NodeJS.Timeout

  constructor(database: Database, log: Logger) {
    this.#database = database
    this.#log = log
    this.#timer = setInterval(() => void this.flush(), FLUSH_EVERY_MS).unref()
  }

  touch({ actor, lastUsedAt }: Authentication, now: Date): void {
    const written = this.#written.get(actor.tokenId) ?? (lastUsedAt === null ? 0 : Date.parse(lastUsedAt))
    if (now.getTime() - written < RESOLUTION_MS || this.#waiting.size >= MAX_WAITING) return
    if (this.#written.size >= MAX_WAITING) this.#written.clear()
    this.#written.set(actor.tokenId, now.getTime())
    this.#waiting.set(actor.tokenId, timestamp(now))
  }

  async flush(): Promise<void> {
    if (this.#waiting.size === 0) return
    const batch = [...this.#waiting]
    this.#waiting.clear()
    try {
      await this.#database.write((tx) => updateLastUsed(tx, batch))
    } catch (error) {
      logRepeated(this.#log, error, 'last-used-at of some tokens could not be written')
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }
}
