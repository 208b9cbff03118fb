import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Writes } from '../src/http/send.ts'

/** Adds answers in one turn of the event loop. Returns those that were written at once, and all after the turn. */
async function addTo(writes: Writes, ...answers: string[]) {
  const written: string[] = []
  for (const answer of answers) writes.add(() => void written.push(answer))
  const atOnce = [...written]
  await nextTurn()
  return { atOnce, written }
}

test('answers that come one by one are written at once', async () => {
  const writes = new Writes()
  for (const answer of ['one', 'two', 'three']) {
    expect(await addTo(writes, answer)).toEqual({ atOnce: [answer], written: [answer] })
  }
})

test('answers that come together are written together and in order, all of them at the end of the turn', async () => {
  const writes = new Writes()
  expect(await addTo(writes, 'one', 'two', 'three')).toEqual({
    atOnce: ['one'],
    written: ['one', 'two', 'three'],
  })
  expect(await addTo(writes, 'four', 'five')).toEqual({ atOnce: [], written: ['four', 'five'] })
  // This turn shows that they come one by one again.
  expect(await addTo(writes, 'six')).toEqual({ atOnce: [], written: ['six'] })
  expect(await addTo(writes, 'seven')).toEqual({ atOnce: ['seven'], written: ['seven'] })
})
