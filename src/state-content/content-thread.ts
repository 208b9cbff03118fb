import { inspect } from 'node:util'
import { parentPort, workerData } from 'node:worker_threads'
import { AppError } from '../core/errors.ts'
import { stepBack } from '../core/niceness.ts'
import { StateError, type StateErrorCode } from '../state-file/state-error.ts'
import { SealPass, type PassResult, type SealedChunk, type Upload } from './seal-pass.ts'

/** Runs in the thread that content-thread-client.ts starts: it processes uploads, so the main thread never stalls. */

/**
 * Where chunks are stored. Calls to `store` are in order for each upload and awaited, which slows a fast upload down.
 */
export type ChunkSink = {
  store(upload: Upload, chunk: SealedChunk): Promise<void>
  close(): Promise<void>
}

/** The `openSink` export of a sink's module. It is called once, in the thread. */
export type OpenSink = (options: unknown) => Promise<ChunkSink>

/** The URL of the module that stores chunks, and its options. */
export type ThreadData = { module: string; options: unknown }

export type ToThread =
  | { type: 'begin'; id: number; upload: Upload }
  | { type: 'push'; id: number; bytes: Uint8Array<ArrayBuffer>; length: number }
  | { type: 'finish'; id: number }
  | { type: 'abort'; id: number }
  | { type: 'close' }

export type FromThread =
  /** The bytes are processed; their memory is returned for reuse. */
  | { type: 'taken'; id: number; bytes: Uint8Array<ArrayBuffer>; heldBytes: number }
  /** A chunk of an upload with `chunks: 'returned'`. */
  | { type: 'chunk'; id: number; chunk: SealedChunk }
  | { type: 'done'; id: number; result: PassResult }
  | { type: 'failed'; id: number; failure: Failure }
  | { type: 'closed' }

/** `code`: the state is invalid. `detail`: a server problem that the caller may know about. */
type Failure =
  | { message: string; detail: string | undefined }
  | { code: StateErrorCode; problem: string; offset: number | undefined }

type Running = { upload: Upload; pass: SealPass; last: Promise<void> }

if (parentPort === null) throw new Error('This module runs in a worker thread only')
const port = parentPort
stepBack()
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ContentThreadClient starts this thread with it
const { module, options } = workerData as ThreadData
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each sink module exports it
const { openSink } = (await import(module)) as { openSink: OpenSink }
const sink = await openSink(options)
const uploads = new Map<number, Running>()

function post(message: FromThread, transferred: ArrayBuffer[] = []): void {
  port.postMessage(message, transferred)
}

/** Runs a step after the earlier steps of the same upload. If a step throws, the upload ends. */
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
        pass: new SealPass(message.upload),
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
