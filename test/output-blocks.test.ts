import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { randomBase58 } from '../src/core/ids.ts'
import {
  BLOCK_BYTES,
  openOutputs,
  packOutputs,
  sealOutputs,
  unpackOutputs,
  type SealedOutputBlock,
} from '../src/outputs/output-blocks.ts'
import {
  openPart,
  PART_BYTES,
  runsOf,
  type LargeOutput,
  type OutputText,
} from '../src/outputs/output-parts.ts'
import { outputId, OUTPUT_KEY_LENGTH, parseOutputId } from '../src/outputs/output-ids.ts'
import type { StateOutput } from '../src/state-file/outputs-collector.ts'
import { newDataKey, SealError } from '../src/state-versions/state-crypto.ts'
import { stringText, valueTokens } from './support/json-texts.ts'
import { longTimeout, runs } from './support/runs.ts'

const output: fc.Arbitrary<StateOutput> = fc.record({
  name: stringText,
  value: valueTokens.map((tokens) => tokens.join('')),
  detailedType: fc.constantFrom('"string"', '["tuple",["bool"]]', '["object",{"é\\n":"number"}]'),
  type: fc.constantFrom('string', 'number', 'boolean', 'array', 'object'),
  sensitive: fc.boolean(),
})

function outputOf(value: string): StateOutput {
  return { name: '"a"', value, type: 'string', detailedType: '"string"', sensitive: false }
}

describe('blocks of outputs', () => {
  test('give back what was packed', { timeout: longTimeout }, () => {
    fc.assert(
      fc.property(fc.array(output), (outputs) => {
        const unpacked = [...packOutputs(outputs)].flatMap(({ bytes }) => unpackOutputs(bytes))
        expect(unpacked).toEqual(outputs)
      }),
      runs(500, 50_000),
    )
  })

  test('hold 256 outputs at most', () => {
    const blocks = [...packOutputs(Array.from({ length: 600 }, () => outputOf('"x"')))]
    expect(blocks.map(({ firstPosition, count }) => [firstPosition, count])).toEqual([
      [0, 256],
      [256, 256],
      [512, 88],
    ])
  })

  test('hold 256 KiB, and of a large output a few words', () => {
    const sizes = [100_000, 100_000, 100_000, 10, 400_000, 10, 400_000]
    const blocks = [...packOutputs(sizes.map((size) => outputOf(JSON.stringify('x'.repeat(size)))))]
    expect(blocks.map(({ firstPosition, count }) => [firstPosition, count])).toEqual([
      [0, 2],
      [2, 5],
    ])
    expect(Math.max(...blocks.map(({ bytes }) => bytes.length))).toBeLessThan(256 * 1024)
  })

  test('are none without outputs', () => {
    expect([...packOutputs([])]).toEqual([])
  })

  test('are sealed for their place', () => {
    const key = newDataKey()
    const outputs = Array.from({ length: 300 }, (_, index) => outputOf(String(index)))
    const blocks = sealOutputs(key, 'sv-1', outputs)
    expect(blocks.flatMap((block) => openOutputs(key, 'sv-1', block))).toEqual(outputs)
    const [first] = blocks
    if (first === undefined) throw new Error('no block')
    expect(() => openOutputs(key, 'sv-2', first)).toThrow(SealError)
    expect(() => openOutputs(key, 'sv-1', { ...first, firstPosition: 256 })).toThrow(SealError)
  })
})

/** Sizes near the ends of parts, with characters of several bytes that lie across an end. */
const sizes = [BLOCK_BYTES, PART_BYTES - 20, PART_BYTES, PART_BYTES + 1, 3 * PART_BYTES - 7]
const large: fc.Arbitrary<StateOutput> = fc
  .record({
    size: fc.constantFrom(...sizes),
    filler: fc.constantFrom('x', 'é', '€', '\\n'),
    more: fc.nat(9),
    output,
  })
  .map(({ size, filler, more, output }) => ({
    ...output,
    value: JSON.stringify(filler.repeat(size).slice(0, size + more)),
  }))

