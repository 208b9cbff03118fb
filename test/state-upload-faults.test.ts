import { randomBytes } from 'node:crypto'
import { Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import pino from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { ContentThreadClient, StateThreadError } from '../src/state-content/content-thread-client.ts'
import type { Engine } from './support/engines.ts'
import { engines } from './support/engines.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { Sender } from './support/sender.ts'
import { startServer, type TestServer } from './support/server.ts'
import { lock, postState, stateText } from './support/states.ts'
import { body, createTestOrganization, createWorkspace, type TestOrganization } from './support/world.ts'

const MIB = 1024 * 1024
/** The budget that one upload uses before it has outputs. */
const UPLOAD_BYTES = MIB / 2
/** Random, so that it does not compress to one small chunk. */
const large = (bytes: number) => stateText(`{"a": {"value": "${randomBytes(bytes / 2).toString('hex')}"}}`)

const refuseInserts: Record<Engine, readonly string[]> = {
  sqlite: [
    `create trigger refuse_chunks before insert on state_chunks begin select raise(abort, 'no more of it'); end`,
  ],
  postgres: [
    `create function refuse_chunk() returns trigger language plpgsql as $$ begin raise exception 'no more of it'; end $$`,
    'create trigger refuse_chunks before insert on state_chunks for each row execute function refuse_chunk()',
  ],
}
const allowInserts: Record<Engine, readonly string[]> = {
  sqlite: ['drop trigger refuse_chunks'],
  postgres: ['drop trigger refuse_chunks on state_chunks', 'drop function refuse_chunk'],
}

describe.each(engines)('uploads that fail on %s', (engine) => {
  let server: TestServer
  let organization: TestOrganization
  const logged: { level: number; msg: string; error?: { message: string } }[] = []
  beforeAll(async () => {
    const lines = new Writable({
      write: (line: Buffer, _encoding, done) => {
        logged.push(JSON.parse(line.toString()))
        done()
      },
    })
    const log = pino({ level: 'info', serializers: { error: pino.stdSerializers.err } }, lines)
    server = await startServer(engine, { maxStateBytes: String(4 * MIB) }, log)
    organization = await createTestOrganization(server)
  })
  beforeEach(() => void logged.splice(0))
  afterAll(() => server.stop())

  const pending = async (state: string) => {
    const workspaceId = await createWorkspace(organization)
    const { client } = organization.owner
    await lock(client, workspaceId)
    const made = await postState(client, workspaceId, state)
    return made.json.data.attributes['hosted-state-upload-url'] as string
  }
  const put = (url: string, content: string | Uint8Array) => server.client().request('PUT', url, content)
  const run = async (statements: readonly string[]) => {
    for (const statement of statements) {
      await server.app.deps.database.write((tx) => sql.raw(statement).execute(tx.db))
    }
  }

  test('for a fault of the server are 503, are logged once, and can be tried again', async () => {
    const state = large(2 * MIB)
    const url = await pending(state)
    await run(refuseInserts[engine])
    const refused = await put(url, state)
    expect([refused.status, refused.headers.get('retry-after'), refused.json.errors[0].detail]).toEqual([
      503,
      '1',
      'the upload could not be stored; try again',
    ])
    expect(logged.filter(({ level }) => level >= 50)).toMatchObject([
      { msg: 'an upload could not be stored', error: { message: expect.stringContaining('no more of it') } },
    ])
    await run(allowInserts[engine])
    expect((await put(url, state)).status).toBe(200)
  })

  test('for want of a thread are 503 too, and can be tried again', async () => {
    const url = await pending(stateText('{}'))
    const begin = vi.spyOn(ContentThreadClient.prototype, 'begin').mockImplementation(() => {
      throw new StateThreadError('no thread can begin')
    })
    onTestFinished(() => begin.mockRestore())
    const refused = await put(url, stateText('{}'))
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(logged.filter(({ level }) => level >= 50)).toMatchObject([
      { msg: 'an upload could not be stored' },
    ])
    begin.mockRestore()
    expect((await put(url, stateText('{}'))).status).toBe(200)
  })

  test('since the client went away are neither logged nor kept in memory', async () => {
    const url = await pending(stateText('{}'))
    const sender = new Sender(server.address, { method: 'PUT', path: url, length: MIB })
    await sender.send('{"version": 4,')
    await vi.waitFor(() => expect(server.app.deps.bytesInFlight.taken).toBeGreaterThan(0))
    sender.stop()
    await vi.waitFor(() => expect(server.app.deps.bytesInFlight.taken).toBe(0))
    expect(logged.filter(({ level }) => level >= 40)).toEqual([])
  })

  describe.each([
    ['with a length', (bytes: number) => bytes],
    ['in chunks', () => undefined],
  ] as const)('%s', (_, lengthOf) => {
    /** Sends everything before it reads anything, as many clients do. */
    const sendAll = async (path: string, content: Uint8Array) => {
      const length = lengthOf(content.length)
      const sender = new Sender(server.address, {
        method: 'PUT',
        path,
        ...(length === undefined ? {} : { length }),
      })
      sender.socket.pause()
      for (let start = 0; start < content.length; start += MIB) {
        await sender.send(content.subarray(start, start + MIB))
      }
      sender.end()
      sender.socket.resume()
      const status = await sender.answered()
      sender.stop()
      return status
    }

    test('are answered to a client that reads nothing before all is sent', async () => {
      const state = stateText('{}')
      const url = await pending(state)
      const filling = Buffer.alloc(40 * MIB, ' ')
      // Above the limit of 4 MiB.
      expect(await sendAll(url, filling)).toBe(413)
      const broken = Buffer.alloc(4 * MIB - 1, 'x')
      expect(await sendAll(url, broken)).toBe(422)
      expect((await put(url, state)).status).toBe(200)
      // The state has already arrived, and these are other bytes.
      expect(await sendAll(url, filling.subarray(0, 4 * MIB))).toBe(409)
    })
  })

  test('leave the connection to the next request, where the rest of the body is short', async () => {
    const url = await pending(stateText('{}'))
    const sender = new Sender(server.address, { method: 'PUT', path: url, length: 900_000 })
    let sent = 0
    while (sent < 890_000 && sender.status === undefined) {
      await sender.send('x'.repeat(10_000))
      sent += 10_000
      await setTimeout(5)
    }
    const isEarly = sender.status === 422
    if (isEarly) sender.received = ''
    await sender.send('x'.repeat(900_000 - sent))
    if (!isEarly) expect(await sender.answered()).toBe(422)
    expect(sender.received).not.toMatch(/connection: close/i)
    sender.received = ''
    sender.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    await vi.waitFor(() => expect(sender.status).toBe(200), 20_000)
    sender.stop()
  })

  test('of a state whose outputs are more than fits in memory beside others end with 503', async () => {
    const { bytesInFlight } = server.app.deps
    const outputs = stateText(`{"a": {"value": "${'x'.repeat(3 * MIB)}"}}`)
    const url = await pending(outputs)
    const others = bytesInFlight.take(bytesInFlight.limit - 5 * MIB, ['others'].slice(1))
    const refused = await put(url, outputs)
    expect(refused.status).toBe(503)
    expect(bytesInFlight.taken).toBe(bytesInFlight.limit - 5 * MIB)
    others.release()
    expect((await put(url, outputs)).status).toBe(200)
    expect(bytesInFlight.taken).toBe(0)
  })
})

onEachEngine('uploads that trickle', (server) => {
  test('of one account leave room for the uploads, rollbacks and reads of others', async () => {
    const attacker = await createTestOrganization(server)
    const urls = await Promise.all(
      Array.from({ length: 17 }, async () => {
        const workspaceId = await createWorkspace(attacker)
        await lock(attacker.owner.client, workspaceId)
        const made = await postState(attacker.owner.client, workspaceId, stateText('{}'))
        return made.json.data.attributes['hosted-state-upload-url'] as string
      }),
    )
    const senders = urls.flatMap((path) =>
      Array.from(
        { length: 16 },
        () => new Sender(server.address, { method: 'PUT', path, length: 1_000_000 }),
      ),
    )
    await Promise.all(senders.map((sender) => sender.send('{')))
    const { bytesInFlight } = server.app.deps
    await vi.waitFor(() => expect(bytesInFlight.taken).toBe(bytesInFlight.limit / 2), 20_000)
    const refused = senders.length - bytesInFlight.limit / 2 / UPLOAD_BYTES
    expect(refused).toBeGreaterThan(0)
    await vi.waitFor(
      () => expect(senders.filter(({ status }) => status === 503)).toHaveLength(refused),
      20_000,
    )

    const other = await createTestOrganization(server)
    const { client } = other.owner
    const workspaceId = await createWorkspace(other)
    await lock(client, workspaceId)
    const state = stateText('{"a": {"value": 1}}')
    const made = await postState(client, workspaceId, state)
    const { attributes, id } = made.json.data
    const uploaded = await server.client().request('PUT', attributes['hosted-state-upload-url'], state)
    expect(uploaded.status).toBe(200)
    const rolledBack = await client.patch(
      `/workspaces/${workspaceId}/state-versions`,
      body('state-versions', {}, { 'rollback-state-version': { data: { type: 'state-versions', id } } }),
    )
    expect(rolledBack.status).toBe(201)
    const downloaded = await client.get(`/state-versions/${id}/download`)
    expect(downloaded.text).toBe(state)
    for (const sender of senders) sender.stop()
    await vi.waitFor(() => expect(bytesInFlight.taken).toBe(0), 20_000)
  })
})
