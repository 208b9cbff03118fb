import type { Logger } from 'pino'
import type { Standings } from '../access/standing-store.ts'
import type { Config } from '../config.ts'
import { timestamp, type Clock } from '../core/clock.ts'
import type { Database } from '../database/database.ts'
import type { Refusal } from './refusal.ts'
import { rowsOf } from './refusal-rows.ts'
import { deleteOldestRefusals, deleteRefusalsBefore, insertRefusals } from './refusal-store.ts'

export const FLUSH_EVERY_MS = 1_000
const PRUNE_EVERY_MS = 10 * 60_000
const DAY_MS = 86_400_000
/** Refusals that wait in memory; of more the oldest are dropped, counted and logged. */
export const MAX_WAITING = 10_000
/** Teams that they hold on to, all together: somebody may be in very many. */
const MAX_WAITING_TEAMS = 300_000
/** Refusals that one transaction writes: requests wait for it no longer than for another's write. */
const REFUSALS_A_TRANSACTION = 250
const DELETED_A_TRANSACTION = 500
/** After so many flushes that failed in a row, what is first is given up: it may be what the database does not take. */
const MAX_FAILURES = 60

/**
 * Why callers were answered 404. A request leaves what it knows in memory, the same for what is missing and what is
 * forbidden; everything that costs is done a moment later, beside the requests.
 */
export class Refusals {
  readonly #database: Database
  readonly #standings: Standings
  readonly #config: Config
  readonly #clock: Clock
  readonly #log: Logger
  readonly #timers: NodeJS.Timeout[]
  readonly #waiting: Refusal[] = []
  #waitingTeams = 0
  #dropped = 0
  #failures = 0
  #flushing: Promise<void> | undefined

  constructor(
    database: Database,
    { standings, config, clock, log }: { standings: Standings; config: Config; clock: Clock; log: Logger },
  ) {
    this.#database = database
    this.#standings = standings
    this.#config = config
    this.#clock = clock
    this.#log = log
    this.#timers = [
      setInterval(() => {
        if (this.#flushing === undefined) void this.flush()
      }, FLUSH_EVERY_MS).unref(),
      setInterval(() => void this.prune(), PRUNE_EVERY_MS).unref(),
    ]
  }

  /** Remembers one; never throws and never waits. */
  note(refusal: Refusal): void {
    this.#waiting.push(refusal)
    this.#waitingTeams += teamsIn(refusal)
    // Many at once: dropped one by one, each would cost a move of everything behind it.
    while (this.#waiting.length > MAX_WAITING || this.#waitingTeams > MAX_WAITING_TEAMS) {
      this.#drop(Math.ceil(this.#waiting.length / 10))
    }
  }

  /** Writes what waits now. What cannot be written stays for the next time, as far as there is room. */
  async flush(): Promise<void> {
    // One that runs already may have begun before the last of them came.
    await this.#flushing
    this.#flushing ??= this.#flush().finally(() => (this.#flushing = undefined))
    await this.#flushing
  }

  /** Deletes what is older than PURSER_REFUSAL_DAYS. */
  async prune(): Promise<void> {
    const oldest = timestamp(new Date(this.#clock.now().getTime() - this.#config.refusalDays * DAY_MS))
    try {
      let deleted: number
      do deleted = await this.#database.write((tx) => deleteRefusalsBefore(tx, oldest, DELETED_A_TRANSACTION))
      while (deleted === DELETED_A_TRANSACTION)
    } catch (error) {
      this.#log.warn({ error }, 'old refusals could not be deleted yet')
    }
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.flush()
  }

  async #flush(): Promise<void> {
    // What comes meanwhile is for the next time: a flood must not keep one flush going.
    let left = this.#waiting.length
    try {
      while (left > 0 && this.#waiting.length > 0) {
        const batch = this.#waiting.slice(0, REFUSALS_A_TRANSACTION)
        await this.#write(batch)
        left -= batch.length
        this.#forget(batch)
        this.#failures = 0
      }
    } catch (error) {
      this.#failures += 1
      if (this.#failures % MAX_FAILURES === 0) this.#drop(REFUSALS_A_TRANSACTION)
      this.#log.warn({ error, waiting: this.#waiting.length }, 'refusals could not be written yet')
    }
    if (this.#dropped > 0) {
      this.#log.warn({ dropped: this.#dropped }, 'too many refusals at once: some cannot be explained later')
      this.#dropped = 0
    }
  }

  async #write(batch: readonly Refusal[]): Promise<void> {
    const rows = await this.#database.read((tx) => rowsOf(tx, batch, this.#standings, this.#config.dialect))
    const organizations = new Set(rows.map((row) => row.organization_id ?? null))
    await this.#database.write(async (tx) => {
      await insertRefusals(tx, rows)
      for (const id of organizations) await deleteOldestRefusals(tx, id, this.#config.refusalsKept)
    })
  }

  /** Those that were written, unless they were dropped meanwhile. */
  #forget(batch: readonly Refusal[]): void {
    const written = new Set(batch)
    let count = 0
    while (count < this.#waiting.length && written.has(this.#waiting[count] as Refusal)) count += 1
    this.#remove(count)
  }

  #drop(count: number): void {
    this.#dropped += this.#remove(count)
  }

  #remove(count: number): number {
    const removed = this.#waiting.splice(0, count)
    for (const refusal of removed) this.#waitingTeams -= teamsIn(refusal)
    return removed.length
  }
}

function teamsIn({ found }: Refusal): number {
  return found === undefined ? 0 : found.standing.teamIds.size + (found.target.teamsOfUser?.length ?? 0)
}
