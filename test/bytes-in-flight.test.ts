import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { BytesInFlight, type Held } from '../src/core/bytes-in-flight.ts'
import { runs } from './support/runs.ts'

const BUSY = 'the server is busy with other large bodies, uploads or answers; try again in a moment'

describe('the budget of bytes in flight', () => {
  test('leaves as much free as any one caller or organization holds', () => {
    const budget = new BytesInFlight(120)
    const first = budget.take(60, ['a', 'o'])
    expect(() => budget.take(1, ['a'])).toThrow(BUSY)
    expect(() => budget.take(1, ['b', 'o'])).toThrow(BUSY)
    const second = budget.take(30, ['b', 'p'])
    expect(() => second.resize(31)).toThrow(BUSY)
    expect(budget.taken).toBe(90)
    const third = budget.take(15, ['c'])
    first.release()
    third.resize(30)
    expect(budget.taken).toBe(60)
    for (const held of [first, second, third]) held.release()
    third.resize(50)
    expect(budget.taken).toBe(0)
    budget.take(60, ['a']).release()
  })

  test('has room for the largest body that is allowed', () => {
    expect(() => readConfig({ maxBodyBytes: '10000000', maxBytesInFlight: '39999999' }, {})).toThrow(
      'PURSER_MAX_BYTES_IN_FLIGHT must be at least 4 times PURSER_MAX_BODY_BYTES: 40000000',
    )
    expect(readConfig({ maxBodyBytes: '10000000', maxBytesInFlight: '40000000' }, {})).toBeDefined()
  })

  test('is never exceeded, and is whole again when everything was given back', () => {
    const step = fc.record({
      holders: fc.subarray(['a', 'b', 'c', 'o', 'p'], { minLength: 1 }),
      bytes: fc.nat(200),
      of: fc.nat(),
      kind: fc.constantFrom('take', 'resize', 'release'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const budget = new BytesInFlight(1_000)
        const all: Held[] = []
        for (const { kind, holders, bytes, of } of steps) {
          const held = all[of % Math.max(all.length, 1)]
          try {
            if (kind === 'take') all.push(budget.take(bytes, holders))
            else if (kind === 'resize') held?.resize(bytes)
            else held?.release()
          } catch (error) {
            expect((error as Error).message).toBe(BUSY)
          }
          expect(budget.taken).toBeLessThanOrEqual(budget.limit)
        }
        for (const held of all) held.release()
        expect(budget.taken).toBe(0)
        budget.take(500, ['a', 'b', 'c', 'o', 'p']).release()
      }),
      runs(200, 20_000),
    )
  })
})
