import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { Browser, passwordLink } from './support/browser.ts'
import type { Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import type { TestServer } from './support/server.ts'
import { Statements } from './support/statements.ts'
import { body, createTestOrganization, createUser, invitePerson, uniqueName } from './support/world.ts'

const PASSWORD = 'correct horse battery'
const MINUTE_MS = 60_000

/** A user with a password, and a browser in which they have signed in. */
async function signedIn(server: TestServer) {
  const user = await createUser(server)
  const browser = new Browser(server.address)
  const link = await passwordLink(server.admin, user.id)
  expect((await browser.signIn({ link, password: PASSWORD })).status).toBe(201)
  return { user, browser, link }
}

onEachEngine('signing in', (server) => {
  test('with a link sets the password, once; then by user name or email, without case', async () => {
    const { user, browser, link } = await signedIn(server)
    expect((await browser.get('/account/details')).json.data.id).toBe(user.id)
    expect((await new Browser(server.address).signIn({ link, password: PASSWORD })).status).toBe(401)
    for (const login of [user.username, user.username.toUpperCase(), user.email]) {
      const other = new Browser(server.address)
      expect((await other.signIn({ login, password: PASSWORD })).status).toBe(201)
      expect((await other.get('/account/details')).json.data.id).toBe(user.id)
    }
  })

  test('a link tells whose password it sets to those who have it, and stays as it is', async () => {
    const user = await createUser(server)
    const link = await passwordLink(server.admin, user.id)
    const anyone = new Browser(server.address)
    const show = (given: unknown) =>
      anyone.request('POST', '/password-links/show', body('password-links', { link: given }))
    for (let times = 0; times < 2; times += 1) {
      const shown = await show(link)
      expect([shown.status, shown.json]).toEqual([200, { username: user.username, email: user.email }])
      expect(shown.headers.get('cache-control')).toBe('no-store')
    }
    expect((await anyone.signIn({ link, password: PASSWORD })).status).toBe(201)
    const refused = [await show(link), await show('unknown')]
    const another = await passwordLink(server.admin, user.id)
    await server.admin.post(`/admin/users/${user.id}/actions/suspend`)
    refused.push(await show(another))
    expect(refused.map(({ status, text }) => [status, text])).toEqual(
      refused.map(() => [401, refused[0]?.text]),
    )
    expect((await show(7)).status).toBe(422)
  })

  test('is refused alike for an unknown user, a wrong password, none, and a suspended user', async () => {
    const { user } = await signedIn(server)
    const suspended = await signedIn(server)
    await server.admin.post(`/admin/users/${suspended.user.id}/actions/suspend`)
    const withoutPassword = await createUser(server)
    const statements = new Statements(server.engine)
    const answers: string[] = []
    for (const attributes of [
      { login: 'no-such-user', password: PASSWORD },
      { login: user.username, password: 'wrong horse' },
      { login: withoutPassword.username, password: PASSWORD },
      { login: user.email, password: 'wrong horse' },
    ]) {
      const ran = await statements.of(async () => {
        const { status, text } = await new Browser(server.address).signIn(attributes)
        answers.push(`${status} ${text}`)
      })
      // The time must not tell who has an account.
      expect(ran.filter((text) => /_key" = /.test(text))).toHaveLength(2)
    }
    statements.stop()
    const ofSuspended = { login: suspended.user.username, password: PASSWORD }
    const { status, text } = await new Browser(server.address).signIn(ofSuspended)
    answers.push(`${status} ${text}`)
    expect(new Set(answers)).toEqual(
      new Set([
        '401 {"errors":[{"status":"401","title":"unauthorized","detail":"the user name, email or password is wrong"}]}',
      ]),
    )
  })

  test('names every problem of its body', async () => {
    const browser = new Browser(server.address)
    const problems = async (attributes: object) => {
      const answer = await browser.request('POST', '/sessions', body('sessions', attributes))
      return [answer.status, answer.json.errors.map(({ detail }: { detail: string }) => detail)]
    }
    expect(await problems({ password: PASSWORD })).toEqual([422, ['give either login or link']])
    expect(await problems({ login: 'a', link: 'b', password: PASSWORD })).toEqual([
      422,
      ['give either login or link'],
    ])
    expect(await problems({ link: 'b', password: 'short' })).toEqual([
      422,
      ['password must have at least 8 characters'],
    ])
    expect(
      (await browser.request('POST', '/sessions', 'login=a', { 'content-type': 'text/plain' })).status,
    ).toBe(415)
  })

  test('pauses after wrong passwords, for this account only', async () => {
    const { user } = await signedIn(server)
    const other = await signedIn(server)
    const browser = new Browser(server.address)
    for (let count = 0; count < 5; count += 1) {
      expect((await browser.signIn({ login: user.username, password: `wrong ${count}` })).status).toBe(401)
    }
    const refused = await browser.signIn({ login: user.username, password: PASSWORD })
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await browser.signIn({ login: other.user.username, password: PASSWORD })).status).toBe(201)
    server.clock.advance(MINUTE_MS)
    expect((await browser.signIn({ login: user.username, password: PASSWORD })).status).toBe(201)
  })

  test('ends the session that the browser had', async () => {
    const { user, browser } = await signedIn(server)
    const before = browser.sessionId
    expect((await browser.signIn({ login: user.username, password: PASSWORD })).status).toBe(201)
    const { json } = await browser.get(`/users/${user.id}/sessions`)
    const ids = json.data.map(({ id }: { id: string }) => id)
    expect(ids).toEqual([browser.sessionId])
    expect(ids).not.toContain(before)
  })
})

onEachEngine('a session', (server) => {
  test('may do what the user may, and is named in the audit trail', async () => {
    const organization = await createTestOrganization(server)
    const browser = new Browser(server.address)
    const link = await passwordLink(server.admin, organization.owner.id)
    await browser.signIn({ link, password: PASSWORD })
    const made = await browser.request(
      'POST',
      `/organizations/${organization.name}/teams`,
      body('teams', { name: uniqueName('team') }),
    )
    expect(made.status).toBe(200)
    const trail = await browser.get(
      `/organizations/${organization.name}/audit-events?filter[action]=team.create`,
    )
    expect(JSON.stringify(trail.json.data[0])).toContain(browser.sessionId)
  })

  test('changes things only from the own pages of the server', async () => {
    const { browser } = await signedIn(server)
    const attempt = (headers: Record<string, string>) =>
      browser.request('POST', '/organizations', body('organizations', { name: '!' }), headers)
    const origin = server.address
    for (const headers of [
      {},
      { 'sec-fetch-site': 'same-origin' },
      { 'x-purser-page': '1' },
      { 'x-purser-page': '1', 'sec-fetch-site': 'cross-site' },
      { 'x-purser-page': '1', 'sec-fetch-site': 'same-site' },
      { 'x-purser-page': '1', origin: 'https://evil.example' },
    ] as Record<string, string>[]) {
      expect((await attempt(headers)).status, JSON.stringify(headers)).toBe(401)
    }
    for (const headers of [
      { 'x-purser-page': '1', 'sec-fetch-site': 'same-origin' },
      { 'x-purser-page': '1', origin },
    ] as Record<string, string>[]) {
      expect((await attempt(headers)).status, JSON.stringify(headers)).toBe(422)
    }
  })

  test('does not count where the request has a token', async () => {
    const { browser } = await signedIn(server)
    const headers = { authorization: 'Bearer not-a-token' }
    expect((await browser.request('GET', '/account/details', undefined, headers)).status).toBe(401)
  })

  test('ends at the limit of idleness, and at the latest after its lifetime', async () => {
    const idle = await signedIn(server)
    const busy = await signedIn(server)
    const statusOf = async ({ browser }: typeof idle) => (await browser.get('/account/details')).status
    for (let hours = 0; hours < 14 * 24; hours += 23) {
      expect(await statusOf(busy), `after ${hours} hours`).toBe(200)
      if (hours > 24) expect(await statusOf(idle)).toBe(401)
      await server.app.deps.sessionsUsed.flush()
      server.clock.advance(23 * 60 * MINUTE_MS)
    }
    expect(await statusOf(busy)).toBe(401)
  })

  test('a clock that was ahead does not lengthen the time of idleness', async () => {
    const { browser } = await signedIn(server)
    const used = async () => {
      const { status } = await browser.get('/account/details')
      await server.app.deps.sessionsUsed.flush()
      return status
    }
    server.clock.advance(20 * 60 * MINUTE_MS)
    expect(await used()).toBe(200)
    server.clock.advance(-20 * 60 * MINUTE_MS)
    expect(await used()).toBe(200)
    server.clock.advance(25 * 60 * MINUTE_MS)
    expect(await used()).toBe(401)
  })

  test('is ended by its user and by an administrator, alone and with all others, and by suspension', async () => {
    const { user, browser } = await signedIn(server)
    const others = [0, 1, 2].map(() => new Browser(server.address))
    for (const other of others) await other.signIn({ login: user.username, password: PASSWORD })
    const statuses = () =>
      Promise.all([browser, ...others].map(async (one) => (await one.get('/account/details')).status))
    expect(await statuses()).toEqual([200, 200, 200, 200])
    expect((await browser.request('DELETE', `/sessions/${others[0]?.sessionId}`)).status).toBe(204)
    expect(await statuses()).toEqual([200, 401, 200, 200])
    expect((await server.admin.delete(`/sessions/${others[1]?.sessionId}`)).status).toBe(204)
    expect(await statuses()).toEqual([200, 401, 401, 200])
    expect((await browser.request('DELETE', `/users/${user.id}/sessions`)).status).toBe(204)
    expect(await statuses()).toEqual([200, 401, 401, 401])
    await server.admin.post(`/admin/users/${user.id}/actions/suspend`)
    expect(await statuses()).toEqual([401, 401, 401, 401])
  })

  test('is hidden from other users', async () => {
    const { user, browser } = await signedIn(server)
    const other = await signedIn(server)
    for (const path of [`/sessions/${browser.sessionId}`, `/users/${user.id}/sessions`]) {
      expect((await other.browser.get(path)).status).toBe(404)
      expect((await other.browser.request('DELETE', path)).status).toBe(404)
      expect((await browser.get(path)).status).toBe(200)
    }
  })

  test('works in organizations that take no user tokens, and makes tokens that outlive it', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const browser = new Browser(server.address)
    await browser.signIn({ link: await passwordLink(server.admin, owner.id), password: PASSWORD })
    const path = `/organizations/${organization.name}`
    const closed = await browser.request(
      'PATCH',
      path,
      body('organizations', { 'user-tokens-enabled': false }),
    )
    expect(closed.status).toBe(200)
    expect((await owner.client.get(path)).status).toBe(401)
    expect((await browser.get(path)).status).toBe(200)
    const list = await browser.get('/organizations')
    expect(list.json.data.map(({ id }: { id: string }) => id)).toEqual([organization.name])
    const session = await browser.get(`/sessions/${browser.sessionId}`)
    const token = await browser.request('POST', `/users/${owner.id}/authentication-tokens`)
    const expiry = ({ json }: typeof token) => json.data.attributes['expired-at'] as string
    expect(expiry(token) > expiry(session)).toBe(true)
  })
})

