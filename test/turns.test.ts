import { describe, expect, onTestFinished, test } from 'vitest'
import { Turns, type Turn } from '../src/database/turns.ts'

/** Takes a turn. `hasBegun` is right after the next microtasks. */
function taken(turns: Turns, turn: Turn) {
  const state = { hasBegun: false, end: () => {} }
  const taking = turns.take(turn)
  void taking.then((end) => {
    state.hasBegun = true
    state.end = end
  })
  // Else it would wait until it is refused, in the middle of another file's tests.
  onTestFinished(() => void taking.then((end) => end()))
  return state
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('turns at connections', () => {
  const read = (account: string): Turn => ({ mode: 'read', account })

  test('the reads of one account leave some to others', async () => {
    const turns = new Turns(10)
    const many = Array.from({ length: 20 }, () => taken(turns, read('one')))
    await settled()
    expect(many.filter(({ hasBegun }) => hasBegun)).toHaveLength(7)
    const others = Array.from({ length: 3 }, () => taken(turns, read('another')))
    await settled()
    expect(others.map(({ hasBegun }) => hasBegun)).toEqual([true, true, true])
  })

  test('reads without a token share two connections, whatever they name, and delay no others', async () => {
    const turns = new Turns(10)
    const reads = Array.from({ length: 9 }, (_, n) =>
      taken(turns, { ...read(`sv-${n % 3}`), withoutToken: true }),
    )
    await settled()
    expect(reads.filter(({ hasBegun }) => hasBegun)).toHaveLength(2)
    const others = Array.from({ length: 7 }, () => taken(turns, read('another')))
    await settled()
    expect(others.every(({ hasBegun }) => hasBegun)).toBe(true)
    reads[0]?.end()
    await settled()
    expect(reads.filter(({ hasBegun }) => hasBegun)).toHaveLength(3)
    for (const one of reads) one.end()
  })

  test('who uses the fewest connections is next', async () => {
    const turns = new Turns(4)
    const first = Array.from({ length: 4 }, (_, n) => taken(turns, read(`account ${n}`)))
    await settled()
    const waiting = ['account 0', 'account 1', 'new'].map((account) => taken(turns, read(account)))
    first[3]?.end()
    await settled()
    expect(waiting.map(({ hasBegun }) => hasBegun)).toEqual([false, false, true])
  })

  test('the writes of an organization that has a turn wait behind those of one that has none', async () => {
    const turns = new Turns(10)
    const write = (organizationId: string): Turn => ({ mode: 'write', organizationId, account: 'one' })
    const busy = ['a', 'b', 'c'].flatMap((id) => Array.from({ length: 20 }, () => taken(turns, write(id))))
    const quiet = taken(turns, write('quiet'))
    await settled()
    expect(busy.filter(({ hasBegun }) => hasBegun)).toHaveLength(6)
    expect(quiet.hasBegun).toBe(false)
    busy.find(({ hasBegun }) => hasBegun)?.end()
    await settled()
    expect(quiet.hasBegun).toBe(true)
  })

  test('reads that count for an organization’s id delay none of its writes', async () => {
    const turns = new Turns(10)
    for (let count = 0; count < 7; count++) taken(turns, read('org-1'))
    await settled()
    expect(turns.isWriting('org-1')).toBe(false)
    const write = taken(turns, { mode: 'write', organizationId: 'org-1' })
    await settled()
    expect(write.hasBegun).toBe(true)
  })

  test('two connections are enough for anybody to read', async () => {
    const turns = new Turns(2)
    const [one, two] = [taken(turns, read('one')), taken(turns, read('one'))]
    await settled()
    expect([one.hasBegun, two.hasBegun]).toEqual([true, false])
    one.end()
    await settled()
    expect(two.hasBegun).toBe(true)
  })

  test('one organization has two writes at a time, and reads are there beside all writes', async () => {
    const turns = new Turns(10)
    const write = (organizationId: string): Turn => ({ mode: 'write', organizationId })
    const writes = ['a', 'a', 'a', 'b', 'b', 'c', 'c', 'd'].map((id) => taken(turns, write(id)))
    const reads = [taken(turns, read('one')), taken(turns, read('two'))]
    await settled()
    expect(writes.map(({ hasBegun }) => hasBegun)).toEqual([true, true, false, true, true, true, true, false])
    expect(reads.map(({ hasBegun }) => hasBegun)).toEqual([true, true])
    writes[0]?.end()
    await settled()
    // The one of d, which has no turn, comes before the third of a.
    expect([writes[2]?.hasBegun, writes[7]?.hasBegun]).toEqual([false, true])
  })

  test('an account has two writes at a time that are in no organization, and its part of the waiting ones', async () => {
    const turns = new Turns(10)
    const write = (account: string, organizationId?: string): Turn => ({
      mode: 'write',
      account,
      organizationId,
    })
    const own = Array.from({ length: 10 }, () => taken(turns, write('one')))
    const others = [taken(turns, write('two')), taken(turns, write('three', 'a'))]
    await settled()
    expect(own.filter(({ hasBegun }) => hasBegun)).toHaveLength(2)
    expect(others.map(({ hasBegun }) => hasBegun)).toEqual([true, true])
    // In organizations, too, because one account can make many of them.
    const many = Array.from({ length: 244 }, (_, n) => taken(turns, write('one', `${n}`)))
    await settled()
    expect(many.filter(({ hasBegun }) => hasBegun)).toHaveLength(2)
    await expect(turns.take(write('one', 'another'))).rejects.toThrow('too many requests wait')
    taken(turns, write('two', 'another'))
    await settled()
    expect(turns.waiting).toBe(251)
  })
})
