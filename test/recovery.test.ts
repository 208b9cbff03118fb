import { beforeEach, expect, test } from 'vitest'
import { RECENT_MINUTES } from '../src/access/recent-password.ts'
import { auditDetailsOf } from './support/audit-details.ts'
import { Browser, passwordLink } from './support/browser.ts'
import type { Client, Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { run, settingsOf } from './support/purser.ts'
import { askForCode } from './support/sign-ins.ts'
import { body, createTeam, createTestOrganization, createUser, made, type Person } from './support/world.ts'

const PASSWORD = 'correct horse battery'
const NEXT = 'another horse battery'
const MINUTE_MS = 60_000

onEachEngine('recovering an account', (server) => {
  let user: Person
  let browser: Browser
  const signIn = async (who: Person, attributes: object = {}) => {
    const signedIn = new Browser(server.address)
    const link = await passwordLink(server.admin, who.id)
    made(await signedIn.signIn({ link, password: PASSWORD, ...attributes }), 201)
    return signedIn
  }
  beforeEach(async () => {
    user = await createUser(server)
    browser = await signIn(user)
  })
  const check = (password: string, who = browser): Promise<Response> =>
    who.request('POST', '/account/password-checks', body('password-checks', { password }))
  const newToken = async (who = browser): Promise<Client> => {
    const { json } = made(await who.request('POST', `/users/${user.id}/authentication-tokens`), 201)
    return server.client(json.data.attributes.token)
  }
  const works = async (client: Client) => (await client.get('/account/details')).status
  const change = (attributes: object = {}) =>
    browser.request(
      'PATCH',
      '/account/password',
      body('users', {
        current_password: PASSWORD,
        password: NEXT,
        password_confirmation: NEXT,
        ...attributes,
      }),
    )

  test('a session makes nothing that outlasts it without a recent password', async () => {
    const organization = await createTestOrganization(server)
    const teamId = await createTeam(organization)
    const { owner } = organization
    made(await server.admin.post(`/admin/users/${owner.id}/actions/grant_admin`), 200)
    const owners = await signIn(owner)
    const requests: Record<string, () => Promise<Response>> = {
      'a token': () => owners.request('POST', `/users/${owner.id}/authentication-tokens`),
      'a token of a team': () => owners.request('POST', `/teams/${teamId}/authentication-token`),
      'a further token of a team': () => owners.request('POST', `/teams/${teamId}/authentication-tokens`),
      'a token of an organization': () =>
        owners.request('POST', `/organizations/${organization.name}/authentication-token`),
      'a password link': () => owners.request('POST', `/admin/users/${user.id}/password-links`),
      'a login code': () => askForCode(owners),
      'an administrator': () => owners.request('POST', `/admin/users/${user.id}/actions/grant_admin`),
      'an account with a password': () =>
        owners.request(
          'POST',
          '/admin/users',
          body('users', { username: `${user.username}-2`, email: `2-${user.email}`, password: NEXT }),
        ),
      'an account of an administrator': () =>
        owners.request(
          'POST',
          '/admin/users',
          body('users', { username: `${user.username}-3`, email: `3-${user.email}`, 'is-admin': true }),
        ),
    }
    server.clock.advance(RECENT_MINUTES * MINUTE_MS)
    for (const [what, ask] of Object.entries(requests)) {
      const refused = await ask()
      expect([what, refused.status, refused.json.errors]).toEqual([
        what,
        403,
        [
          {
            status: '403',
            code: 'password-needed',
            title: 'forbidden',
            detail: 'this needs your password again: you gave it more than 10 minutes ago',
          },
        ],
      ])
    }
    const checked = await check(PASSWORD, owners)
    expect(checked.status, checked.text).toBe(200)
    const at = checked.json.data.attributes['password-checked-at']
    expect(Date.parse(at)).toBeGreaterThan(Date.parse(checked.json.data.attributes['created-at']))
    for (const [what, ask] of Object.entries(requests)) {
      expect([what, [200, 201].includes((await ask()).status)]).toEqual([what, true])
    }
  })

  test('a token needs no password, and cannot check one', async () => {
    server.clock.advance(RECENT_MINUTES * MINUTE_MS)
    expect((await user.client.post(`/users/${user.id}/authentication-tokens`)).status).toBe(201)
    const answer = await user.client.post(
      '/account/password-checks',
      body('password-checks', { password: PASSWORD }),
    )
    expect(answer.status).toBe(422)
  })

  test('a wrong password is 422 and rationed, and leaves the session as it was', async () => {
    server.clock.advance(RECENT_MINUTES * MINUTE_MS)
    for (let count = 0; count < 5; count += 1) {
      const wrong = await check('wrong')
      expect([wrong.status, wrong.json.errors[0].source.pointer]).toEqual([422, '/data/attributes/password'])
    }
    expect((await check(PASSWORD)).status).toBe(429)
    expect((await browser.request('POST', `/users/${user.id}/authentication-tokens`)).status).toBe(403)
  })

  test('a check counts for its session alone, and so does a changed password', async () => {
    const other = new Browser(server.address)
    made(await other.signIn({ login: user.username, password: PASSWORD }), 201)
    server.clock.advance(RECENT_MINUTES * MINUTE_MS)
    made(await check(PASSWORD), 200)
    expect((await other.request('POST', `/users/${user.id}/authentication-tokens`)).status).toBe(403)
    server.clock.advance(RECENT_MINUTES * MINUTE_MS)
    made(await change(), 200)
    await newToken()
  })

  test('a session of the release before counts from its sign-in', async () => {
    await server.app.deps.database.write((tx) =>
      tx.db
        .updateTable('sessions')
        .set({ password_checked_at: null })
        .where('user_id', '=', user.id)
        .execute(),
    )
    await newToken()
    server.clock.advance(RECENT_MINUTES * MINUTE_MS)
    expect((await browser.request('POST', `/users/${user.id}/authentication-tokens`)).status).toBe(403)
  })

  test('a suspension ends sessions, login codes and links for good', async () => {
    const code = new URL(
      made(await askForCode(browser), 201).json.data.attributes['redirect-to'],
    ).searchParams.get('code')
    const link = await passwordLink(server.admin, user.id)
    for (const action of ['suspend', 'unsuspend']) {
      made(await server.admin.post(`/admin/users/${user.id}/actions/${action}`), 200)
    }
    expect((await browser.get('/account/details')).status).toBe(401)
    expect((await new Browser(server.address).signIn({ link, password: NEXT })).status).toBe(401)
    const codes = await server.app.deps.database.read((tx) =>
      tx.db.selectFrom('login_codes').where('user_id', '=', user.id).select('hash').execute(),
    )
    expect([code === null, codes]).toEqual([false, []])
    // Their own tokens pause.
    expect(await works(user.client)).toBe(200)
  })

  test('the end of a suspension revives no session that another release has left', async () => {
    const suspended = (flag: 0 | 1) =>
      server.app.deps.database.write((tx) =>
        tx.db.updateTable('users').set({ is_suspended: flag }).where('id', '=', user.id).execute(),
      )
    await suspended(1)
    made(await server.admin.post(`/admin/users/${user.id}/actions/unsuspend`), 200)
    expect((await browser.get('/account/details')).status).toBe(401)
  })

  test('a changed password ends all tokens and login codes, if it says so', async () => {
    const token = await newToken()
    made(await askForCode(browser), 201)
    made(await change(), 200)
    expect(await works(token)).toBe(200)
    const again = { current_password: NEXT, password: PASSWORD, password_confirmation: PASSWORD }
    made(await change({ ...again, 'end-tokens': true }), 200)
    expect(await works(token)).toBe(401)
    expect(await works(user.client)).toBe(401)
    const codes = await server.app.deps.database.read((tx) =>
      tx.db.selectFrom('login_codes').where('user_id', '=', user.id).select('hash').execute(),
    )
    expect(codes).toEqual([])
  })

  test('a changed password leaves the token that asks', async () => {
    const attributes = {
      current_password: PASSWORD,
      password: NEXT,
      password_confirmation: NEXT,
      'end-tokens': true,
    }
    const token = await newToken()
    made(await user.client.patch('/account/password', body('users', attributes)), 200)
    expect([await works(user.client), await works(token)]).toEqual([200, 401])
  })

  test('a reset by a link ends all tokens, unless it says otherwise; the first password ends none', async () => {
    const token = await newToken()
    await signIn(user, { 'keep-tokens': true })
    expect(await works(token)).toBe(200)
    await signIn(user)
    expect([await works(token), await works(user.client)]).toEqual([401, 401])
    const other = await createUser(server)
    await signIn(other)
    expect(await works(other.client)).toBe(200)
    const both = { login: user.username, password: PASSWORD, 'keep-tokens': true }
    expect((await new Browser(server.address).signIn(both)).status).toBe(422)
  })

  test('all tokens of a user end at once, except the one that asks', async () => {
    const tokens = [await newToken(), await newToken()]
    expect((await user.client.delete(`/users/${user.id}/authentication-tokens`)).status).toBe(204)
    expect(await Promise.all(tokens.map(works))).toEqual([401, 401])
    expect(await works(user.client)).toBe(200)
    expect((await server.admin.delete(`/users/${user.id}/authentication-tokens`)).status).toBe(204)
    expect(await works(user.client)).toBe(401)
    const details = await auditDetailsOf(server, 'user-token.end-all', user.id)
    expect(details).toMatchObject([{ count: 2 }, { count: 1 }])
  })

  test('login codes that end are in the audit trail, also without tokens', async () => {
    const ended = () => auditDetailsOf(server, 'user-token.end-all', user.id)
    const end = () => server.admin.delete(`/users/${user.id}/authentication-tokens`)
    made(await end(), 204)
    made(await askForCode(browser), 201)
    made(await end(), 204)
    made(await end(), 204)
    expect(await ended()).toMatchObject([
      { count: 1, 'login-codes': 0 },
      { count: 0, 'login-codes': 1 },
    ])
    made(await askForCode(browser), 201)
    made(await change({ 'end-tokens': true }), 200)
    const events = await auditDetailsOf(server, 'user.set-password', user.id)
    expect(events.at(-1)).toMatchObject({ 'ended-tokens': 0, 'ended-login-codes': 1 })
  })

  test('the command line ends all tokens of a user', async () => {
    const ended = await run(['user', 'end-tokens', user.username.toUpperCase(), '--json'], settingsOf(server))
    expect(ended.stdout, ended.stderr).toBe('{"ended":1}\n')
    expect(await works(user.client)).toBe(401)
  })
})
