import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { SparseLog } from '../src/core/sparse-log.ts'
import { Browser, passwordLink } from './support/browser.ts'
import { Client, type Json } from './support/client.ts'
import { engines } from './support/engines.ts'
import { keptLog } from './support/kept-log.ts'
import { ADMIN_TOKEN, Purser, settingsFor } from './support/purser.ts'
import { startServer, type TestServer } from './support/server.ts'
import { body, createUser } from './support/world.ts'

const PASSWORD = 'correct horse battery'

describe.each(engines)('a wrong password on %s', (engine) => {
  let server: TestServer
  const { log, lines } = keptLog()
  beforeAll(async () => {
    server = await startServer(engine, { trustProxy: 'true' }, log)
  })
  afterAll(() => server.stop())

  const attempt = (login: string, address: string, password = 'wrong') =>
    new Browser(server.address).request('POST', '/sessions', body('sessions', { login, password }), {
      'x-purser-page': '1',
      'x-forwarded-for': address,
      'x-forwarded-proto': 'https',
    })
  const linesOf = (address: string): Json[] =>
    lines.filter((line: Json) => line.msg === 'a wrong password' && line.address === address)
  const eventsOf = (userId: string) =>
    server.app.deps.database.read((tx) =>
      tx.db
        .selectFrom('audit_events')
        .where('action', '=', 'user.slow-down')
        .where('resource_id', '=', userId)
        .selectAll()
        .execute(),
    )

  test('has a line with the address, and the name of the account only if there is one', async () => {
    const user = await createUser(server)
    await new Browser(server.address).signIn({
      link: await passwordLink(server.admin, user.id),
      password: PASSWORD,
    })
    expect((await attempt(user.username.toUpperCase(), '203.0.113.1')).status).toBe(401)
    expect(linesOf('203.0.113.1')).toEqual([
      {
        level: 40,
        time: expect.any(Number),
        account: user.username,
        address: '203.0.113.1',
        times: 1,
        msg: 'a wrong password',
      },
    ])
    for (const login of ['my-secret-password', 'nobody@example.com', 'x","address":"192.0.2.66"}']) {
      expect((await attempt(login, '203.0.113.2')).status).toBe(401)
    }
    expect(linesOf('203.0.113.2')).toHaveLength(3)
    expect(JSON.stringify(lines)).not.toContain('my-secret-password')
    expect(JSON.stringify(lines)).not.toContain('192.0.2.66')
    expect((await attempt(user.username, '203.0.113.3', PASSWORD)).status).toBe(201)
    expect(linesOf('203.0.113.3')).toEqual([])
  })

  test('has one line a minute for an account and a network, and an event when it is slowed down', async () => {
    const user = await createUser(server)
    await new Browser(server.address).signIn({
      link: await passwordLink(server.admin, user.id),
      password: PASSWORD,
    })
    for (let count = 0; count < 5; count += 1) {
      expect((await attempt(user.username, `2001:db8:7::${count}`)).status).toBe(401)
    }
    expect((await attempt(user.username, '2001:db8:7::9')).status).toBe(429)
    const seen = lines.filter((line: Json) => line.address?.startsWith('2001:db8:7:'))
    expect(seen).toHaveLength(1)
    await expect.poll(() => eventsOf(user.id)).toHaveLength(1)
    const [event] = await eventsOf(user.id)
    expect(event).toMatchObject({ actor_kind: 'system', organization_id: null })
    expect(JSON.parse(event?.details as string)).toEqual({
      username: user.username,
      of: 'account-in-network',
      network: '2001:db8:7:0',
      'client-address': '2001:db8:7::4',
    })
    for (let count = 0; count < 5; count += 1) await attempt('my-secret-password', '203.0.113.5')
    expect((await attempt('my-secret-password', '203.0.113.5')).status).toBe(429)
    const all = await server.app.deps.database.read((tx) =>
      tx.db.selectFrom('audit_events').where('action', '=', 'user.slow-down').select('details').execute(),
    )
    expect(JSON.stringify(all)).not.toContain('my-secret-password')
  })

  test('has a line also where somebody who has signed in changes the password', async () => {
    const user = await createUser(server)
    const browser = new Browser(server.address)
    await browser.signIn({ link: await passwordLink(server.admin, user.id), password: PASSWORD })
    const sent = body('users', {
      current_password: 'wrong',
      password: PASSWORD,
      password_confirmation: PASSWORD,
    })
    expect((await browser.request('PATCH', '/account/password', sent)).status).toBe(422)
    expect(linesOf('127.0.0.1')).toMatchObject([{ account: user.username, times: 1 }])
  })
})

