import type { Logger } from 'pino'
import { AuditKey } from '../audit/audit-links.ts'
import { insertAuditEvents } from '../audit/audit-store.ts'
import type { ServerConfig } from '../config.ts'
import { timeAfter, timestamp, type Clock } from '../core/clock.ts'
import { BackgroundLoop } from '../database/background-loop.ts'
import type { Database, Transaction, Work } from '../database/database.ts'
import { retentionTime, type RetentionTime } from '../database/retention-clock.ts'
import { logRepeated } from '../database/unavailable.ts'
import { sharedTime } from '../database/shared-clock.ts'
import { deleteSomeOutputBlocks } from '../outputs/output-block-store.ts'
import { storedBytes, type StoredBytes } from './state-bytes-store.ts'
import { deleteSomeChunks, type UploadAddress } from './state-chunk-store.ts'
import { deleteContent, findSoftDeletedBefore } from './state-content-store.ts'
import {
  areBlocksLeft,
  discardExpired,
  isLeft,
  nextBlocks,
  nextUpload,
  type SweepPlace,
} from './state-sweep-store.ts'
import { UPLOAD_URL_HOURS } from '../state-versions/upload-urls.ts'

const SWEEP_EVERY_MS = 60_000
const STEPS_A_SWEEP = 500
const CHUNKS_A_TRANSACTION = 50
const MAX_DISCARDED_AT_ONCE = 100
/** Soft-deleted content to delete at once: each adds an audit event to the same transaction. */
const MAX_DELETED_AT_ONCE = 10
const FAILURE = 'a sweep failed; the next one goes on'
const HOUR_MS = 3_600_000
const START: SweepPlace = { stateVersionId: '', kind: '', uploadId: '' }

type SweepConfig = Pick<ServerConfig, 'secretKey' | 'deletedStateDays'>

/**
 * Deletes data that no state version needs, in slices between requests: abandoned uploads, content of deleted versions,
 * and content that was soft-deleted long ago. (Without the version's key it is unreadable already.)
 */
export class StateSweep {
  readonly #database: Database
  readonly #clock: Clock
  readonly #log: Logger
  readonly #config: SweepConfig
  readonly #auditKey: AuditKey
  readonly #sweeping = new Set<Promise<void>>()
  #loop: BackgroundLoop | undefined
  #isStopped = false
  #place = START
  /** Empty before the first sweep: nothing counts as expired. */
  #expiry = ''
  #blocksPlace = ''
  /** The bytes of all organizations as the last sweep has seen them, for metrics. */
  stored: StoredBytes | undefined

  constructor(database: Database, config: SweepConfig, clock: Clock, log: Logger) {
    this.#config = config
    this.#auditKey = new AuditKey(config.secretKey)
    this.#database = database
    this.#clock = clock
    this.#log = log
  }

  start(): void {
    const options = { everyMs: SWEEP_EVERY_MS, log: this.#log, failure: FAILURE }
    this.#loop = new BackgroundLoop(options, () => this.sweep())
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all([this.#loop?.stop(), ...this.#sweeping])
  }

  /** Sweeps one version now. A failure is logged; a later sweep finds the version again. */
  sweepVersion(id: string): void {
    if (this.#isStopped) return
    const sweeping = this.#sweepVersion(id)
      .catch((error: unknown) => logRepeated(this.#log, error, FAILURE))
      .finally(() => this.#sweeping.delete(sweeping))
    this.#sweeping.add(sweeping)
  }

  /** One sweep with a limited number of steps; the next one continues where it ended. */
  async sweep(): Promise<void> {
    this.stored = await this.#database.read(storedBytes)
    const aged = await retentionTime(this.#database, this.#clock, this.#log)
    this.#expiry = timeAfter(aged.time, -UPLOAD_URL_HOURS * HOUR_MS)
    await this.#database.write((tx) => discardExpired(tx, this.#expiry, MAX_DISCARDED_AT_ONCE))
    await this.#database.write((tx) => this.#deleteSoftDeleted(tx, aged))
    for (let step = 0; step < STEPS_A_SWEEP && !this.#isStopped; step++) {
      const upload = await this.#sweepUpload(this.#place)
      this.#place = upload ?? START
      if (upload === undefined) break
    }
    for (let step = 0; step < STEPS_A_SWEEP && !this.#isStopped; step++) {
      if (!(await this.#sweepBlocks())) break
    }
  }

  async #isLeft(tx: Transaction, upload: UploadAddress): Promise<boolean> {
    return isLeft(tx, upload, timestamp(await sharedTime(tx, this.#clock)), this.#expiry)
  }

  /** Permanently deletes content that was soft-deleted long ago. This sweep or the next ones delete its chunks. */
  async #deleteSoftDeleted(tx: Transaction, { time, now }: RetentionTime): Promise<void> {
    const { secretKey, deletedStateDays } = this.#config
    const before = timeAfter(time, -deletedStateDays * 24 * HOUR_MS)
    const context = { at: timestamp(now), requestId: null, address: null, actor: null, key: this.#auditKey }
    for (const row of await findSoftDeletedBefore(tx, before, MAX_DELETED_AT_ONCE)) {
      await deleteContent(tx, row.id, secretKey)
      insertAuditEvents(tx, context, [
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
    await this.#sweepBlocksOf(stateVersionId)
  }

  /** Checks the next upload after `place` and deletes it if nothing needs it. */
  async #sweepUpload(place: SweepPlace): Promise<SweepPlace | undefined> {
    const upload = await this.#database.read((tx) => nextUpload(tx, place))
    if (upload !== undefined) {
      await this.#deleteLeft(
        (tx) => this.#isLeft(tx, upload),
        (tx) => deleteSomeChunks(tx, upload, CHUNKS_A_TRANSACTION),
      )
    }
    return upload
  }

  async #sweepBlocks(): Promise<boolean> {
    const id = await this.#database.read((tx) => nextBlocks(tx, this.#blocksPlace))
    this.#blocksPlace = id ?? ''
    if (id === undefined) return false
    await this.#sweepBlocksOf(id)
    return true
  }

  #sweepBlocksOf(id: string): Promise<void> {
    return this.#deleteLeft(
      (tx) => areBlocksLeft(tx, id),
      (tx) => deleteSomeOutputBlocks(tx, id),
    )
  }

  /** Deletes what nothing needs. Most is in use, so a read looks first and avoids the write lock. */
  async #deleteLeft(isLeft: Work<boolean>, deleteSome: Work<boolean>): Promise<void> {
    let isMore = await this.#database.read(isLeft)
    while (isMore && !this.#isStopped) {
      isMore = await this.#database.write(async (tx) => (await isLeft(tx)) && deleteSome(tx))
    }
  }
}
