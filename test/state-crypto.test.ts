import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  newDataKey,
  openPiece,
  openPieces,
  SealError,
  sealPiece,
  secretKeyFingerprint,
  unwrapDataKey,
  wrapDataKey,
  wrappedKeyFingerprint,
  type PieceAddress,
} from '../src/state-versions/state-crypto.ts'
import { differenceOf } from './support/difference.ts'
import { longTimeout, runs } from './support/runs.ts'

const address: PieceAddress = { stateVersionId: 'sv-1', kind: 'state', uploadId: 'one', number: 0 }

/** Flips one bit. */
function altered(bytes: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy[at] = (copy[at] as number) ^ 1
  return copy
}

describe('data keys', () => {
  const secretKey = randomBytes(32)
  const dataKey = newDataKey()

  test('are wrapped by the secret key, for one state version', () => {
    const wrapped = wrapDataKey(secretKey, 'sv-1', dataKey)
    expect(unwrapDataKey(secretKey, 'sv-1', wrapped)).toEqual(Buffer.from(dataKey))
    expect(Buffer.from(wrapped).includes(Buffer.from(dataKey))).toBe(false)
    expect(() => unwrapDataKey(secretKey, 'sv-2', wrapped)).toThrow(SealError)
  })

  test('carry the fingerprint of the secret key, and say whose they are when another is tried', () => {
    const wrapped = wrapDataKey(secretKey, 'sv-1', dataKey)
    const other = randomBytes(32)
    expect(wrappedKeyFingerprint(wrapped)).toBe(secretKeyFingerprint(secretKey))
    expect(secretKeyFingerprint(secretKey)).toMatch(/^[0-9a-f]{16}$/)
    expect(secretKeyFingerprint(other)).not.toBe(secretKeyFingerprint(secretKey))
    expect(() => unwrapDataKey(other, 'sv-1', wrapped)).toThrow(
      `Encrypted with the secret key of fingerprint ${secretKeyFingerprint(secretKey)}; this one's is ${secretKeyFingerprint(other)}`,
    )
  })

  test('are refused when a bit of them was altered', () => {
    const wrapped = wrapDataKey(secretKey, 'sv-1', dataKey)
    for (const at of wrapped.keys()) {
      expect(() => unwrapDataKey(secretKey, 'sv-1', altered(wrapped, at))).toThrow(SealError)
      expect(() => unwrapDataKey(secretKey, 'sv-1', wrapped.subarray(0, at))).toThrow(SealError)
    }
  })
})

describe('pieces', () => {
  const dataKey = newDataKey()

  test('give back their bytes', { timeout: longTimeout }, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), fc.boolean(), (plain, isLast) => {
        const opened = openPiece(dataKey, address, sealPiece(dataKey, address, isLast, plain))
        expect(differenceOf(opened.plain, plain)).toBeUndefined()
        expect(opened.isLast).toBe(isLast)
      }),
      runs(500, 50_000),
    )
  })

  test('never look alike, and have their memory to themselves', () => {
    const [one, two] = [
      sealPiece(dataKey, address, true, Buffer.from('x')),
      sealPiece(dataKey, address, true, Buffer.from('x')),
    ]
    expect(Buffer.from(one).equals(two)).toBe(false)
    expect(one.buffer.byteLength).toBe(one.length)
  })

  test('cannot stand in for another, nor be opened with another key', () => {
    const sealed = sealPiece(dataKey, address, false, Buffer.from('x'))
    const others: PieceAddress[] = [
      { ...address, stateVersionId: 'sv-2' },
      { ...address, kind: 'json-state' },
      { ...address, number: 1 },
      { ...address, uploadId: 'two' },
      { ...address, uploadId: null },
    ]
    for (const other of others) expect(() => openPiece(dataKey, other, sealed)).toThrow(SealError)
    expect(() => openPiece(newDataKey(), address, sealed)).toThrow(SealError)
  })

  test('are refused when a bit of them was altered, or when they are cut off', () => {
    const sealed = sealPiece(dataKey, address, false, Buffer.from('some text'))
    for (const at of sealed.keys()) {
      expect(() => openPiece(dataKey, address, altered(sealed, at))).toThrow(SealError)
      expect(() => openPiece(dataKey, address, sealed.subarray(0, at))).toThrow(SealError)
    }
    // With a wrong mark: as the last piece, or as no kind of piece.
    for (const mark of [0, 2, 3]) {
      const marked = Uint8Array.from(sealed)
      marked[0] = mark
      expect(() => openPiece(dataKey, address, marked)).toThrow(SealError)
    }
  })
})

describe('contents', () => {
  const dataKey = newDataKey()
  const seal = (number: number, isLast: boolean) =>
    sealPiece(dataKey, { ...address, number }, isLast, Buffer.from(`part ${number} `))
  const parts = [seal(0, false), seal(1, false), seal(2, true)]

  async function open(sealed: Uint8Array[]): Promise<string> {
    const plain: Uint8Array[] = []
    for await (const part of openPieces(dataKey, address, sealed)) plain.push(part)
    return Buffer.concat(plain).toString()
  }

  test('are opened piece by piece', async () => {
    expect(await open(parts)).toBe('part 0 part 1 part 2 ')
  })

  test('of an earlier run are opened: the layout stays', async () => {
    const sealed = [
      'Af9LCoPNpNfH/Ln7QaBHxkS62+Wflr5ewuvUB6U0RrtOgrygH/hgHqEd93vC',
      'AtIfII6+gLX6+MdohBmI7Dwb8qMa6f96paHmfPXdPuyl10akP3+AivV9c93I',
    ].map((text) => Buffer.from(text, 'base64'))
    const plain: Uint8Array[] = []
    for await (const part of openPieces(Buffer.alloc(32, 7), address, sealed)) plain.push(part)
    expect(Buffer.concat(plain).toString()).toBe('part 0 part 1 ')
  })

  test.each([
    ['without its end', () => parts.slice(0, 2)],
    ['without its beginning', () => parts.slice(1)],
    ['without anything', () => []],
    ['in another order', () => [parts[1], parts[0], parts[2]] as Uint8Array[]],
    ['twice', () => [...parts, ...parts]],
    ['with more after its end', () => [...parts, seal(3, true)]],
  ])('are refused %s', async (_, pieces) => {
    await expect(open(pieces())).rejects.toThrow(SealError)
  })
})
