import { once } from 'node:events'
import { connect } from 'node:net'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Browser, passwordLink } from './support/browser.ts'
import type { Json } from './support/client.ts'
import { engines } from './support/engines.ts'
import { Purser, run, settingsFor } from './support/purser.ts'
import { startServer, type TestServer } from './support/server.ts'
import { createTeam, createTestOrganization, createUser, createWorkspace, made } from './support/world.ts'
import { lock, postState, stateText } from './support/states.ts'

describe.each(engines)('the access log on %s', (engine) => {
  const lines: Json[] = []
  let server: TestServer
  beforeAll(async () => {
    // Its lines do not depend on the level of the log.
    const log = pino({ level: 'silent' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
    server = await startServer(engine, { accessLog: 'all', trustProxy: 'true' }, log)
  })
  afterAll(() => server.stop())

  /** The line of a request, which is written when its answer was sent. */
  const lineOf = (found: (line: Json) => boolean) => expect.poll(() => lines.find(found)).toBeDefined()
  const byId = async (answer: { headers: Headers }): Promise<Json> => {
    const id = answer.headers.get('x-request-id')
    await lineOf((line) => line.requestId === id)
    return lines.find((line) => line.requestId === id)
  }

  test('has a line for each request, with its route and never with its path or query', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const team = await createTeam(organization)
    const secret = 'purser_user_pasted'
    const forwarded = { 'x-forwarded-for': '203.0.113.7' }
    const read = await owner.client.get(`/teams/${team}?x=${secret}`, forwarded)
    expect(await byId(read)).toEqual({
      level: 30,
      time: expect.any(Number),
      pid: process.pid,
      hostname: expect.any(String),
      msg: 'request',
      method: 'GET',
      route: '/api/v2/teams/:team_id',
      status: 200,
      ms: expect.any(Number),
      account: owner.id,
      address: '203.0.113.7',
      requestId: read.headers.get('x-request-id'),
    })
    const unknown = await owner.client.get(`/nothing/${secret}`)
    expect(await byId(unknown)).toMatchObject({
      route: null,
      status: 404,
      account: owner.id,
      address: '127.0.0.1',
    })
    const missing = await owner.client.get(`/teams/${secret}`)
    expect(await byId(missing)).toMatchObject({ route: '/api/v2/teams/:team_id', status: 404 })
    const stranger = await server.client('bad').get('/account/details')
    expect(await byId(stranger)).toMatchObject({ status: 401, account: null })
    const head = await owner.client.request('HEAD', `/teams/${team}`)
    expect(await byId(head)).toMatchObject({ method: 'HEAD', status: 200 })
    const health = await fetch(`${server.address}/healthz?${secret}`)
    expect(await byId(health)).toMatchObject({ route: '/healthz', status: 200, account: null })
    const page = await fetch(`${server.address}/app/${secret}`)
    expect(await byId(page)).toMatchObject({ method: 'GET', status: page.status })
    expect(JSON.stringify(lines)).not.toContain(secret)
  })

  test('has a line for each of the reads that share a transaction or a statement', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    for (let round = 0; round < 3; round++) {
      const before = lines.length
      const answers = await Promise.all(Array.from({ length: 50 }, () => client.get(`/teams/${team}`)))
      const ids = new Set(answers.map(({ headers }) => headers.get('x-request-id')))
      expect(ids.size).toBe(50)
      await expect
        .poll(() => lines.slice(before).filter(({ requestId }) => ids.has(requestId)).length)
        .toBe(50)
    }
  })

  test('names who signs in, and whose upload a signed address is', async () => {
    const user = await createUser(server)
    const link = await passwordLink(server.admin, user.id)
    const password = 'correct horse battery'
    expect((await new Browser(server.address).signIn({ link, password })).status).toBe(201)
    await lineOf(({ route, account }) => route === '/api/v2/sessions' && account === user.id)
    const wrong = await new Browser(server.address).signIn({ login: user.username, password: 'wrong' })
    expect(await byId(wrong)).toMatchObject({ route: '/api/v2/sessions', status: 401, account: null })
    const organization = await createTestOrganization(server)
    const { client, id } = organization.owner
    const workspace = await createWorkspace(organization)
    await lock(client, workspace)
    const state = stateText('{}')
    const { attributes } = made(await postState(client, workspace, state), 201).json.data
    const url = attributes['hosted-state-upload-url']
    const answer = await client.request('PUT', url, state)
    expect(await byId(answer)).toMatchObject({ method: 'PUT', status: 200, account: id })
    expect(JSON.stringify(lines)).not.toContain(url.split('/uploads/')[1].split('/')[0])
  })

  test('has a line for a request whose client went away', async () => {
    const client = connect(Number(new URL(server.address).port), '127.0.0.1')
    await once(client, 'connect')
    client.write(
      'POST /api/v2/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
    )
    // The headers have arrived when a later request is answered.
    await server.admin.get('/account/details')
    client.destroy()
    await lineOf(({ aborted, route }) => aborted === true && route === '/api/v2/sessions')
    expect(lines.find(({ aborted }) => aborted === true)).toMatchObject({
      status: null,
      address: '127.0.0.1',
    })
  })
})

test('with PURSER_ACCESS_LOG=slow only slow requests have a line, with off none', async () => {
  const count = async (settings: object) => {
    let lines = 0
    const server = await startServer(
      'sqlite',
      settings,
      pino({ level: 'silent' }, { write: () => void lines++ }),
    )
    onTestFinished(() => server.stop())
    await server.admin.get('/account/details')
    await fetch(`${server.address}/healthz`)
    return lines
  }
  expect(await count({ accessLog: 'slow', accessLogSlowMs: '3600000' })).toBe(0)
  expect(await count({})).toBe(0)
  expect(await count({ accessLog: 'all' })).toBeGreaterThan(0)
})

test('a command that uses a server of its own logs no requests', async () => {
  const settings = { ...(await settingsFor('sqlite')), PURSER_ACCESS_LOG: 'all' }
  const server = new Purser(['serve'], settings)
  await server.address()
  const { code, stdout } = await run(['user', 'list'], settings)
  expect(code).toBe(0)
  expect(stdout).not.toContain('"request"')
  const listed = await run(['team', 'list', '--organization', 'none'], settings)
  expect(listed.stdout + listed.stderr).not.toContain('"msg":"request"')
})
