import { expect, test } from 'vitest'
import { OrganizationCache } from '../src/access/organization-cache.ts'

const one = { id: 'org-1', version: 1 }
const next = { id: 'org-1', version: 2 }
const other = { id: 'org-2', version: 1 }

test('the cache begins anew when its values weigh too much together; a value too heavy alone is not cached', () => {
  const cache = new OrganizationCache<string>(10, (value) => value.length)
  cache.set(one, 'first', '1234')
  cache.set(one, 'second', '1234')
  cache.set(one, 'first', 'another value of the same key does not weigh again')
  expect([cache.get(one, 'first'), cache.get(one, 'second')]).toEqual(['1234', '1234'])
  cache.set(other, 'third', '123')
  expect([cache.get(one, 'first'), cache.get(other, 'third')]).toEqual([undefined, '123'])
  cache.set(other, 'fourth', '12345678901')
  expect([cache.get(other, 'third'), cache.get(other, 'fourth')]).toEqual(['123', undefined])
})

test('with the first value of a newer version, all of the older one are gone and weigh nothing', () => {
  const cache = new OrganizationCache<string>(10, (value) => value.length)
  cache.set(one, 'first', '12345678')
  cache.set(other, 'first', '12')
  expect(cache.get(next, 'first')).toBeUndefined()
  cache.set(next, 'second', '12345678')
  expect([cache.get(one, 'first'), cache.get(next, 'second'), cache.get(other, 'first')]).toEqual([
    undefined,
    '12345678',
    '12',
  ])
  // A read that began earlier must not restore the older version.
  cache.set(one, 'first', '1')
  expect([cache.get(one, 'first'), cache.get(next, 'second')]).toEqual([undefined, '12345678'])
})
