import { expect, test } from 'vitest'
import { SlowTurns } from '../src/database/slow-turns.ts'

/** Lets everything happen that waits for nothing else. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('callers have one turn at a time, and those who wait get theirs in rotation', async () => {
  const turns = new SlowTurns(2)
  const begun: string[] = []
  const ends: (() => void)[] = []
  const take = (caller: string) =>
    void turns.take(caller).then((end) => {
      begun.push(caller)
      ends.push(end)
    })
  for (const caller of ['a', 'a', 'a', 'b', 'b', 'b', 'c']) take(caller)
  await settle()
  expect(begun).toEqual(['a', 'b'])
  while (ends.length > 0) {
    ends.shift()?.()
    await settle()
  }
  expect(begun).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'b'])
})

test('a caller may have a hundred waiting, and 503 beyond', async () => {
  const turns = new SlowTurns(2)
  await turns.take('a')
  const waiting = Array.from({ length: 100 }, () => turns.take('a'))
  expect(() => turns.take('a')).toThrow(expect.objectContaining({ code: 'unavailable' }))
  await turns.take('b')
  turns.close()
  expect((await Promise.allSettled(waiting)).every(({ status }) => status === 'rejected')).toBe(true)
})

test('a pause waits for those that have a turn, and lets none begin', async () => {
  const turns = new SlowTurns(2)
  const end = await turns.take('a')
  const events: string[] = []
  const paused = turns.pause().then((resume) => {
    events.push('paused')
    return resume
  })
  void turns.take('b').then(() => events.push('b'))
  await settle()
  expect(events).toEqual([])
  end()
  const resume = await paused
  await settle()
  expect(events).toEqual(['paused'])
  resume()
  await settle()
  expect(events).toEqual(['paused', 'b'])
})
