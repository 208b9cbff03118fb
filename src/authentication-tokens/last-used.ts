import type { Logger } from 'pino'
import type { Authentication } from '../access/actor-store.ts'
import { isFarAhead, timestamp } from '../core/clock.ts'
import { BackgroundLoop } from '../database/background-loop.ts'
import type { Database, Transaction } from '../database/database.ts'

const RESOLUTION_MS = 60_000
const FLUSH_EVERY_MS = 2_000
const MAX_WAITING = 10_000

type Update = (tx: Transaction, batch: readonly (readonly [id: string, at: string])[]) => Promise<void>

/** Records when tokens were used, at most once a minute per token. Writes in batches, apart from the requests. */
export class LastUsed {
  readonly #database: Database
  readonly #update: Update
  readonly #waiting = new Map<string, string>()
  readonly #written = new Map<string, number>()
  readonly #loop: BackgroundLoop

  /** @param update stores the times of some tokens, or of some sessions */
  constructor(database: Database, log: Logger, update: Update) {
    this.#database = database
    this.#update = update
    const failure = 'last-used-at of some tokens could not be written'
    this.#loop = new BackgroundLoop({ everyMs: FLUSH_EVERY_MS, log, failure }, () => this.#write())
  }

  touch({ actor, lastUsedAt }: Authentication, now: Date): void {
    const written = this.#written.get(actor.tokenId) ?? (lastUsedAt === null ? 0 : Date.parse(lastUsedAt))
    const isRecent = now.getTime() - written < RESOLUTION_MS && !isFarAhead(written, now)
    if (isRecent || this.#waiting.size >= MAX_WAITING) return
    if (this.#written.size >= MAX_WAITING) this.#written.clear()
    this.#written.set(actor.tokenId, now.getTime())
    this.#waiting.set(actor.tokenId, timestamp(now))
  }

  /** Writes the waiting times now. */
  flush(): Promise<void> {
    return this.#loop.runAnew()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    await this.flush()
  }

  async #write(): Promise<void> {
    if (this.#waiting.size === 0) return
    const batch = [...this.#waiting]
    this.#waiting.clear()
    await this.#database.write((tx) => this.#update(tx, batch))
  }
}
