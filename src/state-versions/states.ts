import type { Logger } from 'pino'
import type { ServerConfig } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { randomBase58 } from '../core/ids.ts'
import { AppError } from '../core/errors.ts'
import type { Database } from '../database/database.ts'
import { logRepeated } from '../database/unavailable.ts'
import type { BytesInFlight, Held } from '../http/bytes-in-flight.ts'
import type { Base64Content } from './base64-content.ts'
import { deleteForgotten, type ContentKind, type UploadAddress } from './state-chunk-store.ts'
import { unwrapDataKey } from './state-crypto.ts'
import { StateJobs } from './state-jobs.ts'
import { CHUNK_BYTES, passAtOnce, type PassResult, type SealedChunk, type Upload } from './state-pass.ts'
import { StateSweep } from './state-sweep.ts'
import type { SinkOptions } from './state-sink.ts'
import type { StateVersionRow } from './state-version-store.ts'
import { StateThreadError, StateWorker } from './state-worker.ts'
import { storedContent } from './stored-content.ts'

/** Content up to this size is passed over at once: handing it to the thread would take longer. */
const MAX_AT_ONCE_BYTES = 128 * 1024
const THREAD_IDLE_MS = 30_000
const MAX_UPLOADS_OF_VERSION = 16
/** Each upload holds a chunk here and one in the thread, however slowly it arrives. */
const UPLOAD_BYTES = 2 * CHUNK_BYTES
/** Others write in between: an upload may have thousands of chunks. */
const CHUNKS_FORGOTTEN_AT_ONCE = 8

/** An upload whose chunks are stored. */
export type StoredUpload = Upload & UploadAddress

/** Gives the bytes of a content to `push`, in order, and waits for it. */
export type Source = (push: (bytes: Uint8Array) => Promise<void>) => Promise<void>

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
  readonly #bytesInFlight: BytesInFlight
  #forgetting: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(
    database: Database,
    config: ServerConfig,
    clock: Clock,
    log: Logger,
    bytesInFlight: BytesInFlight,
  ) {
    this.#bytesInFlight = bytesInFlight
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
    this.#isStopped = true
    await this.#forgetting
    await this.#jobs.stop()
    await this.#sweep.stop()
    await this.#worker.close()
  }

  /** Reads and seals content that is at hand, for an upload whose chunks are returned. Throws StateError, and 503. */
  async pass(
    upload: Upload,
    content: Base64Content,
    holders: readonly string[],
  ): Promise<{ chunks: SealedChunk[]; result: PassResult }> {
    if (content.mostBytes <= MAX_AT_ONCE_BYTES)
      return passAtOnce(upload, Buffer.concat([...content.pieces()]))
    const chunks: SealedChunk[] = []
    const source: Source = async (push) => {
      for (const piece of content.pieces()) await push(piece)
    }
    // Two chunks, and what the thread holds; the chunks that come back are counted with the body.
    const held = this.#bytesInFlight.take(UPLOAD_BYTES, holders)
    try {
      const result = await this.#receive(upload, source, held, (chunk) => void chunks.push(chunk))
      return { chunks, result }
    } finally {
      held.release()
    }
  }

  /**
   * Reads, seals and stores content while it arrives. Throws StateError, what `source` throws, and 503 beside too many others.
   *
   * @param holders who answers for the memory that it takes (see BytesInFlight)
   */
  receive(upload: StoredUpload, source: Source, holders: readonly string[]): Promise<PassResult> {
    return this.#beside(upload.stateVersionId, holders, async (held) => {
      let size = 0
      const counted: Source = (push) =>
        source((bytes) => {
          size += bytes.length
          return push(bytes)
        })
      try {
        return await this.#receive(upload, counted, held)
      } catch (error) {
        // Before there is more than one chunk, nothing is stored.
        if (size > CHUNK_BYTES) this.forget(upload)
        throw error
      }
    })
  }

  async #beside<T>(id: string, holders: readonly string[], work: (held: Held) => Promise<T>): Promise<T> {
    const others = this.#arriving.get(id) ?? 0
    if (others >= MAX_UPLOADS_OF_VERSION) {
      throw new AppError('unavailable', [
        { detail: 'too many uploads of this state arrive at once; try again' },
      ])
    }
    const held = this.#bytesInFlight.take(UPLOAD_BYTES, holders)
    this.#arriving.set(id, others + 1)
    try {
      return await work(held)
    } finally {
      held.release()
      const left = (this.#arriving.get(id) as number) - 1
      if (left === 0) this.#arriving.delete(id)
      else this.#arriving.set(id, left)
    }
  }

  async #receive(
    upload: Upload,
    source: Source,
    held: Held,
    returned?: (chunk: SealedChunk) => void,
  ): Promise<PassResult> {
    const running = this.#worker.begin(upload, returned)
    try {
      await source(async (bytes) => {
        await running.push(bytes)
        held.resize(UPLOAD_BYTES + running.heldBytes)
      })
      return await running.finish()
    } catch (error) {
      running.abort()
      throw this.#lostThread(error)
    }
  }

  #lostThread(error: unknown): unknown {
    if (!(error instanceof StateThreadError)) return error
    // The thread has a connection of its own, and nobody else to tell of an outage.
    if (error.detail !== undefined) this.#database.availability.suspect(error)
    else this.#log.error({ error }, 'an upload could not be stored')
    const detail = error.detail ?? 'the upload could not be stored; try again'
    return new AppError('unavailable', [{ detail }], { cause: error })
  }

  /** Deletes what was stored of an upload that does not count, one after the other. What a crash leaves is swept. */
  forget({ stateVersionId, kind, uploadId }: UploadAddress): void {
    const address = { stateVersionId, kind, uploadId }
    const forgetSome = () =>
      this.#database.write((tx) => deleteForgotten(tx, address, CHUNKS_FORGOTTEN_AT_ONCE))
    this.#forgetting = this.#forgetting
      .then(async () => {
        while (!this.#isStopped && (await forgetSome()) === CHUNKS_FORGOTTEN_AT_ONCE);
      })
      .catch((error: unknown) => logRepeated(this.#log, error, 'a broken upload is left to the sweep'))
  }

  /** Reads a stored state: what it says about itself, and how many outputs it has. 503 as for uploads. */
  examine(stateVersion: StateVersionRow, holders: readonly string[]): Promise<PassResult> {
    return this.#beside(stateVersion.id, holders, async () => {
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

  /** The content of a version that has it; ends with an error when it is not whole. */
  content(stateVersion: StateVersionRow, kind: ContentKind): AsyncGenerator<Uint8Array> {
    return storedContent({ database: this.#database, config: this.#config }, stateVersion, kind)
  }
}
