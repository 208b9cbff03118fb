import { expect, test } from 'vitest'
import { Kept } from '../src/access/kept.ts'

const one = { id: 'org-1', version: 1 }
const next = { id: 'org-1', version: 2 }
const other = { id: 'org-2', version: 1 }

test('what is kept begins anew when it weighs too much together, and what is too heavy alone is not kept', () => {
  const kept = new Kept<string>(10, (value) => value.length)
  kept.set(one, 'first', '1234')
  kept.set(one, 'second', '1234')
  kept.set(one, 'first', 'another value of the same key does not weigh again')
  expect([kept.get(one, 'first'), kept.get(one, 'second')]).toEqual(['1234', '1234'])
  kept.set(other, 'third', '123')
  expect([kept.get(one, 'first'), kept.get(other, 'third')]).toEqual([undefined, '123'])
  kept.set(other, 'fourth', '12345678901')
  expect([kept.get(other, 'third'), kept.get(other, 'fourth')]).toEqual(['123', undefined])
})

test('with the first value of a newer version, all of the older one are gone and weigh nothing', () => {
  const kept = new Kept<string>(10, (value) => value.length)
  kept.set(one, 'first', '12345678')
  kept.set(other, 'first', '12')
  expect(kept.get(next, 'first')).toBeUndefined()
  kept.set(next, 'second', '12345678')
  expect([kept.get(one, 'first'), kept.get(next, 'second'), kept.get(other, 'first')]).toEqual([
    undefined,
    '12345678',
    '12',
  ])
  // A read that began earlier must not restore the older version.
  kept.set(one, 'first', '1')
  expect([kept.get(one, 'first'), kept.get(next, 'second')]).toEqual([undefined, '12345678'])
})
