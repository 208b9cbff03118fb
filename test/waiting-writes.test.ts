import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { WaitingWrites } from '../src/database/waiting-writes.ts'
import { startServer } from './support/server.ts'
import { body, createTestOrganization, uniqueName, type TestOrganization } from './support/world.ts'

describe('writes that wait for SQLite', () => {
  const names = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => `${prefix}${n}`)

  test('accounts take turns, and what the server writes has turns, too', () => {
    const waiting = new WaitingWrites<string>()
    for (const name of names(3, 'one')) waiting.add(name, 'one')
    waiting.add('other0', 'other')
    for (const name of names(2, 'server')) waiting.add(name)
    expect([...waiting.ofOneCommit()]).toEqual(['one0', 'other0', 'server0', 'one1', 'server1', 'one2'])
    expect(waiting.count).toBe(0)
  })

  test('a commit has 64 writes at most, and none begins after 25 milliseconds', () => {
    const waiting = new WaitingWrites<string>()
    for (const name of names(100, 'quick')) waiting.add(name)
    expect([...waiting.ofOneCommit()]).toHaveLength(64)
    const taken: string[] = []
    for (const name of waiting.ofOneCommit()) {
      taken.push(name)
      for (const end = performance.now() + 30; performance.now() < end;);
    }
    expect(taken).toEqual(['quick64'])
    expect([...waiting.ofOneCommit()]).toHaveLength(35)
  })

  test('250 writes of one account may wait; those of others and of the server may wait beside them', () => {
    const waiting = new WaitingWrites<string>()
    for (const name of names(250, 'one')) waiting.add(name, 'one')
    expect(() => waiting.add('too many', 'one')).toThrow(expect.objectContaining({ code: 'unavailable' }))
    waiting.add('other0', 'other')
    for (const name of names(300, 'server')) waiting.add(name)
    expect([...waiting.ofOneCommit()].slice(0, 3)).toEqual(['one0', 'other0', 'server0'])
    waiting.add('one250', 'one')
  })
})

test('an account whose writes wait keeps the writes of another one waiting for one commit only', async () => {
  const server = await startServer('sqlite')
  const [many, other] = [await createTestOrganization(server), await createTestOrganization(server)]
  const create = async ({ owner, name }: TestOrganization) => {
    const { status } = await owner.client.post(
      `/organizations/${name}/teams`,
      body('teams', { name: uniqueName('team') }),
    )
    return status
  }
  const elsewhere = new DatabaseSync(join(server.folder, 'purser.sqlite'))
  elsewhere.exec('begin immediate')
  let answered = 0
  const flood = Array.from({ length: 200 }, async () => {
    const status = await create(many)
    answered += 1
    return status
  })
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const last = create(other)
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(answered).toBe(0)
  elsewhere.close()
  expect(await last).toBe(200)
  expect(answered).toBeLessThan(100)
  expect(new Set(await Promise.all(flood))).toEqual(new Set([200]))
  await server.stop()
})
