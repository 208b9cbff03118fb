import type { Logger } from 'pino'
import { timestamp, type Clock } from '../core/clock.ts'
import type { Database } from '../database/database.ts'
import { deleteOutputBlocks } from './output-block-store.ts'
import {
  deleteSomeChunks,
  discardExpired,
  nextBlocks,
  nextUpload,
  type SweepPlace,
} from './state-sweep-store.ts'
import { UPLOAD_URL_HOURS } from './upload-urls.ts'

const SWEEP_EVERY_MS = 60_000
const STEPS_A_SWEEP = 500
const CHUNKS_A_TRANSACTION = 50
const MAX_DISCARDED_AT_ONCE = 100

/**
 * Deletes, in slices beside the requests, what no state version counts on any more: uploads that were given up or broke
 * off, and the content of versions that are gone. (Without their version's key they cannot be read anyway.)
 */
export class StateSweep {
  readonly #database: Database
  readonly #clock: Clock
  readonly #log: Logger
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isStopped = false
  #place: SweepPlace = { stateVersionId: '', kind: '', uploadId: '' }
  #blocksPlace = ''

  constructor(database: Database, clock: Clock, log: Logger) {
    this.#database = database
    this.#clock = clock
    this.#log = log
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#running ??= this.sweep()
        .catch((error: unknown) => this.#log.warn({ error }, 'a sweep failed; the next one goes on'))
        .finally(() => (this.#running = undefined))
    }, SWEEP_EVERY_MS).unref()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    await this.#running
  }

  /** One sweep, of so many steps; the next one goes on where it ended. */
  async sweep(): Promise<void> {
    const expiry = timestamp(new Date(this.#clock.now().getTime() - UPLOAD_URL_HOURS * 3_600_000))
    await this.#database.write((tx) => discardExpired(tx, expiry, MAX_DISCARDED_AT_ONCE))
    for (let step = 0; step < STEPS_A_SWEEP && !this.#isStopped; step++) {
      if (!(await this.#sweepUpload(expiry))) break
    }
    for (let step = 0; step < STEPS_A_SWEEP && !this.#isStopped; step++) {
      if (!(await this.#sweepBlocks())) break
    }
  }

  async #sweepUpload(expiry: string): Promise<boolean> {
    const upload = await this.#database.read((tx) => nextUpload(tx, this.#place, expiry))
    this.#place = upload ?? { stateVersionId: '', kind: '', uploadId: '' }
    if (upload === undefined) return false
    if (upload.isLeft) {
      let deleted: number
      do deleted = await this.#database.write((tx) => deleteSomeChunks(tx, upload, CHUNKS_A_TRANSACTION))
      while (deleted === CHUNKS_A_TRANSACTION && !this.#isStopped)
    }
    return true
  }

  async #sweepBlocks(): Promise<boolean> {
    const found = await this.#database.read((tx) => nextBlocks(tx, this.#blocksPlace))
    this.#blocksPlace = found?.id ?? ''
    if (found === undefined) return false
    if (found.isLeft) await this.#database.write((tx) => deleteOutputBlocks(tx, found.id))
    return true
  }
}