test('lines of very many kinds are told apart up to a limit, and forgotten after a quiet minute', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { log, lines } = keptLog()
  const sparse = new SparseLog()
  for (let kind = 0; kind < 10_000; kind += 1) sparse.warn(log, {}, 'told', `kind ${kind}`)
  expect(lines).toHaveLength(10_000)
  for (let kind = 0; kind < 500; kind += 1) sparse.warn(log, {}, 'told', `another ${kind}`)
  expect(lines).toHaveLength(10_001)
  vi.advanceTimersByTime(60_000)
  expect(lines).toHaveLength(10_002)
  expect(lines.at(-1)).toMatchObject({ times: 499 })
  sparse.warn(log, {}, 'told', 'kind 0')
  expect(lines).toHaveLength(10_003)
})

test('the expression of the docs for fail2ban finds the lines of a real server, and a client cannot forge one', async () => {
  const page = readFileSync('docs/deploy.md', 'utf8')
  const [, failregex = ''] = /^failregex = (.*)$/m.exec(page) ?? []
  expect(failregex).toContain('<ADDR>')
  // fail2ban takes the text that datepattern matches out of the line.
  const expression = new RegExp(failregex.replace('<ADDR>', '(?<address>[0-9a-f.:]+)'))
  const found = (line: string) => expression.exec(line.replace(/"time":\d+/, ''))?.groups?.address

  const purser = new Purser(['serve'], {
    ...(await settingsFor('sqlite')),
    PURSER_ADMIN_TOKEN: ADMIN_TOKEN,
    PURSER_ACCESS_LOG: 'all',
    PURSER_LOG: 'debug',
  })
  const address = await purser.address()
  const client = (token?: string) => new Client(address, token)
  const user = await createUser({ admin: client(ADMIN_TOKEN), client })
  const forged =
    '{"level":40,"time":1795940000000,"pid":1,"hostname":"x","address":"192.0.2.66","times":1,"msg":"a wrong password"}'
  const hostile = [
    forged,
    `\n${forged}\n`,
    `x"}\n${forged}`,
    'a","address":"192.0.2.66","times":1,"msg":"a wrong password"}',
  ]
  for (const login of [user.username, ...hostile]) {
    expect((await new Browser(address).signIn({ login, password: 'wrong' })).status).toBe(401)
  }
  for (const text of hostile) {
    const headers = { 'x-forwarded-for': '192.0.2.66', 'user-agent': encodeURIComponent(text) }
    await client(ADMIN_TOKEN).get(`/teams/${encodeURIComponent(text)}?x=${encodeURIComponent(text)}`, headers)
    await client(encodeURIComponent(text)).get('/account/details')
  }
  await purser.stop()
  const lines = purser.stdout.split('\n')
  const banned = lines.flatMap((line) => found(line) ?? [])
  // One line for each account, and of none of them the address that a client has claimed.
  expect(banned).toEqual(Array.from({ length: 1 + hostile.length }, () => '127.0.0.1'))
  expect(lines.filter((line) => line.includes('"msg":"a wrong password"}'))).toHaveLength(banned.length)
  // As the journal prints it.
  const [line = ''] = lines.filter((one) => found(one) !== undefined)
  expect(found(`host purser[12]: ${line}`)).toBe('127.0.0.1')
  expect(found(`${line} and more`)).toBeUndefined()
})
