import { expect, test } from 'vitest'
import { passwordLink } from './support/browser.ts'
import { BrowserAt } from './support/browser-at.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import type { TestServer } from './support/server.ts'
import { Statements } from './support/statements.ts'
import { body, createUser } from './support/world.ts'

const PASSWORD = 'correct horse battery'
const ADDRESS = '192.0.2.7'
const DAY_MS = 86_400_000

async function signedIn(server: TestServer, address = ADDRESS) {
  const user = await createUser(server)
  const browser = new BrowserAt(server, address)
  const link = await passwordLink(server.admin, user.id)
  expect((await browser.signIn({ link, password: PASSWORD })).status).toBe(201)
  return { user, browser }
}

const right = ({ username: login }: { username: string }) => ({ login, password: PASSWORD })
const wrong = ({ username: login }: { username: string }) => ({ login, password: 'wrong horse' })

/** Wrong passwords of unknown clients, without their hashing. */
async function guess({ app }: TestServer, account: string, addresses: readonly string[]) {
  const { guesses, clock } = app.deps
  const attempt = (address: string) =>
    guesses.attempt({ account, address, now: clock.now() }, async () => false)
  await Promise.allSettled(addresses.map(attempt))
}

onEachEngine('a browser that has signed in before', { trustProxy: 'true' }, (server) => {
  test('signs in beside guesses from its own address, and others there wait', async () => {
    const people = await Promise.all(Array.from({ length: 3 }, () => signedIn(server)))
    for (let count = 0; count < 54; count += 1) await guess(server, `random ${count}`, [ADDRESS])
    for (const { user, browser } of people) {
      expect((await browser.signIn(right(user))).status).toBe(201)
      expect((await new BrowserAt(server, ADDRESS).signIn(right(user))).status).toBe(429)
    }
  })

  test('signs in beside guesses at its account from everywhere, also after its sign-out', async () => {
    const { user, browser } = await signedIn(server, '192.0.2.8')
    expect((await browser.request('DELETE', `/sessions/${browser.sessionId}`)).status).toBe(204)
    const addresses = Array.from({ length: 24 }, (_, place) => `2001:db8:0:${place}`)
    const strangers = addresses.map((address) => new BrowserAt(server, address).signIn(wrong(user)))
    const known = browser.signIn(right(user))
    const statuses = (await Promise.all(strangers)).map(({ status }) => status)
    expect((await known).status).toBe(201)
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(15)
    const elsewhere = Array.from({ length: 20 }, (_, place) => `198.51.100.${place}`)
    await guess(server, user.username, elsewhere)
    expect((await new BrowserAt(server, '192.0.2.9').signIn(right(user))).status).toBe(429)
    expect((await browser.signIn(right(user))).status).toBe(201)
  })

  test('has pauses of its own, which slow down nobody else', async () => {
    const { user, browser } = await signedIn(server, '192.0.2.10')
    const other = new BrowserAt(server, '192.0.2.10')
    expect((await other.signIn(right(user))).status).toBe(201)
    for (let count = 0; count < 5; count += 1) expect((await browser.signIn(wrong(user))).status).toBe(401)
    expect((await browser.signIn(right(user))).status).toBe(429)
    expect((await other.signIn(right(user))).status).toBe(201)
    expect((await new BrowserAt(server, '192.0.2.10').signIn(right(user))).status).toBe(201)
  })

  test('is unknown to other accounts, and with another signature', async () => {
    const { user, browser } = await signedIn(server, '192.0.2.11')
    const other = await signedIn(server, '192.0.2.11')
    await guess(
      server,
      user.username,
      Array.from({ length: 20 }, (_, place) => `198.51.100.${place}`),
    )
    const statusWith = async (devices: string | undefined) => {
      const stranger = new BrowserAt(server, '192.0.2.12')
      stranger.devices = devices
      return (await stranger.signIn(right(user))).status
    }
    const own = browser.devices ?? ''
    expect(await statusWith(other.browser.devices)).toBe(429)
    expect(await statusWith(other.browser.devices?.replace(other.user.id, user.id))).toBe(429)
    expect(await statusWith(own.replace(/\.\d+\./, '.9999999999.'))).toBe(429)
    expect(await statusWith(`${own.slice(0, -1)}${own.endsWith('A') ? 'E' : 'A'}`)).toBe(429)
    expect(await statusWith('purser-devices=~.~')).toBe(429)
    expect(await statusWith(`${own}~${'x'.repeat(2_000)}`)).toBe(429)
    expect(await statusWith(own)).toBe(201)
  })

  test('is known to the last five accounts that signed in with it', async () => {
    const browser = new BrowserAt(server, '192.0.2.13')
    const users = []
    for (let count = 0; count < 6; count += 1) {
      const { user } = await signedIn(server, `198.51.100.${count}`)
      expect((await browser.signIn(right(user))).status).toBe(201)
      users.push(user)
    }
    expect(browser.devices?.length).toBeLessThan(600)
    const addresses = Array.from({ length: 20 }, (_, place) => `198.51.100.${place + 100}`)
    const statuses = []
    for (const user of users) {
      await guess(server, user.username, addresses)
      const again = new BrowserAt(server, '192.0.2.14')
      again.devices = browser.devices
      statuses.push((await again.signIn(right(user))).status)
    }
    expect(statuses).toEqual([429, 201, 201, 201, 201, 201])
  })

  test('is unknown after the password was set elsewhere, and known after it changed it itself', async () => {
    const { user, browser } = await signedIn(server, '192.0.2.15')
    const other = new BrowserAt(server, '192.0.2.15')
    expect((await other.signIn(right(user))).status).toBe(201)
    const next = 'another battery staple'
    const change = { current_password: PASSWORD, password: next, password_confirmation: next }
    expect((await browser.request('PATCH', '/account/password', body('users', change))).status).toBe(200)
    await guess(
      server,
      user.username,
      Array.from({ length: 20 }, (_, place) => `203.0.113.${place}`),
    )
    const attributes = { login: user.username, password: next }
    expect((await other.signIn(attributes)).status).toBe(429)
    expect((await browser.signIn(attributes)).status).toBe(201)
  })

  test('is known for a year, whatever the clock of the server was', async () => {
    const { user, browser } = await signedIn(server, '192.0.2.16')
    const statusAfter = async (days: number) => {
      server.clock.advance(days * DAY_MS)
      await guess(
        server,
        user.username,
        Array.from({ length: 20 }, (_, place) => `203.0.113.${place}`),
      )
      const again = new BrowserAt(server, '192.0.2.16')
      again.devices = browser.devices
      const { status } = await again.signIn(right(user))
      server.clock.advance(-days * DAY_MS)
      return status
    }
    expect(await statusAfter(-1)).toBe(201)
    expect(await statusAfter(364)).toBe(201)
    expect(await statusAfter(366)).toBe(429)
  })

  test('may read nothing by that', async () => {
    const { browser } = await signedIn(server, '192.0.2.17')
    browser.cookie = undefined
    expect((await browser.get('/account/details')).status).toBe(401)
  })

  test('learns nothing about other names', async () => {
    const { user, browser } = await signedIn(server, '192.0.2.18')
    const other = await signedIn(server, '192.0.2.18')
    const statements = new Statements(server.engine)
    const answers = new Set<string>()
    for (const { username } of [user, other.user, { username: 'no-such-user' }]) {
      const ran = await statements.of(async () => {
        const { status, text } = await browser.signIn(wrong({ username }))
        answers.add(`${status} ${text}`)
      })
      expect(ran.filter((text) => /_key" = /.test(text))).toHaveLength(2)
    }
    statements.stop()
    expect(answers.size).toBe(1)
  })

  test('keeps a cookie for this host and https only, which no script and no other site can send', async () => {
    const user = await createUser(server)
    const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'purser.test' }
    const browser = new BrowserAt(server, ADDRESS, proxied)
    const link = await passwordLink(server.admin, user.id)
    const { headers } = await browser.signIn({ link, password: PASSWORD })
    expect(headers.getSetCookie()[1]).toMatch(
      /^__Host-purser-devices=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=31536000; Secure$/,
    )
  })
})

onEachEngine('a right password', { trustProxy: 'true' }, (server) => {
  test('begins twenty sessions at once, and then one each fifteen seconds', async () => {
    const { user, browser } = await signedIn(server)
    const other = await signedIn(server)
    const { guesses, clock } = server.app.deps
    // Without hashing, which on a busy machine takes longer than the budget needs to come back.
    const asker = { account: user.username, address: ADDRESS, now: clock.now() }
    for (let count = 0; count < 20; count += 1)
      expect(await guesses.attempt(asker, async () => true)).toBe(true)
    const refused = await browser.signIn(right(user))
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, expect.any(Number)])
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(15)
    expect((await new BrowserAt(server, '198.51.100.1').signIn(right(user))).status).toBe(429)
    server.clock.advance(15_000)
    expect((await browser.signIn(right(user))).status).toBe(201)
    expect((await new BrowserAt(server, ADDRESS).signIn(right(other.user))).status).toBe(201)
  })
})
