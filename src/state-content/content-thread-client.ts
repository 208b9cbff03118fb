import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { reasonOf } from '../core/operator-error.ts'
import { StateError } from '../state-file/state-error.ts'
import { CHUNK_BYTES, type PassResult, type SealedChunk, type Upload } from './seal-pass.ts'
import type { FromThread, ThreadData, ToThread } from './content-thread.ts'

/** Limits for bytes on their way to the thread: for one upload, and for all uploads together. */
const MAX_UPLOAD_BYTES_UNDERWAY = 4 * CHUNK_BYTES
const MAX_BYTES_UNDERWAY = 64 * CHUNK_BYTES
const MAX_SPARE_BUFFERS = 16
/** A thread that exceeds this is ended. MAX_OUTPUT_BYTES limits what it holds. */
const MAX_HEAP_MIB = 768

type Bytes = Uint8Array<ArrayBuffer>

/** The thread or its sink failed. This is not the state's fault, so the same upload may be retried. */
export class StateThreadError extends Error {
  /** Set if the caller may know the reason. */
  readonly detail: string | undefined

  constructor(message: string, detail?: string) {
    super(message)
    this.detail = detail
  }
}

type StateWorkerOptions = {
  sink: ThreadData
  /** How long the thread stays alive after the last upload. */
  idleMs: number
}

/** One thread for all uploads. It is started on demand and ended after an idle time. */
export class ContentThreadClient {
  readonly #options: StateWorkerOptions
  #thread: Thread | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(options: StateWorkerOptions) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#thread !== undefined
  }

  /** Bytes that were sent to the thread and are not processed yet. */
  get bytesUnderway(): number {
    return this.#thread?.bytesUnderway ?? 0
  }

  /**
   * Throws StateThreadError if the system has no room for a thread.
   *
   * @param returned receives the chunks of an upload with `chunks: 'returned'`
   */
  begin(upload: Upload, returned?: (chunk: SealedChunk) => void): StateUpload {
    clearTimeout(this.#idle)
    this.#thread ??= this.#start()
    return this.#thread.begin(upload, returned)
  }

  /** Ends the thread after its current work. Unfinished uploads fail. */
  async close(): Promise<void> {
    clearTimeout(this.#idle)
    const thread = this.#thread
    this.#thread = undefined
    await thread?.close()
  }

  #start(): Thread {
    const thread: Thread = new Thread(this.#options.sink, {
      idle: () => {
        if (this.#thread !== thread) return
        this.#idle = setTimeout(() => void this.close(), this.#options.idleMs).unref()
      },
      gone: () => {
        if (this.#thread === thread) this.#thread = undefined
      },
    })
    return thread
  }
}

class Thread {
  readonly #worker: Worker
  readonly #events: { idle: () => void; gone: () => void }
  readonly #uploads = new Map<number, StateUpload>()
  readonly #spare: Bytes[] = []
  #waiting: (() => void)[] = []
  #lastId = 0
  bytesUnderway = 0

  constructor(sink: ThreadData, events: { idle: () => void; gone: () => void }) {
    this.#events = events
    this.#worker = startWorker(sink)
    this.#worker.on('message', (message: FromThread) => this.#receive(message))
    this.#worker.on('error', (error: Error) => this.#end(error.message))
    this.#worker.on('exit', (code) => this.#end(`exit code ${code}`))
  }

  begin(upload: Upload, returned?: (chunk: SealedChunk) => void): StateUpload {
    const id = ++this.#lastId
    const begun = new StateUpload(this, id, returned)
    this.#uploads.set(id, begun)
    this.#worker.ref()
    this.post({ type: 'begin', id, upload })
    return begun
  }

  buffer(): Bytes {
    return this.#spare.pop() ?? new Uint8Array(CHUNK_BYTES)
  }

  post(message: ToThread, transferred: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transferred)
  }

  /** Resolves at the next message from the thread, or when an upload or the thread ends. */
  change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  remove(id: number): StateUpload | undefined {
    const upload = this.#uploads.get(id)
    if (this.#uploads.delete(id) && this.#uploads.size === 0) {
      this.#worker.unref()
      this.#events.idle()
    }
    return upload
  }

  close(): Promise<void> {
    this.#worker.ref()
    const exit = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()))
    this.post({ type: 'close' })
    return exit
  }

  #receive(message: FromThread): void {
    switch (message.type) {
      case 'taken':
        this.bytesUnderway -= message.bytes.length
        this.#uploads.get(message.id)?.taken(message.bytes.length, message.heldBytes)
        if (this.#spare.length < MAX_SPARE_BUFFERS) this.#spare.push(message.bytes)
        break
      case 'chunk':
        this.#uploads.get(message.id)?.returned(message.chunk)
        break
      case 'done':
        this.remove(message.id)?.done(message.result)
        break
      case 'failed':
        this.remove(message.id)?.fail(errorOf(message.failure))
        break
      case 'closed':
        void this.#worker.terminate()
    }
    this.wake()
  }

  #end(reason: string): void {
    this.#events.gone()
    const error = new StateThreadError(`The thread that reads states has ended: ${reason}`)
    for (const upload of this.#uploads.values()) upload.fail(error)
    this.#uploads.clear()
    this.wake()
  }

  wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

