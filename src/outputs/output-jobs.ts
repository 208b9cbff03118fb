import { existing } from '../core/existing.ts'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { timeAfter, timestamp, type Clock } from '../core/clock.ts'
import { BackgroundLoop } from '../database/background-loop.ts'
import type { Database, Transaction } from '../database/database.ts'
import { isUnavailable, logRepeated } from '../database/unavailable.ts'
import { isOlder, sharedTime } from '../database/shared-clock.ts'
import { deleteSomeOutputBlocks, insertOutputBlocks } from './output-block-store.ts'
import type { SealedOutputBlock } from './output-blocks.ts'
import {
  endJob,
  findUnprocessed,
  postponeJob,
  renewLease,
  returnJob,
  takeJob,
  type Held,
} from './output-job-store.ts'
import type { StateVersionRow } from '../state-versions/state-version-store.ts'

const POLL_MS = 1_000
const LEASE_MS = 10_000
const RENEW_MS = 3_000
const RETRY_MS = 5_000
const MAX_ATTEMPTS = 10
const MAX_JOBS_AT_ONCE = 10
const BLOCKS_A_TRANSACTION = 8

/** The job must call `keep` regularly: it renews the lease. */
export type ProcessOutputs = (
  stateVersion: StateVersionRow,
  keep: () => Promise<void>,
) => Promise<{ count: number; blocks: SealedOutputBlock[] }>

/**
 * Processes outputs that were too large for the finalizing transaction. The rows of the state versions are the job
 * queue. Each job is leased to one node; if that node dies, the lease runs out and another node takes the job.
 */
export class OutputJobs {
  readonly #database: Database
  readonly #clock: Clock
  readonly #log: Logger
  readonly #process: ProcessOutputs
  #looking: BackgroundLoop | undefined

  constructor(database: Database, clock: Clock, log: Logger, process: ProcessOutputs) {
    this.#database = database
    this.#clock = clock
    this.#log = log
    this.#process = process
  }

  /** Starts looking for jobs at once, first those left by an earlier process. */
  start(): void {
    const failure = 'looking for states to process failed; trying again'
    this.#looking = new BackgroundLoop({ everyMs: POLL_MS, log: this.#log, failure }, () => this.#look())
    void this.#looking.run()
  }

  /** A state was finalized, perhaps after the current search for jobs had begun. */
  wake(): void {
    if (!this.#isStopped) void this.#looking?.runAnew()
  }

  async stop(): Promise<void> {
    await this.#looking?.stop()
  }

  get #isStopped(): boolean {
    return this.#looking?.isStopping ?? true
  }

  async #look(): Promise<void> {
    if (this.#isStopped) return
    const ids = await this.#database.read(async (tx) =>
      findUnprocessed(tx, timestamp(await sharedTime(tx, this.#clock)), MAX_JOBS_AT_ONCE),
    )
    for (const id of ids) {
      if (!this.#isStopped) await this.#run(id)
    }
  }

  async #later(tx: Transaction, ms: number): Promise<string> {
    return timeAfter(await sharedTime(tx, this.#clock), ms)
  }

  async #run(id: string): Promise<void> {
    const taken = await this.#database.write(async (tx) => {
      const now = await sharedTime(tx, this.#clock)
      return takeJob(tx, id, timestamp(now), timeAfter(now, LEASE_MS))
    })
    if (taken === undefined) return
    let lease = existing(taken.lease_until)
    let renewedAt = this.#clock.now()
    // Renews the lease in the same transaction as the work, so a node that has lost the job changes nothing.
    const hold = async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
      const held = await this.#database.write(async (tx) => {
        const next = await this.#later(tx, LEASE_MS)
        if (!(await renewLease(tx, { id, lease }, next))) throw new LeaseLostError()
        return { next, value: await work(tx) }
      })
      lease = held.next
      renewedAt = this.#clock.now()
      return held.value
    }
    const keep = async () => {
      if (isOlder(renewedAt, RENEW_MS, this.#clock)) await hold(() => Promise.resolve())
    }
    try {
      // Earlier attempts ended without storing a failure: the process died.
      if (taken.attempts > MAX_ATTEMPTS) throw new Error('the server ended each time while it processed this')
      const { count, blocks } = await this.#process(taken, keep)
      while (await hold((tx) => deleteSomeOutputBlocks(tx, id)));
      for (let start = 0; start < blocks.length; start += BLOCKS_A_TRANSACTION) {
        const slice = blocks.slice(start, start + BLOCKS_A_TRANSACTION)
        await hold((tx) => insertOutputBlocks(tx, id, slice))
      }
      await this.#database.write((tx) => endJob(tx, { id, lease }, { outputsCount: count, failure: null }))
    } catch (error) {
      if (error instanceof LeaseLostError) return
      const held = { id, lease }
      // An outage is not the state's fault. Counting it as a failure could, on a full disk, lose the outputs.
      if (isUnavailable(error)) await this.#return(held)
      else await this.#failed(taken, held, error)
    }
  }

  /** Retries until the database accepts it. If the lease merely ran out, the attempt would stay counted. */
  async #return(held: Held): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#database.write(async (tx) => returnJob(tx, held, await this.#later(tx, RETRY_MS)))
        return
      } catch (error) {
        logRepeated(this.#log, error, 'returning a job failed; trying again')
        await pause(POLL_MS)
      }
    }
  }

  async #failed(job: StateVersionRow, held: Held, error: unknown): Promise<void> {
    const failure = error instanceof Error ? error.message : String(error)
    logRepeated(this.#log, error, 'processing a state failed', {
      stateVersion: job.id,
      attempt: job.attempts,
    })
    await this.#database.write(async (tx): Promise<unknown> =>
      job.attempts >= MAX_ATTEMPTS
        ? // Not 503 for ever: requests for the outputs now get 500, and the doctor reports the version.
          endJob(tx, held, { outputsCount: 0, failure })
        : postponeJob(tx, held, failure, await this.#later(tx, RETRY_MS)),
    )
  }
}

/** Another node has taken over the job, so this node must discard its result. */
class LeaseLostError extends Error {}
