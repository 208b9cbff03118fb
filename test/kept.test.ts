import { expect, test } from 'vitest'
import { Kept } from '../src/access/kept.ts'

test('what is kept never weighs more than the limit, however large a value is', () => {
  const kept = new Kept<readonly string[]>(10, (value) => value.length)
  const value = (length: number) => Array.from({ length }, () => 'team')
  kept.set('a', value(4))
  kept.set('b', value(6))
  kept.set('b', value(6))
  expect([kept.get('a')?.length, kept.get('b')?.length]).toEqual([4, 6])
  kept.set('too large', value(11))
  expect([kept.get('too large'), kept.get('a')?.length]).toEqual([undefined, 4])
  kept.set('c', value(1))
  expect([kept.get('a'), kept.get('b'), kept.get('c')?.length]).toEqual([undefined, undefined, 1])
})
