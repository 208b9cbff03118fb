import { expect, test } from 'vitest'
import { differenceOf } from './support/difference.ts'

test('long bytes and texts differ in one line, which says where', () => {
  const long = Buffer.alloc(300_000, 'a')
  expect(differenceOf(long, long.toString())).toBeUndefined()
  expect(differenceOf(Buffer.alloc(300_000, 'b'), long)).toBe(
    'from byte 0 on "bbbbbbbbbbbbbbbbbbbb" instead of "aaaaaaaaaaaaaaaaaaaa"; 300000 bytes instead of 300000',
  )
  expect(differenceOf('one, tw', 'one, two')).toBe('from byte 7 on "" instead of "o"; 7 bytes instead of 8')
})
