import type { Logger } from 'pino'
import type { Standings } from '../access/standing-store.ts'
import type { Config } from '../config.ts'
import { timeAfter, type Clock } from '../core/clock.ts'
import { BackgroundLoop } from '../database/background-loop.ts'
import type { Database } from '../database/database.ts'
import { retentionTime } from '../database/retention-clock.ts'
import { logRepeated } from '../database/unavailable.ts'
import type { Refusal } from './refusal.ts'
import { rowsOf } from './refusal-rows.ts'
import { deleteOldestRefusals, deleteRefusalsBefore, insertRefusals } from './refusal-store.ts'
import { WaitingRefusals, type Waiting } from './waiting-refusals.ts'

export const FLUSH_EVERY_MS = 1_000
const PRUNE_EVERY_MS = 10 * 60_000
const DAY_MS = 86_400_000
/** Refusals in one transaction. Small enough that requests wait no longer than for another request's write. */
const REFUSALS_A_TRANSACTION = 250
const DELETED_A_TRANSACTION = 500
/** After this many failed flushes in a row the first batch is dropped: the database may not accept it at all. */
const MAX_FAILURES = 60

/**
 * Records why callers got 404. A request only adds what it knows to memory, at the same cost for a missing and a
 * forbidden object. The expensive work happens a moment later, beside the requests.
 */
export class Refusals {
  readonly #database: Database
  readonly #standings: Standings
  readonly #config: Config
  readonly #clock: Clock
  readonly #log: Logger
  readonly #flushing: BackgroundLoop
  readonly #pruning: BackgroundLoop
  readonly #waiting = new WaitingRefusals()
  #failures = 0

  constructor(
    database: Database,
    { standings, config, clock, log }: { standings: Standings; config: Config; clock: Clock; log: Logger },
  ) {
    this.#database = database
    this.#standings = standings
    this.#config = config
    this.#clock = clock
    this.#log = log
    this.#flushing = new BackgroundLoop(
      { everyMs: FLUSH_EVERY_MS, log, failure: 'refusals could not be written yet' },
      () => this.#flush(),
    )
    this.#pruning = new BackgroundLoop(
      { everyMs: PRUNE_EVERY_MS, log, failure: 'old refusals could not be deleted yet' },
      () => this.#prune(),
    )
  }

  /** Adds a refusal to memory. Never throws and never waits. */
  note(refusal: Refusal): void {
    this.#waiting.add(refusal)
  }

  /** Writes the waiting refusals. If that fails, they wait for the next flush, as far as there is room. */
  flush(): Promise<void> {
    return this.#flushing.runAnew()
  }

  /** Deletes refusals older than PURSER_REFUSAL_DAYS. */
  prune(): Promise<void> {
    return this.#pruning.run()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#pruning.stop(), this.#flushing.stop()])
    await this.flush()
  }

  async #prune(): Promise<void> {
    const { time } = await retentionTime(this.#database, this.#clock, this.#log)
    const oldest = timeAfter(time, -this.#config.refusalDays * DAY_MS)
    let deleted = DELETED_A_TRANSACTION
    while (deleted === DELETED_A_TRANSACTION && !this.#pruning.isStopping) {
      deleted = await this.#database.write((tx) => deleteRefusalsBefore(tx, oldest, DELETED_A_TRANSACTION))
    }
  }

  async #flush(): Promise<void> {
    // Refusals that arrive meanwhile wait for the next flush: otherwise a flood would keep this one running.
    let left = this.#waiting.size
    while (left > 0) {
      const batch = this.#waiting.take(Math.min(left, REFUSALS_A_TRANSACTION))
      if (batch.length === 0) break
      left -= batch.length
      try {
        await this.#write(batch)
        this.#failures = 0
      } catch (error) {
        this.#failures += 1
        if (this.#failures % MAX_FAILURES === 0) this.#waiting.giveUp(batch)
        else this.#waiting.giveBack(batch)
        logRepeated(this.#log, error, 'refusals could not be written yet', { waiting: this.#waiting.size })
        break
      }
    }
    const dropped = this.#waiting.takeDropped()
    if (dropped > 0) {
      this.#log.warn({ dropped }, 'too many refusals at once: some cannot be explained later')
    }
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const { refusalsKept, refusalsKeptOfCaller, dialect } = this.#config
    const refusals = await this.#database.read((tx) => rowsOf(tx, batch, this.#standings, dialect))
    const organizations = Map.groupBy(refusals, ({ row }) => row.organization_id ?? null)
    await this.#database.write(async (tx) => {
      await insertRefusals(tx, refusals)
      for (const [organizationId, some] of organizations) {
        // All outsiders together get the limit of one caller, because there can be any number of them.
        await deleteOldestRefusals(tx, { organizationId, isShared: 1 }, refusalsKeptOfCaller)
        const own = { organizationId, isShared: 0 } as const
        for (const callerId of new Set(some.map(({ row }) => row.caller_id))) {
          if (typeof callerId !== 'string') continue
          await deleteOldestRefusals(tx, { ...own, callerId }, refusalsKeptOfCaller)
        }
        await deleteOldestRefusals(tx, own, refusalsKept)
      }
    })
  }
}
