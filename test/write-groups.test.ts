import { DatabaseError } from 'pg'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { PostgresAddress } from '../src/database/postgres-address.ts'
import type { Kind } from '../src/database/postgres-connection.ts'
import { UnknownOutcomeError } from '../src/database/postgres-errors.ts'
import { PostgresPool } from '../src/database/postgres-pool.ts'
import { Replays } from '../src/database/postgres-replay.ts'
import { SharedWrite } from '../src/database/shared-write.ts'
import type { Ahead } from '../src/database/side-by-side.ts'
import { MAX_WAIT_MS, Turns } from '../src/database/turns.ts'
import { WriteGroups } from '../src/database/write-groups.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))
const writeOf = (organizationId: string) =>
  new SharedWrite(organizationId, () => Promise.resolve(), { named: undefined, isOneInsert: true })

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

type Work = (connection: never, begun: { locked: ReadonlySet<string>; ahead: Ahead }) => Promise<unknown>
type Run = (kind: Kind, begin: unknown, work: Work) => Promise<unknown>

/** Groups whose transactions do as told. They never reach a database. */
function groupsThat(run: Run, refuseUseless = () => {}) {
  const failures: unknown[] = []
  const pool = new PostgresPool(new PostgresAddress('postgres://'), 1, () => {})
  vi.spyOn(pool, 'run').mockImplementation(run)
  const turns = new Turns(10)
  const groups = new WriteGroups(turns, new Replays(undefined as never), pool, {
    refuseUseless,
    onFailure: (error) => failures.push(error),
  })
  return { groups, failures, turns }
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

/** The time for locks with which a group of these organizations begins, and its first statements. */
async function beginningOf(...organizations: string[]) {
  const run = vi.fn(() => new Promise(() => {}))
  const { groups } = groupsThat(run)
  for (const id of organizations) groups.add(writeOf(id))
  await settled()
  const [kind, begin] = run.mock.lastCall as unknown[] as Parameters<PostgresPool['run']>
  const query = vi.fn(() => Promise.resolve({ rows: [] }))
  await begin({ query, send: () => {}, readAhead: () => Promise.resolve([]) } as never)
  return [kind.lockTimeout, ...query.mock.calls.flat()]
}

test('writes of one organization wait a moment for its lock, and those of several for none', async () => {
  const lock = expect.objectContaining({
    text: expect.stringMatching(/id = \$1 for update$/),
    values: ['org-1'],
  })
  expect(await beginningOf('org-1')).toEqual(['20ms', lock])
  // Their other locks may take longer.
  const longer = "set local lock_timeout = '200ms'"
  expect(await beginningOf('org-1', 'org-1')).toEqual(['20ms', lock, longer])
  expect(await beginningOf('org-2', 'org-3', 'org-3')).toEqual([
    '200ms',
    expect.objectContaining({ text: expect.stringMatching(/skip locked$/), values: [['org-2', 'org-3']] }),
  ])
})

test('after three groups in a row waited for a lock in vain, the next eight do not wait', async () => {
  const timeouts: unknown[] = []
  const busy = Object.assign(new DatabaseError('canceling statement due to lock timeout', 0, 'error'), {
    code: '55P03',
  })
  const { groups, failures } = groupsThat(({ lockTimeout }) => {
    timeouts.push(lockTimeout)
    return [1, 3, 4, 5].includes(timeouts.length) ? Promise.reject(busy) : Promise.resolve(new Map())
  })
  for (let number = 0; number < 14; number++) {
    const write = writeOf('org-1')
    groups.add(write)
    expect(await write.settled).toBeUndefined()
  }
  expect(timeouts).toEqual([...Array(5).fill('20ms'), ...Array(8).fill('200ms'), '20ms'])
  expect(failures).toEqual([busy, busy, busy, busy])
})

test('a write runs alone if another one of its organization has a turn by then', async () => {
  const run = vi.fn(() => Promise.resolve(new Map()))
  const { groups, turns } = groupsThat(run)
  const [one, other] = [writeOf('org-1'), writeOf('org-2')]
  groups.add(one)
  groups.add(other)
  const end = await turns.take({ mode: 'write', organizationId: 'org-1' })
  expect(await one.settled).toBeUndefined()
  await other.settled
  end()
  expect(run).toHaveBeenCalledOnce()
  expect(groups.waiting).toBe(0)
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

test('no transaction begins that would wait in vain', async () => {
  const reason = new Error('a commit would wait for a standby')
  const run = vi.fn(() => Promise.reject(new Error('not called')))
  const { groups, failures } = groupsThat(run, () => {
    throw reason
  })
  const write = writeOf('org-1')
  groups.add(write)
  expect(await write.settled).toBeUndefined()
  expect(run).not.toHaveBeenCalled()
  expect(failures).toEqual([reason])
})

test('a write whose organization is locked by another node does not wait for the commit of the others', async () => {
  const lost = new UnknownOutcomeError('lost')
  const commit = Promise.withResolvers<never>()
  const { groups } = groupsThat(async (_kind, _begin, work) => {
    await work({} as never, { locked: new Set(['org-1']), ahead: new Map() })
    return commit.promise
  })
  const [one, other] = [writeOf('org-1'), writeOf('org-2')]
  groups.add(one)
  groups.add(other)
  expect(await other.settled).toBeUndefined()
  commit.reject(lost)
  expect(await one.settled).toThrow(lost)
  expect([one.hasRun, other.hasRun]).toEqual([true, false])
})

test('a write that arrives while a group waits for its turn waits there for ten seconds, too', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { groups, turns } = groupsThat(() => Promise.reject(new Error('not called')))
  for (let number = 0; number < 6; number++)
    await turns.take({ mode: 'write', organizationId: `other-${number}` })
  const [early, late] = [writeOf('org-1'), writeOf('org-2')]
  groups.add(early)
  await settled()
  await vi.advanceTimersByTimeAsync(MAX_WAIT_MS / 2)
  groups.add(late)
  await vi.advanceTimersByTimeAsync(MAX_WAIT_MS / 2)
  expect(await early.settled).toThrow(expect.objectContaining({ code: 'unavailable' }))
  await settled()
  expect(await Promise.race([late.settled, settled()])).toBeUndefined()
  expect(groups.waiting).toBe(1)
  await vi.advanceTimersByTimeAsync(MAX_WAIT_MS / 2)
  expect(await late.settled).toThrow(expect.objectContaining({ code: 'unavailable' }))
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
