import { setImmediate } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ServerConfig } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { randomBase58 } from '../core/ids.ts'
import { AppError } from '../core/errors.ts'
import type { Database } from '../database/database.ts'
import { deleteUpload, findChunk, type ContentKind, type UploadAddress } from './state-chunk-store.ts'
import { openPieces, unwrapDataKey } from './state-crypto.ts'
import { StateJobs } from './state-jobs.ts'
import { passAtOnce, type PassResult, type SealedChunk, type Upload } from './state-pass.ts'
import { StateSweep } from './state-sweep.ts'
import type { SinkOptions } from './state-sink.ts'
import type { StateVersionRow } from './state-version-store.ts'
import { StateThreadError, StateWorker } from './state-worker.ts'

/** Content up to this size is passed over at once: handing it to the thread would take longer. */
const MAX_AT_ONCE_BYTES = 128 * 1024
const THREAD_IDLE_MS = 30_000
/** Uploads at once, of one version and of all: each holds two chunks in memory, however slowly it arrives. */
const MAX_UPLOADS_OF_VERSION = 16
const MAX_UPLOADS = 256

/** States on their way in: reading, sealing and storing them beside the requests. */
export class States {
  readonly #database: Database
  readonly #config: ServerConfig
  readonly #log: Logger
  readonly #worker: StateWorker
  readonly #jobs: StateJobs
  readonly #sweep: StateSweep
  /** Uploads that are arriving, by the id of their version. */
  readonly #arriving = new Map<string, number>()
  #arrivingInAll = 0

