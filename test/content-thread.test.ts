import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openOutputs } from '../src/outputs/output-blocks.ts'
import { newDataKey, openPieces } from '../src/state-versions/state-crypto.ts'
import { StateError } from '../src/state-file/state-error.ts'
import { CHUNK_BYTES, type Upload } from '../src/state-content/seal-pass.ts'
import {
  StateThreadError,
  ContentThreadClient,
  type StateUpload,
} from '../src/state-content/content-thread-client.ts'
import { differenceOf } from './support/difference.ts'
import { cut } from './support/json-texts.ts'

/** On a busy machine a thread takes long to start. */
const patient = { timeout: 50_000 }

let folder: string
let flags: Int32Array
let worker: ContentThreadClient

function start(idleMs = 60_000): ContentThreadClient {
  const module = new URL('support/folder-sink.ts', import.meta.url).href
  return new ContentThreadClient({ sink: { module, options: { folder, gate: flags.buffer } }, idleMs })
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'states-'))
  flags = new Int32Array(new SharedArrayBuffer(8))
  flags[1] = 1
  worker = start()
})

afterEach(async () => {
  await worker.close()
  rmSync(folder, { recursive: true })
})

function uploadOf(uploadId: string): Upload {
  return {
    kind: 'state',
    stateVersionId: 'sv-1',
    uploadId,
    dataKey: newDataKey(),
    chunks: 'stored',
    inlineOutputBytes: 1024,
  }
}

/** A state with characters that lie across the ends of chunks. */
function stateOf(size: number): Buffer {
  const text = `${randomBytes(8).toString('hex')}${'€'.repeat(size / 3)}`
  return Buffer.from(`{"version":4,"outputs":{"a":{"value":1.0}},"x":"${text}"}`)
}

async function stored(upload: Upload, chunks: number): Promise<Buffer> {
  const sealed = Array.from({ length: chunks }, (_, number) =>
    readFileSync(join(folder, `${upload.uploadId}-${number}`)),
  )
  const plain: Uint8Array[] = []
  for await (const part of openPieces(upload.dataKey, upload, sealed)) plain.push(part)
  return Buffer.concat(plain)
}

/** Waits until the thread has handled all earlier messages. It answers in order. */
async function messagesSeen(fence: StateUpload): Promise<void> {
  await fence.push(Buffer.from(']'))
  await expect(fence.finish()).rejects.toThrow(StateError)
}

describe('uploads through the thread', () => {
  test('are stored, and their outputs come back sealed', async () => {
    const upload = uploadOf('one')
    const bytes = stateOf(3 * CHUNK_BYTES)
    const running = worker.begin(upload)
    for (const part of cut(bytes, [65_536, 1, 100_000])) {
      const copy = Uint8Array.from(part)
      await running.push(copy)
      copy.fill(0)
    }
    const result = await running.finish()
    expect(result).toMatchObject({
      md5: createHash('md5').update(bytes).digest('hex'),
      size: bytes.length,
      chunks: 4,
      header: { version: 4 },
      outputs: { count: 1 },
    })
    expect(differenceOf(await stored(upload, 4), bytes)).toBeUndefined()
    const blocks = result.outputs?.blocks ?? []
    expect(blocks.flatMap((block) => openOutputs(upload.dataKey, 'sv-1', block))).toMatchObject([
      { name: '"a"', value: '1.0' },
    ])
    expect(worker.bytesUnderway).toBe(0)
  })

  test('do not get into each other', async () => {
    const uploads = ['one', 'two', 'three'].map((id) => ({
      upload: uploadOf(id),
      bytes: stateOf(2 * CHUNK_BYTES),
    }))
    const running = uploads.map(({ upload, bytes }) => ({
      begun: worker.begin(upload),
      parts: cut(bytes, [50_000]),
    }))
    for (let index = 0; index < 12; index++) {
      for (const { begun, parts } of running) await begun.push(parts[index] ?? new Uint8Array(0))
    }
    const results = await Promise.all(running.map(({ begun }) => begun.finish()))
    for (const [index, { upload, bytes }] of uploads.entries()) {
      expect(results[index]?.md5).toBe(createHash('md5').update(bytes).digest('hex'))
      expect(differenceOf(await stored(upload, 3), bytes)).toBeUndefined()
    }
  })

  test('wait while nothing can be stored, and hold up no other', async () => {
    flags[1] = 0
    const slow = worker.begin(uploadOf('slow'))
    const bytes = stateOf(20 * CHUNK_BYTES)
    const pushed = slow.push(bytes)
    await Atomics.waitAsync(flags, 0, 0).value
    expect(worker.bytesUnderway).toBe(4 * CHUNK_BYTES)
    const broken = worker.begin(uploadOf('broken'))
    await broken.push(Buffer.from('{"version":99}'))
    await expect(broken.finish()).rejects.toThrow(StateError)
    expect(worker.bytesUnderway).toBe(4 * CHUNK_BYTES)
    flags[1] = 1
    Atomics.notify(flags, 1)
    await pushed
    expect(await slow.finish()).toMatchObject({ chunks: 21, size: bytes.length })
  })

  test('fail with what is wrong with the state', async () => {
    const running = worker.begin(uploadOf('one'))
    await running.push(Buffer.from('{"version":4,]'))
    await expect(running.finish()).rejects.toMatchObject({
      name: 'StateError',
      code: 'not-json',
      offset: 13,
      message: 'The state is not JSON at byte 13',
    })
  })

  test('learn of a failure while they are pushing', async () => {
    const running = worker.begin(uploadOf('one'))
    const push = async () => {
      for (;;) await running.push(Buffer.alloc(CHUNK_BYTES, ']'))
    }
    await expect(push()).rejects.toThrow(StateError)
    await expect(running.finish()).rejects.toThrow(StateError)
    await expect.poll(() => worker.bytesUnderway, patient).toBe(0)
  })

  test('fail with what the sink says, and others do not', async () => {
    const refused = worker.begin(uploadOf('refuse'))
    const fine = worker.begin(uploadOf('fine'))
    await refused.push(stateOf(10))
    await fine.push(stateOf(10))
    await expect(refused.finish()).rejects.toThrow('disk full')
    expect(await fine.finish()).toMatchObject({ chunks: 1 })
  })

  test('fail when they are given up, and leave room', async () => {
    const running = worker.begin(uploadOf('one'))
    await running.push(stateOf(2 * CHUNK_BYTES))
    running.abort()
    await expect(running.push(Buffer.from('x'))).rejects.toThrow(StateThreadError)
    await expect(running.finish()).rejects.toThrow('The upload was given up')
    await expect.poll(() => worker.bytesUnderway, patient).toBe(0)
    running.abort()
  })

  test('store nothing more after they were given up', async () => {
    flags[1] = 0
    const running = worker.begin(uploadOf('one'))
    const pushed = running.push(stateOf(8 * CHUNK_BYTES))
    await Atomics.waitAsync(flags, 0, 0).value
    running.abort()
    await expect(pushed).rejects.toThrow(StateThreadError)
    await messagesSeen(worker.begin(uploadOf('fence')))
    flags[1] = 1
    Atomics.notify(flags, 1)
    await worker.close()
    expect(existsSync(join(folder, 'one-1'))).toBe(false)
  })
})

