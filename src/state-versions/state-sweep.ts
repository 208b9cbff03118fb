import type { Logger } from 'pino'
import { AuditKey } from '../audit/audit-links.ts'
import { insertAuditEvents } from '../audit/audit-store.ts'
import type { ServerConfig } from '../config.ts'
import { timestamp, type Clock } from '../core/clock.ts'
import type { Database, Transaction } from '../database/database.ts'
import { deleteOutputBlocks } from './output-block-store.ts'
import { deleteContent, findSoftDeletedBefore } from './state-content-store.ts'
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
/** Of content that was deleted softly: each has outputs to be deleted in the same transaction. */
const MAX_DELETED_AT_ONCE = 10
const SOON_MS = 50
const HOUR_MS = 3_600_000
const START: SweepPlace = { stateVersionId: '', kind: '', uploadId: '' }

type SweepConfig = Pick<ServerConfig, 'secretKey' | 'deletedStateDays'>

/**
 * Deletes, in slices beside the requests, what no state version counts on any more: uploads that were given up or broke
 * off, the content of versions that are gone, and what was deleted softly long ago. (Without their version's key they cannot be read anyway.)
 */
export class StateSweep {
  readonly #database: Database
  readonly #clock: Clock
  readonly #log: Logger
  readonly #config: SweepConfig
  readonly #auditKey: AuditKey
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #sweeping = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isStopped = false
  #place = START
  #blocksPlace = ''

  constructor(database: Database, config: SweepConfig, clock: Clock, log: Logger) {
    this.#config = config
    this.#auditKey = new AuditKey(config.secretKey)
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
    for (const timer of this.#timers) clearTimeout(timer)
    await Promise.all([this.#running, ...this.#sweeping])
  }

  /** Sweeps what is left of one version, shortly: what made it so may not have committed yet. */
  sweepSoon(id: string): void {
    if (this.#isStopped) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      const sweeping = this.#sweepVersion(id)
        .catch((error: unknown) => this.#log.warn({ error }, 'a sweep failed; the next one goes on'))
        .finally(() => this.#sweeping.delete(sweeping))
      this.#sweeping.add(sweeping)
    }, SOON_MS).unref()
    this.#timers.add(timer)
  }

  /** One sweep, of so many steps; the next one goes on where it ended. */
  async sweep(): Promise<void> {
    const expiry = this.#before(UPLOAD_URL_HOURS * HOUR_MS)
    await this.#database.write((tx) => discardExpired(tx, expiry, MAX_DISCARDED_AT_ONCE))
    await this.#database.write((tx) => this.#deleteSoftDeleted(tx))
    for (let step = 0; step < STEPS_A_SWEEP && !this.#isStopped; step++) {
      const upload = await this.#sweepUpload(this.#place)
      this.#place = upload ?? START
      if (upload === undefined) break
    }
    for (let step = 0; step < STEPS_A_SWEEP && !this.#isStopped; step++) {
      if (!(await this.#sweepBlocks())) break
    }
  }

  #before(milliseconds: number): string {
    return timestamp(new Date(this.#clock.now().getTime() - milliseconds))
  }

  /** What was deleted softly long ago is deleted for good; its chunks go with the steps of this sweep or the next ones. */
  async #deleteSoftDeleted(tx: Transaction): Promise<void> {
    const { secretKey, deletedStateDays } = this.#config
    const before = this.#before(deletedStateDays * 24 * HOUR_MS)
    const context = { at: this.#before(0), requestId: null, actor: null, key: this.#auditKey }
    for (const row of await findSoftDeletedBefore(tx, before, MAX_DELETED_AT_ONCE)) {
      await deleteContent(tx, row.id, secretKey)
      await insertAuditEvents(tx, context, [
        {
          action: 'state-version.permanently-delete-content',
          organizationId: row.organization_id,
          resourceType: 'state-versions',
          resourceId: row.id,
          details: { serial: row.serial, 'workspace-id': row.workspace_id },
        },
      ])
    }
  }

  async #sweepVersion(stateVersionId: string): Promise<void> {
    let place: SweepPlace | undefined = { ...START, stateVersionId }
    while (place?.stateVersionId === stateVersionId && !this.#isStopped)
      place = await this.#sweepUpload(place)
  }

  /** Looks at the next upload after `place`, and deletes it when nothing counts on it. */
  async #sweepUpload(place: SweepPlace): Promise<SweepPlace | undefined> {
    const expiry = this.#before(UPLOAD_URL_HOURS * HOUR_MS)
    const upload = await this.#database.read((tx) => nextUpload(tx, place, expiry, this.#before(0)))
    if (upload?.isLeft === true) {
      let deleted: number
      do deleted = await this.#database.write((tx) => deleteSomeChunks(tx, upload, CHUNKS_A_TRANSACTION))
      while (deleted === CHUNKS_A_TRANSACTION && !this.#isStopped)
    }
    return upload
  }

  async #sweepBlocks(): Promise<boolean> {
    const found = await this.#database.read((tx) => nextBlocks(tx, this.#blocksPlace))
    this.#blocksPlace = found?.id ?? ''
    if (found === undefined) return false
    if (found.isLeft) await this.#database.write((tx) => deleteOutputBlocks(tx, found.id))
    return true
  }
}
