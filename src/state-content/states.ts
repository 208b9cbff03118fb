import { existing } from '../core/existing.ts'
import type { Logger } from 'pino'
import type { ServerConfig } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { randomBase58 } from '../core/ids.ts'
import { AppError, Overload } from '../core/errors.ts'
import type { Database } from '../database/database.ts'
import type { DatabasePlace } from '../database/open.ts'
import { logRepeated } from '../database/unavailable.ts'
import type { BytesInFlight, Held } from '../core/bytes-in-flight.ts'
import type { Base64Content } from '../state-uploads/base64-content.ts'
import type { StoredBytes } from './state-bytes-store.ts'
import { deleteForgotten, type ContentKind, type UploadAddress } from './state-chunk-store.ts'
import { unwrapDataKey } from '../state-versions/state-crypto.ts'
import { OutputJobs } from '../outputs/output-jobs.ts'
import {
  CHUNK_BYTES,
  passAtOnce,
  type Passed,
  type PassResult,
  type SealedChunk,
  type Upload,
} from './seal-pass.ts'
import { StateSweep } from './state-sweep.ts'
import type { StateVersionRow } from '../state-versions/state-version-store.ts'
import { StateThreadError, ContentThreadClient } from './content-thread-client.ts'
import { storedContent } from './stored-content.ts'

/** Content up to this size is processed on the main thread, because the transfer to the thread would take longer. */
const MAX_AT_ONCE_BYTES = 128 * 1024
const THREAD_IDLE_MS = 30_000
const MAX_UPLOADS_OF_VERSION = 16
/** Memory of each upload, however slow: one chunk here and one in the thread. */
const UPLOAD_BYTES = 2 * CHUNK_BYTES
/** Small, so that other writers get a turn: an upload may have thousands of chunks. */
const CHUNKS_FORGOTTEN_AT_ONCE = 8

/** An upload whose chunks are stored. */
export type StoredUpload = Upload & UploadAddress

/** Calls `push` with the bytes of a content, in order, and awaits each call. */
export type Source = (push: (bytes: Uint8Array) => Promise<void>) => Promise<void>