describe('the thread', () => {
  test('starts with the first upload, and ends in good order when there is none', async () => {
    worker = start(0)
    expect(worker.isRunning).toBe(false)
    const running = worker.begin(uploadOf('one'))
    expect(worker.isRunning).toBe(true)
    await running.push(stateOf(10))
    await running.finish()
    await expect.poll(() => worker.isRunning, patient).toBe(false)
    await expect.poll(() => existsSync(join(folder, 'closed')), patient).toBe(true)
    const next = worker.begin(uploadOf('two'))
    await next.push(stateOf(10))
    expect(await next.finish()).toMatchObject({ chunks: 1 })
  })

  test('that crashes fails the uploads in it; the next one has a new thread', async () => {
    const crash = worker.begin(uploadOf('crash'))
    const beside = worker.begin(uploadOf('beside'))
    await beside.push(stateOf(10))
    await crash.push(stateOf(10))
    flags[1] = 0
    const ends = [crash.finish(), beside.finish()]
    for (const end of ends) {
      await expect(end).rejects.toThrow(
        new StateThreadError('The thread that reads states has ended: exit code 7'),
      )
    }
    await expect(beside.push(Buffer.from('x'))).rejects.toThrow(StateThreadError)
    flags[1] = 1
    expect(worker.isRunning).toBe(false)
    const next = worker.begin(uploadOf('next'))
    await next.push(stateOf(10))
    expect(await next.finish()).toMatchObject({ chunks: 1 })
  })

  test('whose sink does not open fails its uploads', async () => {
    const broken = new ContentThreadClient({
      sink: { module: 'file:///nowhere.ts', options: null },
      idleMs: 60_000,
    })
    const running = broken.begin(uploadOf('one'))
    await expect(running.finish()).rejects.toThrow(StateThreadError)
    await broken.close()
  })

  test('is closed once nothing is being stored, and fails what has not ended', async () => {
    flags[1] = 0
    const running = worker.begin(uploadOf('one'))
    await running.push(stateOf(2 * CHUNK_BYTES))
    await Atomics.waitAsync(flags, 0, 0).value
    const fence = worker.begin(uploadOf('fence'))
    const closed = worker.close()
    await messagesSeen(fence)
    flags[1] = 1
    Atomics.notify(flags, 1)
    await closed
    expect(readFileSync(join(folder, 'closed'), 'utf8')).toBe('0 unfinished')
    await expect(running.finish()).rejects.toThrow(StateThreadError)
    expect(worker.isRunning).toBe(false)
  })
})

test('a thread that cannot begin fails the upload, and not the next one', async () => {
  const options = {}
  const module = new URL('support/folder-sink.ts', import.meta.url).href
  // What no thread can be given makes its start fail, as a system does that has no room for a thread.
  Object.assign(options, { folder, gate: () => {} })
  const client = new ContentThreadClient({ sink: { module, options }, idleMs: 60_000 })
  expect(() => client.begin(uploadOf('first'))).toThrow(StateThreadError)
  Object.assign(options, { gate: flags.buffer })
  const upload = client.begin(uploadOf('second'))
  await upload.push(stateOf(1_000))
  expect((await upload.finish()).outputs?.count).toBe(1)
  await client.close()
})