  constructor(database: Database, config: ServerConfig, clock: Clock, log: Logger) {
    this.#database = database
    this.#config = config
    this.#log = log
    const options: SinkOptions = { data: config.data, databaseUrl: config.databaseUrl }
    const extension = import.meta.filename.endsWith('.ts') ? 'ts' : 'js'
    const module = new URL(`./state-sink.${extension}`, import.meta.url).href
    this.#worker = new StateWorker({ sink: { module, options }, idleMs: THREAD_IDLE_MS })
    this.#sweep = new StateSweep(database, config, clock, log)
    this.#jobs = new StateJobs(database, clock, log, (stateVersion, keep) =>
      this.#process(stateVersion, keep),
    )
  }

  start(): void {
    this.#jobs.start()
    this.#sweep.start()
  }

  /** Says that a version was finalized whose outputs are still to be processed. */
  wake(): void {
    this.#jobs.wake()
  }

  /** Says that the content of a version was deleted for good. */
  sweepSoon(id: string): void {
    this.#sweep.sweepSoon(id)
  }

  async stop(): Promise<void> {
    await this.#jobs.stop()
    await this.#sweep.stop()
    await this.#worker.close()
  }

  /** Reads and seals content that is at hand, for an upload whose chunks are returned. Throws StateError. */
  async pass(upload: Upload, content: Uint8Array): Promise<{ chunks: SealedChunk[]; result: PassResult }> {
    if (content.length <= MAX_AT_ONCE_BYTES) return passAtOnce(upload, content)
    const chunks: SealedChunk[] = []
    const running = this.#worker.begin(upload, (chunk) => void chunks.push(chunk))
    try {
      await running.push(content)
      return { chunks, result: await running.finish() }
    } catch (error) {
      throw this.#lostThread(error)
    }
  }

  /** Reads, seals and stores content while it arrives. Throws StateError, 413 past the limit, 503 beside too many others. */
  receive(upload: Upload, stream: AsyncIterable<Uint8Array>, limitBytes: number): Promise<PassResult> {
    return this.#beside(upload.stateVersionId, () => this.#receive(upload, stream, limitBytes))
  }

  async #beside<T>(id: string, work: () => Promise<T>): Promise<T> {
    const others = this.#arriving.get(id) ?? 0
    if (others >= MAX_UPLOADS_OF_VERSION || this.#arrivingInAll >= MAX_UPLOADS) {
      throw new AppError('unavailable', [{ detail: 'too many uploads arrive at once; try it again' }])
    }
    this.#arriving.set(id, others + 1)
    this.#arrivingInAll++
    try {
      return await work()
    } finally {
      this.#arrivingInAll--
      const left = (this.#arriving.get(id) as number) - 1
      if (left === 0) this.#arriving.delete(id)
      else this.#arriving.set(id, left)
    }
  }

  async #receive(upload: Upload, stream: AsyncIterable<Uint8Array>, limitBytes: number): Promise<PassResult> {
    const running = this.#worker.begin(upload)
    let size = 0
    try {
      for await (const bytes of stream) {
        size += bytes.length
        if (size > limitBytes)
          throw new AppError('too-large', [{ detail: `a state may have at most ${limitBytes} bytes` }])
        await running.push(bytes)
      }
      return await running.finish()
    } catch (error) {
      running.abort()
      throw this.#lostThread(error)
    }
  }

  #lostThread(error: unknown): unknown {
    if (!(error instanceof StateThreadError)) return error
    this.#log.error({ error }, 'an upload was lost with its thread')
    return new AppError('unavailable', [{ detail: 'the upload was interrupted; try it again' }])
  }

  /** Deletes what was stored of an upload that does not count. What a crash leaves is swept. */
  forget(address: UploadAddress): void {
    this.#database
      .write((tx) => deleteUpload(tx, address))
      .catch((error: unknown) => this.#log.warn({ error }, 'a broken upload is left to the sweep'))
  }

  /** Reads a stored state: what it says about itself, and how many outputs it has. 503 as for uploads. */
  examine(stateVersion: StateVersionRow): Promise<PassResult> {
    return this.#beside(stateVersion.id, async () => {
      try {
        return await this.#read(stateVersion, 0, () => Promise.resolve())
      } catch (error) {
        throw this.#lostThread(error)
      }
    })
  }

  /** Reads the outputs out of a stored state. */
  async #process(stateVersion: StateVersionRow, keep: () => Promise<void>) {
    const { outputs } = await this.#read(stateVersion, Number.MAX_SAFE_INTEGER, keep)
    return { count: outputs?.count ?? 0, blocks: outputs?.blocks ?? [] }
  }

  async #read(
    stateVersion: StateVersionRow,
    inlineOutputBytes: number,
    keep: () => Promise<void>,
  ): Promise<PassResult> {
    const running = this.#worker.begin({
      stateVersionId: stateVersion.id,
      kind: 'state',
      uploadId: randomBase58(16),
      dataKey: unwrapDataKey(this.#config.secretKey, stateVersion.id, stateVersion.wrapped_key),
      inlineOutputBytes,
      chunks: 'dropped',
    })
    try {
      for await (const bytes of this.content(stateVersion, 'state')) {
        await running.push(bytes)
        await keep()
      }
      return await running.finish()
    } catch (error) {
      running.abort()
      throw error
    }
  }

  /** The content of a version that has it, one chunk in memory at a time; ends with an error when it is not whole. */
  content(stateVersion: StateVersionRow, kind: ContentKind): AsyncGenerator<Uint8Array> {
    const uploadId = kind === 'state' ? stateVersion.upload_id : stateVersion.json_upload_id
    const address = { stateVersionId: stateVersion.id, kind, uploadId: uploadId as string }
    const dataKey = unwrapDataKey(this.#config.secretKey, stateVersion.id, stateVersion.wrapped_key)
    return openPieces(dataKey, address, this.#sealedChunks(address))
  }

  /**
   * The stored chunks of a content, each read by itself, so that a slow reader holds no transaction open, and each in a
   * turn of its own, so that a quick one does not keep all others waiting: SQLite and a fast socket never make it wait.
   */
  async *#sealedChunks(address: UploadAddress): AsyncGenerator<Uint8Array> {
    for (let number = 0; ; number++) {
      const sealed = await this.#database.read((tx) => findChunk(tx, address, number))
      if (sealed === undefined) return
      yield sealed
      await setImmediate()
    }
  }
}