function startWorker(workerData: ThreadData): Worker {
  const file = new URL(`./content-thread${extname(import.meta.filename)}`, import.meta.url)
  const resourceLimits = { maxOldGenerationSizeMb: MAX_HEAP_MIB }
  try {
    return new Worker(file, { name: 'states', workerData, resourceLimits })
  } catch (error) {
    throw new StateThreadError(`No thread can begin that reads states: ${reasonOf(error)}`)
  }
}

function errorOf(failure: Extract<FromThread, { type: 'failed' }>['failure']): Error {
  if ('message' in failure) return new StateThreadError(failure.message, failure.detail)
  return new StateError(failure.code, failure.problem, failure.offset)
}

/** One upload through the thread. After a failure, every call throws that failure. */
export class StateUpload {
  readonly #thread: Thread
  readonly #id: number
  readonly returned: (chunk: SealedChunk) => void
  /** Bytes that the thread holds for this upload, beside its chunks. */
  heldBytes = 0
  #buffer: Bytes | undefined
  #filled = 0
  #bytesUnderway = 0
  #failure: Error | undefined
  #end = Promise.withResolvers<PassResult>()

  constructor(thread: Thread, id: number, returned: (chunk: SealedChunk) => void = () => {}) {
    this.#thread = thread
    this.#id = id
    this.returned = returned
    // A failure may occur before anyone awaits `finish`: avoid an unhandled rejection.
    this.#end.promise.catch(() => {})
  }

  /** Copies the bytes and resolves when more may be sent. Throws StateError or StateThreadError. */
  async push(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length;) {
      this.#throwFailure()
      this.#buffer ??= this.#thread.buffer()
      const part = bytes.subarray(start, start + CHUNK_BYTES - this.#filled)
      this.#buffer.set(part, this.#filled)
      this.#filled += part.length
      start += part.length
      if (this.#filled === CHUNK_BYTES) this.#send(this.#buffer)
      while (this.#mustWait()) await this.#thread.change()
    }
    this.#throwFailure()
  }

  /** Resolves when every chunk is stored. Throws the same errors as `push`. */
  finish(): Promise<PassResult> {
    if (this.#failure === undefined) {
      if (this.#buffer !== undefined) this.#send(this.#buffer)
      this.#thread.post({ type: 'finish', id: this.#id })
    }
    return this.#end.promise
  }

  /** Aborts because the client has gone. Chunks that were stored are not deleted here. */
  abort(): void {
    if (this.#thread.remove(this.#id) === undefined) return
    this.#thread.post({ type: 'abort', id: this.#id })
    this.fail(new StateThreadError('The upload was given up'))
    this.#thread.wake()
  }

  /** Called for messages of the thread, like `done` and `fail`. */
  taken(length: number, heldBytes: number): void {
    this.#bytesUnderway -= length
    this.heldBytes = heldBytes
  }

  done(result: PassResult): void {
    this.#end.resolve(result)
  }

  fail(error: Error): void {
    this.#failure = error
    this.#end.reject(error)
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  #mustWait(): boolean {
    if (this.#failure !== undefined) return false
    return (
      this.#bytesUnderway >= MAX_UPLOAD_BYTES_UNDERWAY || this.#thread.bytesUnderway >= MAX_BYTES_UNDERWAY
    )
  }

  #send(bytes: Bytes): void {
    this.#thread.post({ type: 'push', id: this.#id, bytes, length: this.#filled }, [bytes.buffer])
    this.#thread.bytesUnderway += CHUNK_BYTES
    this.#bytesUnderway += CHUNK_BYTES
    this.#buffer = undefined
    this.#filled = 0
  }
}
