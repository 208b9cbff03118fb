import { afterEach, describe, expect, test, vi } from 'vitest'
import { PostgresAddress } from '../src/database/postgres-address.ts'
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
function groupsThat(run: () => Promise<unknown>) {
  const failures: unknown[] = []
  const pool = new PostgresPool(new PostgresAddress('postgres://'), 1, () => {})
  vi.spyOn(pool, 'run').mockImplementation(run)
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

test('writes of one organization wait a moment for its lock, and those of several for none', async () => {
  const run = vi.fn(() => new Promise(() => {}))
  const { groups } = groupsThat(run)
  const begun = async (...organizations: string[]) => {
    for (const id of organizations) groups.add(writeOf(id))
    await settled()
    const [kind, begin] = run.mock.lastCall as unknown[] as Parameters<PostgresPool['run']>
    const query = vi.fn(() => Promise.resolve({ rows: [] }))
    await begin({ query, readAhead: () => Promise.resolve([]) } as never)
    return [kind.lockTimeout, query.mock.lastCall]
  }
  expect(await begun('org-1', 'org-1')).toEqual([
    '20ms',
    [expect.objectContaining({ text: expect.stringMatching(/id = \$1 for update$/), values: ['org-1'] })],
  ])
  expect(await begun('org-2', 'org-3', 'org-3')).toEqual([
    '200ms',
    [expect.objectContaining({ text: expect.stringMatching(/skip locked$/), values: [['org-2', 'org-3']] })],
  ])
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

describe('after three callers were answered together', () => {
  const CALLERS = 3

  /** Counts the groups since then. */
  async function afterThem() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const writes: SharedWrite[] = []
    let begun = 0
    const { groups } = groupsThat(() => {
      begun += 1
      return Promise.resolve(new Map(writes.splice(0).map((write) => [write, () => {}])))
    })
    const add = async (count: number) => {
      for (let number = 0; number < count; number += 1) {
        const write = writeOf('org-1')
        writes.push(write)
        groups.add(write)
      }
      await settled()
      await settled()
    }
    const wait = async () => {
      await vi.advanceTimersByTimeAsync(2)
      await settled()
      await settled()
    }
    await add(CALLERS)
    expect(begun).toBe(1)
    return { add, wait, begun: () => begun - 1 }
  }

  test('the next group waits a moment for all of them', async () => {
    const { add, begun } = await afterThem()
    await add(CALLERS - 1)
    expect(begun()).toBe(0)
    await add(1)
    expect(begun()).toBe(1)
  })

  test('it does not wait for those that do not come', async () => {
    const { add, wait, begun } = await afterThem()
    await add(1)
    expect(begun()).toBe(0)
    await wait()
    expect(begun()).toBe(1)
  })

  test('a write that comes later waits for no other', async () => {
    const { add, wait, begun } = await afterThem()
    await wait()
    await add(1)
    expect(begun()).toBe(1)
  })

  test('the next eight groups do not wait if nobody came, and the one after them does', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const running: (() => void)[] = []
    const taken: SharedWrite[] = []
    const { groups } = groupsThat(() => {
      const own = taken.splice(0)
      return new Promise((resolve) =>
        running.push(() => resolve(new Map(own.map((write) => [write, () => {}])))),
      )
    })
    const pass = async () => {
      for (let turn = 0; turn < 3; turn += 1) await settled()
    }
    const add = async () => {
      const write = writeOf('org-1')
      taken.push(write)
      groups.add(write)
      await pass()
    }
    /** Ends the group that runs, while the write of another caller waits for it. */
    const endBeside = async () => {
      await add()
      running.pop()?.()
      await pass()
    }
    await add()
    await endBeside()
    expect(running).toHaveLength(0)
    await vi.advanceTimersByTimeAsync(2)
    await pass()
    for (let number = 1; number <= 8; number += 1) {
      expect(running).toHaveLength(1)
      await endBeside()
    }
    expect(running).toHaveLength(1)
    await endBeside()
    expect(running).toHaveLength(0)
  })
})
