import type { PostgresConnection } from './postgres-connection.ts'
import type { Replays } from './postgres-replay.ts'
import { runPart } from './postgres-transaction.ts'
import { settleFailed, type SharedWrite } from './shared-write.ts'
import type { Turns } from './turns.ts'

const MOST = 15
/** No longer: other writes wait for the lock of the organization, also on other nodes, and give up after `lock_timeout`. */
const MOST_MS = 1_000

/** Waiting writes of an organization that the transaction of another one takes along. */
export class Riders {
  readonly #turns: Turns
  readonly #replays: Replays
  readonly #organizationId: string | undefined
  readonly #taken: SharedWrite[] = []
  readonly #outcomes: (() => unknown)[] = []

  constructor(turns: Turns, replays: Replays, organizationId: string | undefined) {
    this.#turns = turns
    this.#replays = replays
    this.#organizationId = organizationId
  }

  get areWaiting(): boolean {
    return this.#turns.hasToTakeOver(this.#organizationId)
  }

  get count(): number {
    return this.#taken.length
  }

  /**
   * Runs those that wait, one after the other.
   *
   * @param start when the work of the transaction began, in milliseconds of `performance.now()`
   */
  async run(connection: PostgresConnection, start: number): Promise<void> {
    while (this.count < MOST && performance.now() - start < MOST_MS) {
      const rider = this.#turns.takeOver(this.#organizationId)
      if (rider === undefined) return
      this.#taken.push(rider)
      const plan = rider.named && this.#replays.find(rider.named)
      const [read] = plan === undefined ? [] : await connection.readAhead([plan])
      this.#outcomes.push((await runPart(connection, rider.work, { ahead: read })).outcome)
    }
  }

  /** To be called when the transaction is committed. */
  settle(): void {
    for (const [place, rider] of this.#taken.entries()) rider.settle(this.#outcomes[place])
  }

  fail(error: unknown): void {
    settleFailed(this.#taken, error)
  }
}
