import { setPriority } from 'node:os'
import { inspect } from 'node:util'
import { parentPort, workerData } from 'node:worker_threads'
import { AppError } from '../core/errors.ts'
import { StateError, type StateErrorCode } from './state-error.ts'
import { StatePass, type PassResult, type SealedChunk, type Upload } from './state-pass.ts'

/** What state-worker.ts starts in a thread of its own: passes over uploads, so that the main thread never stalls. */

/** Where chunks go to. `store` is called in order for each upload, and waited for: that is what slows an upload down. */
export type ChunkSink = {
  store(upload: Upload, chunk: SealedChunk): Promise<void>
  close(): Promise<void>
}

/** What a sink's module exports as `openSink`. It is called in the thread, once. */
export type OpenSink = (options: unknown) => Promise<ChunkSink>

export type ThreadData = { sinkModule: string; sinkOptions: unknown }

export type ToThread =
  | { type: 'begin'; id: number; upload: Upload }
  | { type: 'push'; id: number; bytes: Uint8Array<ArrayBuffer>; length: number }
  | { type: 'finish'; id: number }
  | { type: 'abort'; id: number }
  | { type: 'close' }

export type FromThread =
  /** The bytes have been dealt with; their memory comes back to be used again. */
  | { type: 'taken'; id: number; bytes: Uint8Array<ArrayBuffer>; heldBytes: number }
  /** A chunk of an upload whose chunks are wanted back. */
  | { type: 'chunk'; id: number; chunk: SealedChunk }
  | { type: 'done'; id: number; result: PassResult }
  | { type: 'failed'; id: number; failure: Failure }
  | { type: 'closed' }

/** With a `code` where the state is at fault, with a `detail` where the caller may know what is wrong with the server. */
type Failure =
  | { message: string; detail: string | undefined }
  | { code: StateErrorCode; problem: string; offset: number | undefined }

const THREAD_NICENESS = 5

type Running = { upload: Upload; pass: StatePass; last: Promise<void> }

if (parentPort === null) throw new Error('This module runs in a worker thread only')
const port = parentPort
// Requests come first where processors are few. On Linux this is the thread's own niceness; elsewhere it would be the whole
// process's.
if (process.platform === 'linux') setPriority(THREAD_NICENESS)
const { sinkModule, sinkOptions } = workerData as ThreadData
const { openSink } = (await import(sinkModule)) as { openSink: OpenSink }
const sink = await openSink(sinkOptions)
const uploads = new Map<number, Running>()

function post(message: FromThread, transferred: ArrayBuffer[] = []): void {
  port.postMessage(message, transferred)
}

/** Takes a step after those of the same upload that came before it. What a step throws ends the upload. */
function inTurn(id: number, step: (running: Running) => Promise<void>): Promise<void> {
  const running = uploads.get(id)
  if (running === undefined) return Promise.resolve()
  running.last = running.last.then(async () => {
    if (uploads.get(id) !== running) return
    try {
      await step(running)
    } catch (error) {
      uploads.delete(id)
      post({ type: 'failed', id, failure: failureOf(error) })
    }
  })
  return running.last
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof StateError)) {
    const detail = error instanceof AppError ? error.problems[0]?.detail : undefined
    return { message: inspect(error), detail }
  }
  return { code: error.code, problem: error.problem, offset: error.offset }
}

async function handOn(id: number, { upload }: Running, chunks: SealedChunk[]): Promise<void> {
  for (const chunk of chunks) {
    if (upload.chunks === 'stored') await sink.store(upload, chunk)
    else post({ type: 'chunk', id, chunk }, [chunk.sealed.buffer])
  }
}

async function finish(id: number, running: Running): Promise<void> {
  const { chunks, result } = running.pass.finish()
  await handOn(id, running, chunks)
  uploads.delete(id)
  const blocks = result.outputs?.blocks ?? []
  post(
    { type: 'done', id, result },
    blocks.map(({ sealed }) => sealed.buffer),
  )
}

async function close(): Promise<void> {
  await Promise.all(Array.from(uploads.values(), ({ last }) => last))
  await sink.close()
  post({ type: 'closed' })
}

port.on('message', (message: ToThread) => {
  switch (message.type) {
    case 'begin':
      uploads.set(message.id, {
        upload: message.upload,
        pass: new StatePass(message.upload),
        last: Promise.resolve(),
      })
      break
    case 'push': {
      const { id, bytes, length } = message
      void inTurn(id, (running) => handOn(id, running, running.pass.push(bytes.subarray(0, length)))).then(
        () =>
          post({ type: 'taken', id, bytes, heldBytes: uploads.get(id)?.pass.heldBytes ?? 0 }, [bytes.buffer]),
      )
      break
    }
    case 'finish':
      void inTurn(message.id, (running) => finish(message.id, running))
      break
    case 'abort':
      uploads.delete(message.id)
      break
    case 'close':
      void close()
  }
})