onEachEngine('the cookie of a session', { trustProxy: 'true' }, (server) => {
  const signInBehind = async (forwarded: Record<string, string>) => {
    const user = await createUser(server)
    const sent = body('sessions', { link: await passwordLink(server.admin, user.id), password: PASSWORD })
    const fromPage = { 'x-purser-page': '1', 'sec-fetch-site': 'same-origin' }
    const headers = { ...fromPage, ...forwarded }
    return new Browser(server.address).request('POST', '/sessions', sent, headers)
  }
  const cookieOf = ({ headers }: Response) => headers.getSetCookie()[0] ?? ''

  test('is for this host and https only, and no script reads it', async () => {
    const answer = await signInBehind({ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'purser.test' })
    expect(answer.status).toBe(201)
    expect(cookieOf(answer)).toMatch(
      /^__Host-purser-session=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+; Secure$/,
    )
  })

  test('has another name over http, where only a browser of the same machine gets one', async () => {
    const answer = await signInBehind({})
    expect(answer.status).toBe(201)
    expect(cookieOf(answer)).toMatch(/^purser-session=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/)
    const refused = await signInBehind({ 'x-forwarded-host': 'purser.test' })
    expect([refused.status, cookieOf(refused)]).toEqual([403, ''])
  })

  test('is stored as a hash of its secret', async () => {
    const { browser } = await signedIn(server)
    const secret = browser.cookie?.split('=')[1] ?? ''
    const row = await server.app.deps.database.read((tx) =>
      tx.db.selectFrom('sessions').where('id', '=', browser.sessionId).selectAll().executeTakeFirstOrThrow(),
    )
    expect(row.hash).toBe(hash('sha256', secret))
    expect(JSON.stringify(row)).not.toContain(secret)
  })
})

