import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { engines } from './support/engines.ts'
import { startServer, type TestServer } from './support/server.ts'
import { createState } from './support/states.ts'
import { createTestOrganization, type TestOrganization } from './support/world.ts'

const MIB = 1024 * 1024

describe.each(engines)('answers that their readers do not take on %s', (engine) => {
  let server: TestServer
  let organization: TestOrganization
  let other: TestOrganization
  let path: string
  beforeAll(async () => {
    server = await startServer(engine, {
      maxBodyBytes: String(2 * MIB + 1000),
      maxBytesInFlight: String(64 * MIB),
    })
    organization = await createTestOrganization(server)
    other = await createTestOrganization(server)
    const large = `{"a": {"value": "${'x'.repeat(MIB)}", "type": "string", "sensitive": true}}`
    const { stateVersionId } = await createState(organization, large)
    path = `/state-versions/${stateVersionId}/outputs`
    await vi.waitFor(
      async () => expect((await organization.owner.client.get(path)).json.data).toHaveLength(1),
      10_000,
    )
  })
  afterAll(() => server.stop())

  const sockets: Socket[] = []
  /** Sends this many requests on one connection and reads nothing. */
  const askAndWait = async (requests: number) => {
    const socket = connect(Number(new URL(server.address).port), '127.0.0.1').pause()
    sockets.push(socket)
    await once(socket, 'connect')
    const head = `GET /api/v2${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${organization.owner.client.token}\r\n\r\n`
    socket.write(head.repeat(requests))
  }
  const reveals = async () =>
    (
      await server.app.deps.database.read((tx) =>
        tx.db.selectFrom('audit_events').where('action', '=', 'output.reveal').select('number').execute(),
      )
    ).length

  test('count against a budget: more of them are 503, until they have left or their readers have gone', async () => {
    const { bytesInFlight } = server.app.deps
    expect(bytesInFlight.taken).toBe(0)
    for (let count = 1; count <= 8; count++) {
      // The connection buffers some of these answers even without a reader.
      await askAndWait(20)
      await vi.waitFor(() => expect(bytesInFlight.taken).toBe(count * 4 * MIB), 10_000)
    }
    let before = -1
    // Repeat until the connections are full.
    for (let now = await reveals(); now !== before; now = await reveals()) {
      before = now
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    const refused = await organization.owner.client.get(path)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(refused.json.errors[0].detail).toContain('busy')
    // Values that were not revealed are not recorded.
    expect(await reveals()).toBe(before)
    // Small answers, and answers to others, still work.
    expect((await organization.owner.client.get(`/organizations/${organization.name}`)).status).toBe(200)
    const { stateVersionId } = await createState(other, '{"a": {"value": 1, "type": "number"}}')
    expect((await other.owner.client.get(`/state-versions/${stateVersionId}/outputs`)).status).toBe(200)

    for (const socket of sockets) socket.resetAndDestroy()
    await vi.waitFor(() => expect(bytesInFlight.taken).toBe(0), 10_000)
    expect((await organization.owner.client.get(path)).status).toBe(200)
    await vi.waitFor(() => expect(bytesInFlight.taken).toBe(0), 10_000)
  })
})
