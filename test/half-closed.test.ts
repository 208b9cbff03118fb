import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines } from './support/engines.ts'
import { RawClient } from './support/raw-client.ts'
import { startServer, type TestServer } from './support/server.ts'
import { createTestOrganization } from './support/world.ts'

describe.each(engines)('a client that ends its side of the connection on %s', (engine) => {
  let server: TestServer
  let raw: RawClient
  beforeAll(async () => {
    server = await startServer(engine)
    raw = new RawClient(Number(new URL(server.address).port))
  })
  afterAll(async () => {
    raw.close()
    await server.stop()
  })

  const send = (lines: readonly string[], body = '') =>
    raw.send({
      bytes: Buffer.from(
        [...lines, 'Host: x', `Authorization: Bearer ${server.admin.token}`, '', body].join('\r\n'),
      ),
      endsEarly: true,
    })

  test('still gets the answer to what it sent', async () => {
    const { name } = await createTestOrganization(server)
    expect((await send([`GET /api/v2/organizations/${name} HTTP/1.1`])).status).toBe(200)
    const body = JSON.stringify({ data: { type: 'teams', attributes: { name: 'half' } } })
    const post = [
      `POST /api/v2/organizations/${name}/teams HTTP/1.1`,
      'Content-Type: application/vnd.api+json',
    ]
    const made = await send([...post, `Content-Length: ${body.length}`], body)
    expect(made.status).toBe(200)
    const half = await send([...post, `Content-Length: ${body.length + 1}`], body)
    expect(half.status).toBe(400)
    const upgrade = ['Upgrade: websocket', 'Connection: Upgrade']
    const other = await send([...post, ...upgrade, `Content-Length: ${body.length + 1}`], body)
    expect(other.status).toBe(400)
  })
})