onEachEngine('an organization with limits for sessions', (server) => {
  test('wants a new sign-in when a session is older, or was not used for longer', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const browser = new Browser(server.address)
    await browser.signIn({ link: await passwordLink(server.admin, owner.id), password: PASSWORD })
    const path = `/organizations/${organization.name}`
    const limits = { 'session-timeout': 10, 'session-remember': 60 }
    expect((await owner.client.patch(path, body('organizations', limits))).status).toBe(200)
    /** The status of the organization, and whether it is listed. */
    const seen = async () => {
      const { status } = await browser.get(path)
      const list = await browser.get('/organizations')
      await server.app.deps.sessionsUsed.flush()
      return [status, list.json.data.length]
    }
    expect(await seen()).toEqual([200, 1])
    for (let minutes = 0; minutes < 54; minutes += 9) {
      expect(await seen()).toEqual([200, 1])
      server.clock.advance(9 * MINUTE_MS)
    }
    server.clock.advance(9 * MINUTE_MS)
    expect(await seen()).toEqual([401, 0])
    await browser.signIn({ login: owner.username, password: PASSWORD })
    expect(await seen()).toEqual([200, 1])
    server.clock.advance(11 * MINUTE_MS)
    expect(await seen()).toEqual([401, 0])
    expect((await browser.get('/account/details')).status).toBe(200)
  })

  test('is listed whatever its other settings hold', async () => {
    const organization = await createTestOrganization(server, { 'session-timeout': 10 })
    const { owner } = organization
    const browser = new Browser(server.address)
    await browser.signIn({ link: await passwordLink(server.admin, owner.id), password: PASSWORD })
    const path = `/organizations/${organization.name}`
    for (const text of ['\ud800', '"session-timeout":1,', '\\"session-timeout":1', '\\u0000']) {
      const changed = await owner.client.patch(
        path,
        body('organizations', { 'owners-team-saml-role-id': text }),
      )
      expect(changed.status).toBe(200)
      for (const list of ['/organizations', '/organization-memberships']) {
        const { status, json } = await browser.get(list)
        expect([list, text, status, json.data?.length]).toEqual([list, text, 200, 1])
      }
    }
    server.clock.advance(11 * MINUTE_MS)
    expect((await browser.get('/organizations')).json.data).toEqual([])
  })
})

