import { afterEach, describe, expect, test, vi } from 'vitest'
import { PostgresPool } from '../src/database/postgres-pool.ts'
import { Replays } from '../src/database/postgres-replay.ts'
import { SharedWrite } from '../src/database/shared-write.ts'
import { MAX_WAIT_MS, Turns } from '../src/database/turns.ts'
import { WriteGroups } from '../src/database/write-groups.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))
const writeOf = (organizationId: string) =>
  new SharedWrite(organizationId, () => Promise.resolve(), { named: undefined, isOneInsert: true })

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Groups whose transactions do as told. They never reach a database. */
function groupsThat(run: () => Promise<never>) {
  vi.spyOn(PostgresPool.prototype, 'run').mockImplementation(run)
  const failures: unknown[] = []
  const pool = new PostgresPool({}, 1, () => {})
  const groups = new WriteGroups(new Turns(10), new Replays(undefined as never), pool, (error) =>
    failures.push(error),
  )
  return { groups, failures }
}

test('a write that waits for its organization’s group for ten seconds is 503', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { groups } = groupsThat(() => new Promise(() => {}))
  expect(groups.add(writeOf('org-1'))).toBe(true)
  await settled()
  const waiting = writeOf('org-1')
  expect(groups.add(waiting)).toBe(true)
  await vi.advanceTimersByTimeAsync(MAX_WAIT_MS - 1)
  expect(await Promise.race([waiting.settled, settled()])).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  expect(await waiting.settled).toThrow(expect.objectContaining({ code: 'unavailable' }))
})

test('one organization has at most 250 writes waiting, and another still has room', () => {
  const { groups } = groupsThat(() => new Promise(() => {}))
  const added = Array.from({ length: 251 }, () => groups.add(writeOf('org-1')))
  expect(added.indexOf(false)).toBe(250)
  expect(groups.add(writeOf('org-2'))).toBe(true)
})

test('after a failure each write runs alone, and the reason is told', async () => {
  const reason = new Error('on purpose')
  const { groups, failures } = groupsThat(() => Promise.reject(reason))
  const writes = [writeOf('org-1'), writeOf('org-1'), writeOf('org-2')]
  for (const write of writes) groups.add(write)
  expect(await Promise.all(writes.map((write) => write.settled))).toEqual([undefined, undefined, undefined])
  expect(failures).toEqual([reason])
})

describe('after a group has ended', () => {
  /** Three writes were answered together. Counts the groups since. */
  async function afterThree() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { groups, failures } = groupsThat(() => Promise.reject(new Error('on purpose')))
    const add = () => groups.add(writeOf('org-1'))
    for (let number = 0; number < 3; number += 1) add()
    await settled()
    expect(failures).toHaveLength(1)
    return { add, begun: () => failures.length - 1 }
  }

  test('the next one waits a moment for as many writes', async () => {
    const { add, begun } = await afterThree()
    add()
    add()
    await settled()
    expect(begun()).toBe(0)
    add()
    await settled()
    expect(begun()).toBe(1)
  })

  test('the next one waits no longer than a millisecond', async () => {
    const { add, begun } = await afterThree()
    add()
    await settled()
    expect(begun()).toBe(0)
    await vi.advanceTimersByTimeAsync(1)
    await settled()
    expect(begun()).toBe(1)
  })

  test('a write that comes later waits for no other', async () => {
    const { add, begun } = await afterThree()
    vi.advanceTimersByTime(1)
    add()
    await settled()
    expect(begun()).toBe(1)
  })
})