export function sourceOf(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Source {
  return async (push) => {
    for await (const bytes of content) await push(bytes)
  }
}

/** Reads, seals and stores arriving states beside the requests. */
export class States {
  readonly #database: Database
  readonly #config: ServerConfig
  readonly #log: Logger
  readonly #worker: ContentThreadClient
  readonly #jobs: OutputJobs
  readonly #sweep: StateSweep
  /** Number of arriving uploads by version id. */
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
    const options: DatabasePlace = { data: config.data, databaseUrl: config.databaseUrl }
    const extension = import.meta.filename.endsWith('.ts') ? 'ts' : 'js'
    const module = new URL(`./state-sink.${extension}`, import.meta.url).href
    this.#worker = new ContentThreadClient({ sink: { module, options }, idleMs: THREAD_IDLE_MS })
    this.#sweep = new StateSweep(database, config, clock, log)
    this.#jobs = new OutputJobs(database, clock, log, (stateVersion, keep) =>
      this.#process(stateVersion, keep),
    )
  }

  start(): void {
    this.#jobs.start()
    this.#sweep.start()
  }

  /** Tells the jobs that a finalized version has unprocessed outputs. */
  wake(): void {
    this.#jobs.wake()
  }

  /** The bytes of all organizations as they were a minute ago or less. Undefined before the first sweep. */
  get stored(): StoredBytes | undefined {
    return this.#sweep.stored
  }

  /** Sweeps a version whose content was deleted for good, beside the requests. */
  sweep(id: string): void {
    this.#sweep.sweepVersion(id)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#forgetting
    await this.#jobs.stop()
    await this.#sweep.stop()
    await this.#worker.close()
  }

  /** Reads and seals content in memory; the chunks are returned. Throws StateError and 503. */
  async pass(upload: Upload, content: Base64Content, holders: readonly string[]): Promise<Passed> {
    if (content.mostBytes <= MAX_AT_ONCE_BYTES) return passAtOnce(upload, content.whole())
    const chunks: SealedChunk[] = []
    // Two chunks and what the thread holds. The returned chunks are already counted with the body.
    return this.#holding(holders, async (held) => {
      const returned = (chunk: SealedChunk) => void chunks.push(chunk)
      const result = await this.#receive(upload, sourceOf(content.pieces()), held, returned)
      return { chunks, result }
    })
  }

  /**
   * Reads, seals and stores content while it arrives. Throws StateError, the errors of `source`, and 503 if there are
   * too many other uploads.
   *
   * @param holders who the memory is counted for (see BytesInFlight)
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
        // Up to one chunk, nothing has been stored yet.
        if (size > CHUNK_BYTES) this.forget(upload)
        throw error
      }
    })
  }

  async #beside<T>(id: string, holders: readonly string[], work: (held: Held) => Promise<T>): Promise<T> {
    const others = this.#arriving.get(id) ?? 0
    if (others >= MAX_UPLOADS_OF_VERSION) {
      throw new Overload('uploads', 'too many uploads of this state arrive at once; try again')
    }
    return this.#holding(holders, async (held) => {
      this.#arriving.set(id, others + 1)
      try {
        return await work(held)
      } finally {
        const left = existing(this.#arriving.get(id)) - 1
        if (left === 0) this.#arriving.delete(id)
        else this.#arriving.set(id, left)
      }
    })
  }

  /** Takes the memory of an upload, and throws 503 if the thread is lost. */
  async #holding<T>(holders: readonly string[], work: (held: Held) => Promise<T>): Promise<T> {
    const held = this.#bytesInFlight.take(UPLOAD_BYTES, holders)
    try {
      return await work(held)
    } catch (error) {
      throw this.#lostThread(error)
    } finally {
      held.release()
    }
  }

  /** Sends content through the thread. Throws StateError, StateThreadError and the errors of `source`. */
  async #receive(
    upload: Upload,
    source: Source,
    held?: Held,
    returned?: (chunk: SealedChunk) => void,
  ): Promise<PassResult> {
    const running = this.#worker.begin(upload, returned)
    try {
      await source(async (bytes) => {
        await running.push(bytes)
        held?.resize(UPLOAD_BYTES + running.heldBytes)
      })
      return await running.finish()
    } catch (error) {
      running.abort()
      throw error
    }
  }

  #lostThread(error: unknown): unknown {
    if (!(error instanceof StateThreadError)) return error
    // The thread uses its own connection, so it cannot report an outage to `availability` itself.
    if (error.detail !== undefined) this.#database.availability.suspect(error)
    else this.#log.error({ error }, 'an upload could not be stored')
    const detail = error.detail ?? 'the upload could not be stored; try again'
    return new AppError('unavailable', detail, { cause: error })
  }

  /**
   * Deletes the chunks of an unused upload in the background, one upload at a time. After a crash the sweep does it.
   */
  forget({ stateVersionId, kind, uploadId }: UploadAddress): void {
    const address = { stateVersionId, kind, uploadId }
    const forgetSome = () =>
      this.#database.write((tx) => deleteForgotten(tx, address, CHUNKS_FORGOTTEN_AT_ONCE))
    this.#forgetting = this.#forgetting
      .then(async () => {
        while (!this.#isStopped && (await forgetSome()));
      })
      .catch((error: unknown) => logRepeated(this.#log, error, 'a broken upload is left to the sweep'))
  }

  /** Reads a stored state again: its header and the number of its outputs. Throws 503 as uploads do. */
  examine(stateVersion: StateVersionRow, holders: readonly string[]): Promise<PassResult> {
    return this.#beside(stateVersion.id, holders, () => this.#read(stateVersion, 0))
  }

  /** Reads the outputs of a stored state. */
  async #process(stateVersion: StateVersionRow, keep: () => Promise<void>) {
    const { outputs } = await this.#read(stateVersion, Number.MAX_SAFE_INTEGER, keep)
    return { count: outputs?.count ?? 0, blocks: outputs?.blocks ?? [] }
  }

  #read(
    stateVersion: StateVersionRow,
    inlineOutputBytes: number,
    keep?: () => Promise<void>,
  ): Promise<PassResult> {
    const upload: Upload = {
      stateVersionId: stateVersion.id,
      kind: 'state',
      uploadId: randomBase58(16),
      dataKey: unwrapDataKey(this.#config.secretKey, stateVersion.id, stateVersion.wrapped_key),
      inlineOutputBytes,
      chunks: 'dropped',
    }
    return this.#receive(upload, async (push) => {
      for await (const bytes of this.content(stateVersion, 'state')) {
        await push(bytes)
        await keep?.()
      }
    })
  }

  /** The stored content of a version. Throws if it is incomplete. */
  content(stateVersion: StateVersionRow, kind: ContentKind): AsyncGenerator<Uint8Array> {
    return storedContent({ database: this.#database, config: this.#config }, stateVersion, kind)
  }
}