onEachEngine('at most three sessions of a user', { maxSessions: '3' }, (server) => {
  test('a further sign-in ends the one that was used least recently', async () => {
    const { user, browser } = await signedIn(server)
    const others = [0, 1, 2].map(() => new Browser(server.address))
    for (const other of others) {
      server.clock.advance(2 * MINUTE_MS)
      expect((await other.signIn({ login: user.username, password: PASSWORD })).status).toBe(201)
      if (other === others[1]) {
        await browser.get('/account/details')
        await server.app.deps.sessionsUsed.flush()
      }
    }
    const statuses = [browser, ...others].map(async (one) => (await one.get('/account/details')).status)
    expect(await Promise.all(statuses)).toEqual([200, 401, 200, 200])
  })
})

onEachEngine('a password', (server) => {
  const change = (browser: Browser, current: string, password: string) =>
    browser.request(
      'PATCH',
      '/account/password',
      body('users', { current_password: current, password, password_confirmation: password }),
    )

  test('is changed by who knows it, and all other sessions end', async () => {
    const { user, browser } = await signedIn(server)
    const other = new Browser(server.address)
    await other.signIn({ login: user.username, password: PASSWORD })
    const wrong = await change(browser, 'wrong horse', 'another battery')
    expect([wrong.status, wrong.json.errors[0].source.pointer]).toEqual([
      422,
      '/data/attributes/current_password',
    ])
    expect((await change(browser, PASSWORD, 'another battery')).status).toBe(200)
    expect((await browser.get('/account/details')).status).toBe(200)
    expect((await other.get('/account/details')).status).toBe(401)
    expect((await other.signIn({ login: user.username, password: PASSWORD })).status).toBe(401)
    expect((await other.signIn({ login: user.username, password: 'another battery' })).status).toBe(201)
  })

  test('may not be a common one, in any way to set it', async () => {
    const { user, browser } = await signedIn(server)
    const common = 'Password123'
    const link = await passwordLink(server.admin, user.id)
    const attributes = { username: uniqueName('user'), email: 'common@example.com', password: common }
    for (const answer of [
      await new Browser(server.address).signIn({ link, password: common }),
      await change(browser, PASSWORD, common),
      await server.admin.post('/admin/users', body('users', attributes)),
    ]) {
      expect(answer.status).toBe(422)
      expect(answer.json.errors).toMatchObject([{ source: { pointer: '/data/attributes/password' } }])
    }
    expect((await new Browser(server.address).signIn({ link, password: PASSWORD })).status).toBe(201)
  })

  test('is not set with a token where there was none', async () => {
    const { client } = await createUser(server)
    const answer = await client.patch(
      '/account/password',
      body('users', { current_password: '', password: PASSWORD, password_confirmation: PASSWORD }),
    )
    expect(answer.status).toBe(422)
    expect(answer.json.errors[0].detail).toContain('has no password')
  })

  test('is hashed anew when the hash has older parameters', async () => {
    const { user, browser } = await signedIn(server)
    const nonce = Buffer.from('0123456789abcdef')
    const { argon2Sync } = await import('node:crypto')
    const parameters = { memory: 8_192, passes: 1, parallelism: 1, tagLength: 32 }
    const key = argon2Sync('argon2id', { message: 'older horse', nonce, ...parameters })
    const old = `argon2id$8192$1$1$${nonce.toString('base64')}$${key.toString('base64')}`
    const { database } = server.app.deps
    await database.write((tx) =>
      tx.db.updateTable('users').set({ password_hash: old }).where('id', '=', user.id).execute(),
    )
    expect((await browser.signIn({ login: user.username, password: 'older horse' })).status).toBe(201)
    const row = await database.read((tx) =>
      tx.db.selectFrom('users').where('id', '=', user.id).select('password_hash').executeTakeFirstOrThrow(),
    )
    expect(row.password_hash).toMatch(/^argon2id\$19456\$/)
    expect((await browser.signIn({ login: user.username, password: 'older horse' })).status).toBe(201)
  })

  test('somebody invited makes an account with a link: user name and password, once', async () => {
    const organization = await createTestOrganization(server)
    const email = `${uniqueName('invited')}@example.com`
    const membership = await invitePerson(organization, { email })
    const found = await server.admin.get(`/admin/users?q=${email}`)
    const { id } = found.json.data[0]
    const link = await passwordLink(server.admin, id)
    const taken = await createUser(server)
    const refusal = async (username: string | undefined) => {
      const given = username === undefined ? {} : { username }
      const answer = await new Browser(server.address).signIn({ link, password: PASSWORD, ...given })
      const [{ detail, source }] = answer.json.errors
      return [answer.status, source.pointer, detail]
    }
    const pointer = '/data/attributes/username'
    expect(await refusal(undefined)).toEqual([422, pointer, 'choose a user name: there is no account yet'])
    expect(await refusal(taken.username)).toEqual([422, pointer, 'username is already used by another user'])
    expect(await refusal('api-robot')).toEqual([422, pointer, expect.stringContaining('must not begin')])

    const username = uniqueName('joined')
    const browser = new Browser(server.address)
    expect((await browser.signIn({ link, username, password: PASSWORD })).status).toBe(201)
    expect((await browser.get('/account/details')).json.data).toMatchObject({ id, attributes: { username } })
    const accept = `/organization-memberships/${membership}/actions/accept`
    expect((await browser.request('POST', accept)).status).toBe(200)
    expect((await new Browser(server.address).signIn({ link, username, password: PASSWORD })).status).toBe(
      401,
    )
    const again = await passwordLink(server.admin, id)
    const second = await browser.signIn({ link: again, username: uniqueName('other'), password: PASSWORD })
    expect([second.status, second.json.errors[0].detail]).toEqual([
      422,
      'the account has a user name already',
    ])
  })

  test('a newer link replaces an older one, and each expires', async () => {
    const user = await createUser(server)
    const older = await passwordLink(server.admin, user.id)
    const newer = await passwordLink(server.admin, user.id)
    const browser = new Browser(server.address)
    expect((await browser.signIn({ link: older, password: PASSWORD })).status).toBe(401)
    server.clock.advance(3 * 24 * 60 * MINUTE_MS + 1)
    expect((await browser.signIn({ link: newer, password: PASSWORD })).status).toBe(401)
  })
})