describe('large outputs', () => {
  const key = newDataKey()
  const textOf = (outputs: readonly StateOutput[], position: number, text: OutputText) => {
    const rows = sealOutputs(key, 'sv-1', outputs)
    const blocks = rows.filter(({ part }) => part === 0)
    const found = blocks.flatMap((block) => openOutputs(key, 'sv-1', block))[position]
    if (found === undefined) throw new Error('no such output')
    // An output that just fits into a block has no parts.
    if (!('lengths' in found)) return found[text]
    const bytes = runsOf(found, text).map(({ part, start, end }) => {
      const row = rows.find((one) => one.firstPosition === position && one.part === part)
      if (row === undefined) throw new Error(`no part ${part}`)
      const opened = openPart(key, 'sv-1', position, part, found, row.sealed)
      expect(opened.length).toBeLessThanOrEqual(PART_BYTES)
      return opened.subarray(start, end)
    })
    return Buffer.concat(bytes).toString()
  }

  test('are put together from parts as they were', { timeout: longTimeout }, () => {
    fc.assert(
      fc.property(fc.array(output, { maxLength: 3 }), large, (small, one) => {
        const outputs = [...small, one]
        for (const text of ['name', 'detailedType', 'value'] as const) {
          expect(textOf(outputs, small.length, text) === one[text]).toBe(true)
        }
      }),
      runs(20, 1_000),
    )
  })

  test('have parts that open in their own place alone, and in their own length', () => {
    const value = JSON.stringify('x'.repeat(3 * PART_BYTES))
    const rows = sealOutputs(key, 'sv-1', [outputOf(value), outputOf(value)])
    const [block, first, second] = rows as [SealedOutputBlock, SealedOutputBlock, SealedOutputBlock]
    const output = openOutputs(key, 'sv-1', block)[0] as LargeOutput
    expect(() => openPart(key, 'sv-1', 0, 1, output, first.sealed)).not.toThrow()
    expect(() => openPart(key, 'sv-1', 0, 1, output, second.sealed)).toThrow(SealError)
    expect(() => openPart(key, 'sv-1', 1, 1, output, first.sealed)).toThrow(SealError)
    expect(() => openPart(key, 'sv-2', 0, 1, output, first.sealed)).toThrow(SealError)
    const shorter = { ...output, lengths: { ...output.lengths, value: 9 } }
    expect(() => openPart(key, 'sv-1', 0, 1, shorter, first.sealed)).toThrow(SealError)
  })
})

describe('output ids', () => {
  const outputKey = fc.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{11}$/)

  test('say whose output they name, and which', { timeout: longTimeout }, () => {
    fc.assert(
      fc.property(outputKey, fc.nat(99_999), (outputKey, position) => {
        const id = outputId(outputKey, position)
        expect(id).toMatch(/^wsout-[1-9A-HJ-NP-Za-km-z]{16}$/)
        expect(parseOutputId(id)).toEqual({ outputKey, position })
      }),
      runs(2000, 1_000_000),
    )
  })

  test('differ for all positions', () => {
    const key = randomBase58(OUTPUT_KEY_LENGTH)
    expect(new Set(Array.from({ length: 100_000 }, (_, position) => outputId(key, position))).size).toBe(
      100_000,
    )
  })

  test('do not show that one comes after the other', () => {
    const ends = Array.from({ length: 100 }, (_, position) =>
      outputId('1'.repeat(11), position).slice(-5, -2),
    )
    expect(new Set(ends).size).toBeGreaterThan(95)
  })

  test.each([
    ['wsout-', ''],
    ['wsout-', '1111111111111111l'],
    ['wsout-', '111111111111111'],
    ['wsout-', '111111111111111O'],
    ['wsout-', '1111111111111111\n'],
    ['WSOUT-', '1111111111111111'],
    ['sv-', '1111111111111111'],
  ])('are not %s%j', (prefix, text) => {
    expect(parseOutputId(prefix + text)).toBeUndefined()
  })

  test('are not those of a position that no state has', () => {
    const key = '1'.repeat(11)
    expect(parseOutputId(outputId(key, 100_000))).toBeUndefined()
  })
})
