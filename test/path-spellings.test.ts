import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client, Json } from './support/client.ts'
import { engines } from './support/engines.ts'
import { RawClient } from './support/raw-client.ts'
import { startServer, type TestServer } from './support/server.ts'
import { createState } from './support/states.ts'
import { addMember, createTeam, createTestOrganization } from './support/world.ts'

describe.each(engines)('a path that is spelled in unusual ways on %s', (engine) => {
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

  /** Sends the path unchanged. fetch would normalize it. */
  const send = async (client: Client, method: string, path: string) => {
    const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${client.token}`]
    const { status, body } = await raw.send({ bytes: Buffer.from(`${head.join('\r\n')}\r\n\r\n`) })
    const json: Json = JSON.parse(body.toString())
    return { status, json }
  }

  const linksOf = async (client: Client, path: string): Promise<string[]> => {
    const { status, json } = await send(client, 'GET', path)
    expect(status).toBe(200)
    const { links } = json as { links: Record<string, string | null> }
    return Object.values(links).filter((link) => link !== null)
  }

  test('links are spelled in one way, whoever asked first and however', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const member = await addMember(server, organization)
    const { workspaceId, stateVersionId } = await createState(organization, '{}')
    const escaped = (text: string) => `%${text.charCodeAt(0).toString(16)}${text.slice(1)}`
    for (const [before, segment, after] of [
      ['/api/v2/organizations/', name, '/teams'],
      ['/api/v2/organizations/', name, '/organization-memberships'],
      ['/api/v2/workspaces/', workspaceId, '/current-state-version-outputs'],
      ['/api/v2/state-versions/', stateVersionId, '/outputs'],
    ] as const) {
      const path = before + segment + after
      const links = [
        await linksOf(owner.client, `http://elsewhere.example.com${path}`),
        await linksOf(owner.client, before + escaped(segment) + after),
        await linksOf(owner.client, `${path}#fragment`),
        await linksOf(owner.client, path),
        after === '/current-state-version-outputs' ? await linksOf(member.client, path) : [],
      ]
      for (const link of links.flat()) expect(link.split('?')[0]).toBe(path)
    }
  })

  test('two Host or two Authorization headers are 400, whoever sends them', async () => {
    const { owner, name } = await createTestOrganization(server)
    const path = `/api/v2/organizations/${name}/teams`
    const [good, bad] = [`Authorization: Bearer ${owner.client.token}`, 'authorization: Bearer guess']
    for (const [headers, repeated] of [
      [['Host: a', good, bad], 'Authorization'],
      [['Host: a', bad, good], 'Authorization'],
      [['Host: a', good, good], 'Authorization'],
      [['Host: a', 'HOST: b', good], 'Host'],
    ] as const) {
      const head = [`GET ${path} HTTP/1.1`, ...headers]
      const { status, body } = await raw.send({ bytes: Buffer.from(`${head.join('\r\n')}\r\n\r\n`) })
      expect(status, head.join()).toBe(400)
      expect(JSON.parse(body.toString()).errors[0].detail).toBe(`the header ${repeated} must be sent once`)
    }
  })

  test('a request with so many headers that some may be left out is refused', async () => {
    const { owner, name } = await createTestOrganization(server)
    const team = JSON.stringify({ data: { type: 'teams', attributes: { name: 'last' } } })
    const last = [`Authorization: Bearer ${owner.client.token}`, `Content-Length: ${team.length}`]
    const sent = async (count: number) => {
      const others = Array.from({ length: count - 1 - last.length }, () => 'x:')
      const head = [`POST /api/v2/organizations/${name}/teams HTTP/1.1`, 'Host: a', ...others, ...last]
      return raw.send({ bytes: Buffer.from([...head, '', team].join('\r\n')) })
    }
    expect((await sent(999)).status).toBe(200)
    const refused = await sent(1_000)
    expect([refused.status, refused.headers.get('connection')]).toEqual([400, 'close'])
    // It depends on the version of Node.
    expect([400, 431]).toContain((await sent(1_001)).status)
  })

  test('a Host that is no host is 400, because addresses in answers begin with it', async () => {
    const ask = async (host: string) => {
      const head = `GET /api/v2/ping HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
      return (await raw.send({ bytes: Buffer.from(head) })).status
    }
    for (const host of ['a b', 'a/b', 'a@b', 'a?b', 'a#b', 'a"b', 'a\\b', 'a, b', 'é']) {
      expect([host, await ask(host)]).toEqual([host, 400])
    }
    for (const host of ['', 'my_host:80', 'EXAMPLE.com.', '127.0.0.1:1', '[::1]:1', '[fe80::1%25eth0]']) {
      expect([host, await ask(host)]).toEqual([host, 204])
    }
  })

  test('without a host, or with an empty one, addresses in answers begin with the address of the server', async () => {
    const ask = async (lines: string) => {
      const { body } = await raw.send({ bytes: Buffer.from(`GET / ${lines}\r\nConnection: close\r\n\r\n`) })
      return /http:\S*(?=\/api\/v2\/organizations)/.exec(body.toString())?.[0]
    }
    expect(await ask('HTTP/1.1\r\nHost: a')).toBe('http://a')
    const own = await ask('HTTP/1.0')
    expect(own).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(await ask('HTTP/1.1\r\nHost:')).toBe(own)
    expect(await ask('HTTP/1.1\r\nHost: ')).toBe(own)
  })

  test('CONNECT is answered as any other unknown method, and ends the connection', async () => {
    const { owner, name } = await createTestOrganization(server)
    const valid = ['Host: a', `Authorization: Bearer ${owner.client.token}`]
    const asked = (lines: readonly string[]) =>
      raw.send({ bytes: Buffer.from(`${lines.join('\r\n')}\r\n\r\n`) })
    for (const [headers, status] of [
      [valid, 404],
      [['Host: a'], 401],
      [['Host: a', 'Authorization: Bearer guess'], 401],
      [valid.slice(1), 400],
    ] as const) {
      const answer = await asked(['CONNECT example.com:443 HTTP/1.1', ...headers])
      expect([answer.status, answer.headers.get('connection')]).toEqual([status, 'close'])
      const other = await asked(['PURGE /nothing HTTP/1.1', ...headers])
      expect(answer.body.toString()).toBe(other.body.toString())
    }
    // A client that does not wait for the answer before it, and clients that go away, disturb nobody.
    const get = [`GET /api/v2/organizations/${name} HTTP/1.1`, ...valid, '']
    const both = await asked([...get, 'CONNECT example.com:443 HTTP/1.1', ...valid])
    expect(both.status).toBeUndefined()
    for (let count = 0; count < 20; count++) {
      const socket = connect(Number(new URL(server.address).port), '127.0.0.1')
      await once(socket, 'connect')
      socket.write(`CONNECT example.com:443 HTTP/1.1\r\n${valid.join('\r\n')}\r\n\r\n`)
      await new Promise((resolve) => setTimeout(resolve, count % 5))
      socket.resetAndDestroy()
    }
    expect((await owner.client.get(`/organizations/${name}`)).status).toBe(200)
  })

  test('a body in another coding than chunked is 400 and ends the connection', async () => {
    const { owner, name } = await createTestOrganization(server)
    const head = [`POST /api/v2/organizations/${name}/teams HTTP/1.1`, 'Host: a']
    const token = `Authorization: Bearer ${owner.client.token}`
    const team = JSON.stringify({ data: { type: 'teams', attributes: { name: 'coded' } } })
    const body = `${team.length.toString(16)}\r\n${team}\r\n0\r\n\r\n`
    const sent = async (codings: readonly string[]) => {
      const lines = [...head, token, ...codings.map((coding) => `Transfer-Encoding: ${coding}`), '', body]
      return raw.send({ bytes: Buffer.from(lines.join('\r\n')) })
    }
    for (const codings of [['gzip, chunked'], ['gzip', 'chunked'], ['identity, chunked'], ['x, y,chunked']]) {
      const { status, headers, body: answer } = await sent(codings)
      expect([codings, status, headers.get('connection')]).toEqual([codings, 400, 'close'])
      const { detail } = JSON.parse(answer.toString()).errors[0]
      expect(detail).toBe('the only Transfer-Encoding that is accepted is chunked')
    }
    expect((await sent(['Chunked'])).status).toBe(200)
  })

  test('an Upgrade request is answered like any other, and ends the connection', async () => {
    const { owner, name } = await createTestOrganization(server)
    const lines = [`GET /api/v2/organizations/${name} HTTP/1.1`, 'Host: a']
    const get = [...lines, `Authorization: Bearer ${owner.client.token}`]
    const upgrade = [...get, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AA']
    // Node drops what comes in one piece with it. On a connection that stays open, the client would wait for ever.
    const both = await raw.send({ bytes: Buffer.from([...upgrade, '', ...get, '', ''].join('\r\n')) })
    expect([both.status, both.headers.get('connection')]).toEqual([200, 'close'])
    const long = [...lines, ...upgrade.slice(3), 'Content-Length: 100000', '', 'x'.repeat(50_000)]
    const refused = await raw.send({ bytes: Buffer.from(long.join('\r\n')) })
    expect([refused.status, refused.headers.get('connection')]).toEqual([401, 'close'])
  })

  test("a team's single token is that one", async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const made = await send(client, 'POST', `/api/v2/teams/${team}/authentication%2Dtoken`)
    expect(made.status).toBe(201)
    expect((await client.get(`/teams/${team}/authentication-token`)).json.data.id).toBe(made.json.data.id)
  })

  test('what is no HTTP has a request id too, and ids tell nothing about how much others ask', async () => {
    const ids: string[] = []
    for (const bytes of ['GARBAGE\r\n\r\n', `GET / HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`]) {
      const { status, headers } = await raw.send({ bytes: Buffer.from(bytes) })
      expect(status).toBeGreaterThanOrEqual(400)
      ids.push(headers.get('x-request-id') ?? '')
    }
    for (let count = 0; count < 3; count++) {
      ids.push((await server.client().get('/ping')).headers.get('x-request-id') as string)
    }
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{20}$/)
    // With a counter, consecutive ids would begin alike.
    expect(new Set(ids.map((id) => id.slice(0, 8))).size).toBe(ids.length)
  })
})
