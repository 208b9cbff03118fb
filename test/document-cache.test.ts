import { expect, test } from 'vitest'
import { DocumentCache } from '../src/jsonapi/document-cache.ts'

test('what is wanted once is not kept, what is wanted again is', () => {
  const cache = new DocumentCache(10_000)
  cache.setWhenWantedAgain('team 1', 'text')
  expect(cache.get('team 1')).toBeUndefined()
  cache.setWhenWantedAgain('team 1', 'text')
  expect(cache.get('team 1')).toBe('text')
})

test('what is not used leaves when there is no room, and what needs a quarter of it never enters', () => {
  const cache = new DocumentCache(10_000)
  const text = 'x'.repeat(1_000)
  cache.set('first', text)
  cache.set('second', text)
  for (let number = 0; number < 20; number += 1) {
    cache.get('first')
    cache.set(`other ${number}`, text)
  }
  expect(cache.get('first')).toBe(text)
  expect(cache.get('second')).toBeUndefined()
  cache.set('large', 'x'.repeat(2_500))
  expect(cache.get('large')).toBeUndefined()
})

test('a short document keeps no more memory than its bytes', () => {
  const cache = new DocumentCache(10_000)
  cache.set('short', Buffer.from('text'))
  const kept = cache.get<Buffer>('short')
  expect(kept?.toString()).toBe('text')
  expect(kept?.buffer.byteLength).toBe(4)
})
