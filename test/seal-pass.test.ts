import { createHash, randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openOutputs } from '../src/outputs/output-blocks.ts'
import { newDataKey, openPieces } from '../src/state-versions/state-crypto.ts'
import { StateError } from '../src/state-file/state-error.ts'
import {
  CHUNK_BYTES,
  passAtOnce,
  SealPass,
  type SealedChunk,
  type Upload,
} from '../src/state-content/seal-pass.ts'
import { differenceOf } from './support/difference.ts'
import { cut } from './support/json-texts.ts'

function uploadOf(kind: Upload['kind'], changes: Partial<Upload> = {}): Upload {
  return {
    kind,
    stateVersionId: 'sv-1',
    uploadId: 'one',
    dataKey: newDataKey(),
    chunks: 'stored',
    inlineOutputBytes: 1024,
    ...changes,
  }
}

async function open(upload: Upload, chunks: SealedChunk[]): Promise<Buffer> {
  expect(chunks.map(({ number }) => number)).toEqual([...chunks.keys()])
  const plain: Uint8Array[] = []
  const sealed = chunks.map((chunk) => chunk.sealed)
  for await (const part of openPieces(upload.dataKey, upload, sealed)) plain.push(part)
  return Buffer.concat(plain)
}

const outputs =
  '{"b":{"value":"two","type":"string","sensitive":true},"a":{"value":[1.0],"type":["list","number"]}}'

/** A state of exactly this many bytes. */
function stateOf(size: number): Buffer {
  const start = `{"version":4,"terraform_version":"1.10.10","serial":3,"lineage":"l","outputs":${outputs},"x":"`
  return Buffer.from(
    `${start}${randomBytes(size)
      .toString('hex')
      .slice(0, size - start.length - 2)}"}`,
  )
}

describe('the pass over a state', () => {
  test.each([
    ['less than a chunk', CHUNK_BYTES - 1, 1],
    ['one chunk', CHUNK_BYTES, 1],
    ['a chunk and a byte', CHUNK_BYTES + 1, 2],
    ['three chunks', 3 * CHUNK_BYTES, 3],
  ])('stores %s', async (_, size, count) => {
    const upload = uploadOf('state')
    const bytes = stateOf(size)
    const { chunks, result } = passAtOnce(upload, bytes)
    expect(chunks).toHaveLength(count)
    expect(differenceOf(await open(upload, chunks), bytes)).toBeUndefined()
    expect(result).toMatchObject({
      md5: createHash('md5').update(bytes).digest('hex'),
      size,
      chunks: count,
      header: { version: 4, terraformVersion: '1.10.10', encrypted: false },
    })
  })

  test('gives the outputs in sealed blocks', () => {
    const upload = uploadOf('state')
    const { result } = passAtOnce(upload, stateOf(1000))
    const blocks = result.outputs?.blocks ?? []
    expect(result.outputs).toMatchObject({ count: 2, bytes: 3 + 5 + 8 + 3 + 5 + 17 })
    expect(blocks.flatMap((block) => openOutputs(upload.dataKey, 'sv-1', block))).toEqual([
      { name: '"a"', value: '[1.0]', type: 'array', detailedType: '["list","number"]', sensitive: false },
      { name: '"b"', value: '"two"', type: 'string', detailedType: '"string"', sensitive: true },
    ])
  })

  test('only counts outputs that are too many bytes to be written at once', () => {
    const { outputs } = passAtOnce(uploadOf('state', { inlineOutputBytes: 40 }), stateOf(1000)).result
    expect(outputs).toEqual({ count: 2, bytes: 41, blocks: null })
    const none = passAtOnce(uploadOf('state', { inlineOutputBytes: 0 }), Buffer.from('{"version":4}')).result
    expect(none.outputs).toEqual({ count: 0, bytes: 0, blocks: [] })
  })

  test('gives no outputs of an encrypted state', () => {
    const file = '{"serial":1,"lineage":"l","meta":{},"encrypted_data":"AA==","encryption_version":"v0"}'
    expect(passAtOnce(uploadOf('state'), Buffer.from(file)).result).toMatchObject({
      header: { encrypted: true, version: null },
      outputs: null,
    })
  })

  test('does not depend on how the bytes arrive, and keeps no hold of them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 300, max: 3 * CHUNK_BYTES }),
        fc.array(fc.integer({ min: 1, max: 2 * CHUNK_BYTES }), { minLength: 1, maxLength: 3 }),
        async (size, sizes) => {
          const upload = uploadOf('state')
          const bytes = stateOf(size)
          const pass = new SealPass(upload)
          const chunks: SealedChunk[] = []
          // The last size limits the number of parts, however small the random sizes are.
          for (const part of cut(bytes, [...sizes, CHUNK_BYTES])) {
            const copy = Uint8Array.from(part)
            chunks.push(...pass.push(copy))
            copy.fill(0)
          }
          const end = pass.finish()
          expect(differenceOf(await open(upload, [...chunks, ...end.chunks]), bytes)).toBeUndefined()
          expect(end.result.chunks).toBe(Math.ceil(size / CHUNK_BYTES))
          expect(end.result.md5).toBe(createHash('md5').update(bytes).digest('hex'))
        },
      ),
      { numRuns: 30 },
    )
  })

  test('fills a chunk before it begins the next', () => {
    const pass = new SealPass(uploadOf('json-state'))
    const parts = [CHUNK_BYTES - 1, 1, 1].map((size) => pass.push(new Uint8Array(size)).length)
    expect(parts).toEqual([0, 0, 1])
    expect(pass.finish().result.chunks).toBe(2)
  })

  test('refuses a broken state where it breaks, and a cut off one at its end', () => {
    const pass = new SealPass(uploadOf('state'))
    pass.push(Buffer.from('{"version":4,'))
    expect(() => pass.push(Buffer.from('}'))).toThrow(StateError)
    const other = new SealPass(uploadOf('state'))
    other.push(Buffer.from('{"version":4'))
    expect(() => other.finish()).toThrow(StateError)
  })
})

test('the pass over a JSON state stores any bytes', async () => {
  const upload = uploadOf('json-state')
  const bytes = randomBytes(CHUNK_BYTES + 10)
  const { chunks, result } = passAtOnce(upload, bytes)
  expect(differenceOf(await open(upload, chunks), bytes)).toBeUndefined()
  expect(result).toMatchObject({ size: bytes.length, chunks: 2, header: null, outputs: null })
  expect(await open(upload, passAtOnce(upload, Buffer.alloc(0)).chunks)).toEqual(Buffer.alloc(0))
})

test('the pass over a document of outputs stores nothing but the outputs', () => {
  const upload = uploadOf('json-state-outputs')
  const { chunks, result } = passAtOnce(upload, Buffer.from(outputs))
  expect(chunks).toEqual([])
  expect(result).toMatchObject({ size: outputs.length, chunks: 0, header: null, outputs: { count: 2 } })
  const blocks = result.outputs?.blocks ?? []
  expect(
    blocks
      .flatMap((block) => openOutputs(upload.dataKey, 'sv-1', block))
      .map((output) => 'name' in output && output.name),
  ).toEqual(['"a"', '"b"'])
  expect(() => passAtOnce(upload, Buffer.from('[]'))).toThrow(StateError)
})
