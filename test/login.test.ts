import { beforeAll, beforeEach, expect, test } from 'vitest'
import { MAX_CODES } from '../src/login/login-code-store.ts'
import { challengeOf, CODE_MS } from '../src/login/login-codes.ts'
import { Browser, passwordLink } from './support/browser.ts'
import { Client, type Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { body, createUser, type Person } from './support/world.ts'

const VERIFIER = 'a-verifier-that-only-the-program-knows.123456789'
const REDIRECT = 'http://localhost:10005/login'
const right = {
  'client-id': 'terraform-cli',
  'response-type': 'code',
  'redirect-uri': REDIRECT,
  'code-challenge': challengeOf(VERIFIER),
  'code-challenge-method': 'S256',
  state: 'a-state',
}
const PASSWORD = 'correct horse battery'

onEachEngine('logging in from the terminal', (server) => {
  let user: Person
  let browser: Browser
  const signIn = async (person: Person) => {
    const signedIn = new Browser(server.address)
    const link = await passwordLink(server.admin, person.id)
    await signedIn.signIn({ link, password: PASSWORD, 'keep-tokens': true })
    return signedIn
  }
  beforeAll(async () => {
    user = await createUser(server)
  })
  beforeEach(async () => {
    browser = await signIn(user)
  })

  const consent = (attributes: object = right): Promise<Response> =>
    browser.request('POST', '/account/login-codes', body('login-codes', attributes))
  const newCode = async (): Promise<string> => {
    const answer = await consent()
    expect(answer.status, answer.text).toBe(201)
    return new URL(answer.json.data.attributes['redirect-to']).searchParams.get('code') ?? ''
  }
  const exchange = async (given: Record<string, string>, headers: Record<string, string> = {}) => {
    const form = {
      client_id: 'terraform-cli',
      grant_type: 'authorization_code',
      code_verifier: VERIFIER,
      redirect_uri: REDIRECT,
      ...given,
    }
    const answer = await fetch(`${server.address}/login/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { 'user-agent': 'Terraform/1.11.4', ...headers },
    })
    const json = (await answer.json()) as Record<string, string>
    return { status: answer.status, json, headers: answer.headers }
  }
  const usernameWith = async (token = '') =>
    (await new Client(server.address, token).get('/account/details')).json.data?.attributes.username

  test('a code gives a token of the person, once', async () => {
    const answer = await consent()
    const to = new URL(answer.json.data.attributes['redirect-to'])
    expect(`${to.origin}${to.pathname}`).toBe(REDIRECT)
    expect(to.searchParams.get('state')).toBe('a-state')
    const code = to.searchParams.get('code') ?? ''
    const given = await exchange({ code })
    expect(given).toMatchObject({ status: 200, json: { token_type: 'bearer' } })
    expect(given.headers.get('cache-control')).toBe('no-store')
    expect(await usernameWith(given.json.access_token)).toBe(user.username)
    const { json } = await browser.get(`/users/${user.id}/authentication-tokens`)
    expect(
      json.data.map((one: { attributes: { description: string } }) => one.attributes.description),
    ).toContain('login Terraform/1.11.4')
  })

  test('a code that is used again ends the token that it gave', async () => {
    const code = await newCode()
    const first = await exchange({ code })
    const again = await exchange({ code })
    expect(again).toMatchObject({ status: 400, json: { error: 'invalid_grant' } })
    expect(await usernameWith(first.json.access_token)).toBeUndefined()
    expect((await exchange({ code })).status).toBe(400)
    // Several at once, of which one ends the token.
    const other = await newCode()
    expect((await exchange({ code: other })).status).toBe(200)
    const many = await Promise.all(Array.from({ length: 10 }, () => exchange({ code: other })))
    expect(many.map(({ status, json }) => [status, json.error])).toEqual(
      many.map(() => [400, 'invalid_grant']),
    )
  })

  test('a used code ends nothing for somebody who has only the code, or comes late', async () => {
    const code = await newCode()
    const first = await exchange({ code })
    const wrongs: Record<string, string>[] = [
      { code_verifier: 'another-verifier' },
      { redirect_uri: 'http://localhost:10006/login' },
    ]
    for (const wrong of wrongs) {
      expect(await exchange({ code, ...wrong })).toMatchObject({
        status: 400,
        json: { error: 'invalid_grant' },
      })
    }
    server.clock.advance(CODE_MS)
    expect((await exchange({ code })).status).toBe(400)
    expect(await usernameWith(first.json.access_token)).toBe(user.username)
  })

  test('of two exchanges at once at most one gives a token, and none is left', async () => {
    const code = await newCode()
    const both = await Promise.all([exchange({ code }), exchange({ code })])
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400])
    const [token] = both.flatMap(({ json }) => json.access_token ?? [])
    expect(await usernameWith(token)).toBeUndefined()
  })

  test('a wrong exchange is refused in the form of OAuth, and does not use the code up', async () => {
    const code = await newCode()
    const refused = {
      code_verifier: ['another-verifier', 'invalid_grant'],
      redirect_uri: ['http://localhost:10006/login', 'invalid_grant'],
      code: ['another', 'invalid_grant'],
      client_id: ['another', 'invalid_client'],
      grant_type: ['password', 'unsupported_grant_type'],
    }
    for (const [name, [value = '', error]] of Object.entries(refused)) {
      const answer = await exchange({ code, [name]: value })
      expect([name, answer.status, answer.json.error]).toEqual([name, 400, error])
      expect(answer.json.error_description).toBeTruthy()
    }
    expect((await exchange({ code: '' })).json.error).toBe('invalid_request')
    const asJson = await exchange({ code }, { 'content-type': 'application/json' })
    expect(asJson.json.error).toBe('invalid_request')
    expect((await exchange({ code })).status).toBe(200)
  })

  test('a code ends after a minute, with its session, and with a suspension', async () => {
    const late = await newCode()
    server.clock.advance(CODE_MS)
    const ended = await newCode()
    await browser.request('DELETE', `/sessions/${browser.sessionId}`)
    expect((await exchange({ code: ended })).json.error).toBe('invalid_grant')
    expect((await exchange({ code: late })).json.error).toBe('invalid_grant')
    const other = await createUser(server)
    browser = await signIn(other)
    const suspended = await newCode()
    expect((await server.admin.post(`/admin/users/${other.id}/actions/suspend`)).status).toBe(200)
    expect((await exchange({ code: suspended })).json.error).toBe('invalid_grant')
  })

  test('a consent with wrong parameters is refused at each of them', async () => {
    const wrong = {
      'client-id': ['another', ''],
      'response-type': ['token'],
      'redirect-uri': [
        'https://localhost:10005/login',
        'http://localhost:10005/login?x',
        'http://localhost:9999/login',
        'http://localhost:10011/login',
        'http://127.0.0.1:10005/login',
        'http://localhost.example:10005/login',
        'http://localhost:10005@example.com/login',
      ],
      'code-challenge': ['short', `${right['code-challenge']}=`],
      'code-challenge-method': ['plain'],
      state: ['', 'with space', 'x'.repeat(513)],
    }
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) {
        const { status, json } = await consent({ ...right, [name]: value })
        expect([value, status, json.errors?.[0].source.pointer]).toEqual([
          value,
          422,
          `/data/attributes/${name}`,
        ])
      }
      const { [name as keyof typeof right]: _, ...rest } = right
      expect((await consent(rest)).status).toBe(422)
    }
  })

  test('a token cannot consent, and neither can a page of another site', async () => {
    const answer = await user.client.post('/account/login-codes', body('login-codes', right))
    expect([answer.status, answer.json.errors[0].detail]).toEqual([
      422,
      'only somebody who has signed in with a browser may do this; a token cannot',
    ])
    const foreign = { 'sec-fetch-site': 'cross-site' }
    const forged = await browser.request('POST', '/account/login-codes', body('login-codes', right), foreign)
    expect(forged.status).toBe(401)
  })

  test('only the newest codes of a person are kept', async () => {
    const codes = []
    for (let n = 0; n <= MAX_CODES; n += 1) codes.push(await newCode())
    const [oldest = '', ...others] = codes
    expect((await exchange({ code: oldest })).status).toBe(400)
    expect((await exchange({ code: others.at(-1) ?? '' })).status).toBe(200)
  })

  test('the CLIs discover where to log in', async () => {
    const { 'login.v1': login } = (await (
      await fetch(`${server.address}/.well-known/terraform.json`)
    ).json()) as Record<string, unknown>
    expect(login).toEqual({
      client: 'terraform-cli',
      grant_types: ['authz_code'],
      authz: '/app/~/login',
      token: '/login/token',
      ports: [10_000, 10_010],
    })
  })
})
