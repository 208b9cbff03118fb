import { DatabaseError } from 'pg'
import { expect, test, vi } from 'vitest'
import { PostgresAddress } from '../src/database/postgres-address.ts'
import { PostgresClient } from '../src/database/postgres-client.ts'

type Server = { started: number; standby?: boolean; lineage?: { system: string; timeline: string } | Error }

/** A connection that is opened now. */
function clientOf({ started, standby = false, lineage }: Server) {
  const client = new PostgresClient()
  vi.spyOn(client, 'query').mockImplementation((text: unknown) => {
    if (String(text).includes('pg_is_in_recovery() as'))
      return Promise.resolve({ rows: [{ standby, started }] })
    if (lineage instanceof Error) return Promise.reject(lineage)
    return Promise.resolve({ rows: lineage === undefined ? [] : [lineage] })
  })
  return { client, cut: vi.spyOn(client, 'cut').mockReturnValue() }
}

function addressWith() {
  const onMove = vi.fn()
  return { address: new PostgresAddress('postgres://', onMove), onMove }
}

const refused = new DatabaseError('permission denied for function pg_control_system', 0, 'error')
refused.code = '42501'
const one = { started: 1 }
const other = { started: 2 }
const own = (started: number, timeline: string) => ({ started, lineage: { system: '7', timeline } })

test('connections to one server are not cut', async () => {
  const { address, onMove } = addressWith()
  const clients = [clientOf(one), clientOf(one), clientOf(one)]
  for (const { client } of clients.toReversed()) await address.admit(client)
  for (const { cut } of clients) expect(cut).not.toHaveBeenCalled()
  expect(onMove).not.toHaveBeenCalled()
})

test.each([
  ['no lineage', one, other],
  ['a lineage that the role may not read', one, { ...other, lineage: refused }],
  ['a later timeline', own(2, '00000009'), own(1, '0000000A')],
  ['a later start on the same timeline', own(1, '00000001'), own(2, '00000001')],
  ['another cluster', own(1, '00000009'), { started: 2, lineage: { system: '8', timeline: '00000001' } }],
])('a later connection to a server with %s ends those to the one before', async (_, first, second) => {
  const { address, onMove } = addressWith()
  const [ended, left, now] = [clientOf(first), clientOf(first), clientOf(second)]
  await address.admit(ended.client)
  await address.admit(left.client)
  ended.client.emit('end')
  await address.admit(now.client)
  expect(left.cut).toHaveBeenCalledOnce()
  expect(ended.cut).not.toHaveBeenCalled()
  expect(now.cut).not.toHaveBeenCalled()
  expect(onMove).toHaveBeenCalledExactlyOnceWith(now.client.openedAt)
})

test.each([
  ['a later timeline', own(2, '00000009'), own(1, '0000000A')],
  ['a later start on the same timeline', own(1, '00000001'), own(2, '00000001')],
])('an earlier connection, slow to open, to a server with %s does the same', async (_, first, second) => {
  const { address, onMove } = addressWith()
  const [slow, left] = [clientOf(second), clientOf(first)]
  await address.admit(left.client)
  await address.admit(slow.client)
  expect(left.cut).toHaveBeenCalledOnce()
  expect(onMove).toHaveBeenCalledExactlyOnceWith(slow.client.openedAt)
})

test('an earlier connection to another server is refused if nothing tells which one is newer', async () => {
  const { address, onMove } = addressWith()
  const [slow, now] = [clientOf(one), clientOf(other)]
  await address.admit(now.client)
  await expect(address.admit(slow.client)).rejects.toThrow('no connection to the database could be made')
  expect(now.cut).not.toHaveBeenCalled()
  expect(onMove).not.toHaveBeenCalled()
})

test('an older server is refused for half a minute after the last connection to the newer one was opened', async () => {
  const { address, onMove } = addressWith()
  const [now, back] = [clientOf(own(2, '00000002')), clientOf(own(1, '00000001'))]
  await address.admit(now.client)
  await expect(address.admit(back.client)).rejects.toThrow('no connection to the database could be made')
  expect(now.cut).not.toHaveBeenCalled()
  expect(onMove).not.toHaveBeenCalled()
  const time = vi.spyOn(performance, 'now').mockReturnValue(now.client.openedAt + 30_000)
  const later = clientOf(own(1, '00000001'))
  time.mockRestore()
  await address.admit(later.client)
  expect(now.cut).toHaveBeenCalledOnce()
  expect(onMove).toHaveBeenCalledExactlyOnceWith(later.client.openedAt)
})

test('a connection that fails while it tells its lineage changes nothing', async () => {
  const { address } = addressWith()
  const ending = new DatabaseError('terminating connection', 0, 'error')
  ending.code = '57P01'
  const [now, lost] = [clientOf(one), clientOf({ ...other, lineage: ending })]
  await address.admit(now.client)
  await expect(address.admit(lost.client)).rejects.toThrow(ending)
  expect(now.cut).not.toHaveBeenCalled()
})

test('connections that find the same new server at once are not cut', async () => {
  const { address, onMove } = addressWith()
  const [before, ...now] = [
    clientOf(own(1, '00000001')),
    ...[2, 2, 2].map((at) => clientOf(own(at, '00000002'))),
  ]
  await address.admit(before.client)
  await Promise.all(now.map(({ client }) => address.admit(client)))
  expect(before.cut).toHaveBeenCalledOnce()
  for (const { cut } of now) expect(cut).not.toHaveBeenCalled()
  expect(onMove).toHaveBeenCalledOnce()
})

test('a standby is refused and changes nothing', async () => {
  const { address } = addressWith()
  const [now, standby] = [clientOf(one), clientOf({ started: 2, standby: true })]
  await address.admit(now.client)
  expect(await address.learn(standby.client)).toBe(false)
  await expect(address.admit(standby.client)).rejects.toThrow('no connection to the database could be made')
  expect(now.cut).not.toHaveBeenCalled()
})
