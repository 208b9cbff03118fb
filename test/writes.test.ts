import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SqliteDatabase } from '../src/database/sqlite.ts'
import { Writes } from '../src/http/send.ts'
import { temporaryFolder } from './support/purser.ts'

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

test('answers that wait are written once when something is about to delay them', async () => {
  const writes = new Writes()
  await addTo(writes, 'one', 'two')
  const written: string[] = []
  for (const answer of ['three', 'four']) writes.add(() => void written.push(answer))
  expect(written).toEqual([])
  writes.flush()
  expect(written).toEqual(['three', 'four'])
  await nextTurn()
  expect(written).toEqual(['three', 'four'])
})

test('answers are sent before the next commit of SQLite', async () => {
  const database = new SqliteDatabase(join(temporaryFolder(), 'database'))
  const order: string[] = []
  database.beforeBlocking = () => void order.push('before')
  await database.write(async () => void order.push('work'))
  expect(order).toEqual(['before', 'work'])
  await database.close()
})
