import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { expect, onTestFinished, test, vi } from 'vitest'
import { AttemptCounts } from '../src/sessions/attempt-counts.ts'
import { clientAddressOf } from '../src/sessions/client-address.ts'
import { Guesses } from '../src/sessions/guesses.ts'
import { isGuessable } from '../src/users/guessable.ts'
import { Passwords } from '../src/users/password.ts'
import { Browser, passwordLink } from './support/browser.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import type { TestServer } from './support/server.ts'
import { body, createTestOrganization, createUser, invitePerson, uniqueName } from './support/world.ts'

const PASSWORD = 'correct horse battery'
const MINUTE_MS = 60_000
const WRONG = { current_password: 'wrong', password: PASSWORD, password_confirmation: PASSWORD }

async function signedIn(server: TestServer) {
  const user = await createUser(server)
  const browser = new Browser(server.address)
  await browser.signIn({ link: await passwordLink(server.admin, user.id), password: PASSWORD })
  return { user, browser }
}

onEachEngine('attacks on signing in', (server) => {
  test('with large bodies are refused before anything is made of them', async () => {
    const form = 'a&'.repeat(5_000)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const token = await fetch(`${server.address}/login/token`, { method: 'POST', headers, body: form })
    expect(token.status).toBe(413)
    const password = 'x'.repeat(9_000)
    const signIn = await new Browser(server.address).signIn({ login: 'somebody', password })
    expect(signIn.status).toBe(413)
  })

  test('with many passwords at once are no more than with one after the other', async () => {
    const { user } = await signedIn(server)
    const guesses = Array.from({ length: 12 }, (_, number) =>
      new Browser(server.address).signIn({ login: user.username, password: `wrong ${number}` }),
    )
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(5)
    expect(new Set(statuses)).toEqual(new Set([401, 429]))
  })

  test('by wrong password changes slow down nobody else', async () => {
    const { browser } = await signedIn(server)
    const other = await signedIn(server)
    const attempt = (who: Browser, attributes: object) =>
      who.request('PATCH', '/account/password', body('users', attributes))
    for (let count = 0; count < 5; count += 1) expect((await attempt(browser, WRONG)).status).toBe(422)
    expect((await attempt(browser, WRONG)).status).toBe(429)
    const right = { ...WRONG, current_password: PASSWORD }
    expect((await attempt(other.browser, right)).status).toBe(200)
  })

  test('keep nobody waiting who has a link', async () => {
    const spy = vi.spyOn(server.app.deps.passwords, 'forNew')
    onTestFinished(() => spy.mockRestore())
    await signedIn(server)
    const device = expect.stringMatching(/^link /)
    expect(spy.mock.calls).toEqual([[PASSWORD, expect.objectContaining({ device })]])
  })

  test('with a link that was handed out before fail once the password is changed', async () => {
    const { user, browser } = await signedIn(server)
    const link = await passwordLink(server.admin, user.id)
    const right = { ...WRONG, current_password: PASSWORD }
    expect((await browser.request('PATCH', '/account/password', body('users', right))).status).toBe(200)
    expect((await new Browser(server.address).signIn({ link, password: PASSWORD })).status).toBe(401)
  })

  test('with a link for somebody invited fail once an administrator made the account', async () => {
    const organization = await createTestOrganization(server)
    const username = uniqueName('boss')
    const email = `${username}@example.com`
    await invitePerson(organization, { email })
    const { id } = (await server.admin.get(`/admin/users?q=${email}`)).json.data[0]
    const link = await passwordLink(server.admin, id)
    const account = { username, email, 'is-admin': true }
    expect((await server.admin.post('/admin/users', body('users', account))).status).toBe(201)
    expect((await new Browser(server.address).signIn({ link, password: PASSWORD })).status).toBe(401)
  })

  test('with a link fail once its user is a site administrator', async () => {
    const { user } = await signedIn(server)
    const link = await passwordLink(server.admin, user.id)
    expect((await server.admin.post(`/admin/users/${user.id}/actions/grant_admin`)).status).toBe(200)
    expect((await new Browser(server.address).signIn({ link, password: PASSWORD })).status).toBe(401)
  })

  test('common passwords are refused in any width, and texts that are no Unicode', async () => {
    const user = await createUser(server)
    const link = await passwordLink(server.admin, user.id)
    const detailOf = async (password: string) => {
      const { status, json } = await new Browser(server.address).signIn({ link, password })
      return [status, json.errors?.[0].detail]
    }
    expect(await detailOf('ｐａｓｓｗｏｒｄ１')).toEqual([
      422,
      'password is one of the most common ones, or easy to guess from them; choose another',
    ])
    expect(await detailOf('12345678\ud800')).toEqual([422, 'password must be valid Unicode'])
  })

  test('common passwords are refused with what people add to them', async () => {
    const user = await createUser(server)
    const link = await passwordLink(server.admin, user.id)
    const refused = await new Browser(server.address).signIn({ link, password: 'password123456' })
    expect([refused.status, refused.json.errors?.[0].source.pointer]).toEqual([
      422,
      '/data/attributes/password',
    ])
    expect((await new Browser(server.address).signIn({ link, password: PASSWORD })).status).toBe(201)
  })

  test('a link on another site reveals nothing in the name of who follows it', async () => {
    const { browser } = await signedIn(server)
    const statusFrom = async (site: string) =>
      (await browser.request('GET', '/account/details', undefined, { 'sec-fetch-site': site })).status
    expect(await statusFrom('cross-site')).toBe(401)
    expect(await statusFrom('same-site')).toBe(401)
    expect(await statusFrom('none')).toBe(200)
  })

  test('ids with NUL are malformed', async () => {
    const organization = await createTestOrganization(server)
    const invitation = {
      ...body('organization-memberships', { email: 'nul@example.com' }),
    } as { data: object }
    const data = { ...invitation.data, relationships: { teams: { data: [{ type: 'teams', id: '\0' }] } } }
    const path = `/organizations/${organization.name}/organization-memberships`
    expect((await organization.owner.client.post(path, { data })).status).toBe(422)
  })
})

onEachEngine('an organization with a limit between two uses', (server) => {
  test('stays closed to a session that paused too long, whatever it does elsewhere', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const path = `/organizations/${organization.name}`
    expect((await owner.client.patch(path, body('organizations', { 'session-timeout': 5 }))).status).toBe(200)
    const browser = new Browser(server.address)
    await browser.signIn({ link: await passwordLink(server.admin, owner.id), password: PASSWORD })
    expect((await browser.get(path)).status).toBe(200)
    server.clock.advance(7 * MINUTE_MS)
    for (let count = 0; count < 3; count += 1) {
      expect((await browser.get('/account/details')).status).toBe(200)
      await server.app.deps.sessionsUsed.flush()
      expect((await browser.get(path)).status).toBe(401)
      expect((await browser.get('/organizations')).json.data).toEqual([])
      server.clock.advance(MINUTE_MS)
    }
    await browser.signIn({ login: owner.username, password: PASSWORD })
    expect((await browser.get(path)).status).toBe(200)
  })
})

onEachEngine('behind a proxy with TLS', { trustProxy: 'true' }, (server) => {
  test('a cookie that a neighbouring host can set does not count', async () => {
    const { browser } = await signedIn(server)
    const secret = browser.cookie?.split('=')[1] ?? ''
    const statusOf = async (cookie: string) => {
      const proxied = { cookie, 'x-forwarded-proto': 'https', 'x-forwarded-host': 'purser.test' }
      return (await new Browser(server.address).request('GET', '/account/details', undefined, proxied)).status
    }
    expect(await statusOf(`purser-session=${secret}`)).toBe(401)
    expect(await statusOf(`purser-session=other; __Host-purser-session=${secret}`)).toBe(200)
  })
})

test('a customer is one address, whatever they write into it', () => {
  const addressOf = (forwarded: string | undefined, trustProxy = true) =>
    clientAddressOf(
      {
        headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this of a request is read
        stream: { socket: { remoteAddress: '::ffff:192.0.2.7' } } as never,
      },
      { trustProxy },
    )
  expect(addressOf('203.0.113.9', false)).toBe('192.0.2.7')
  expect(addressOf('198.51.100.1, 203.0.113.9')).toBe('203.0.113.9')
  for (const forged of [
    '203.0.113.9:',
    '203.0.113.9:1:2',
    '[203.0.113.9',
    'x'.repeat(10_000),
    '',
    'unknown',
  ]) {
    expect(addressOf(forged)).toBe('192.0.2.7')
  }
  expect(addressOf('198.51.100.1:80, 203.0.113.9:5001')).toBe('203.0.113.9')
  const network = '2001:db8:0:0'
  const written = ['2001:db8::1', '2001:db8::1:2:3:4', '2001:0DB8:0000:0000:ffff::']
  for (const address of [...written, '[2001:db8::1]', '[2001:db8::1]:5001']) {
    expect(addressOf(address)).toBe(network)
  }
  expect(addressOf('2001:db8:0:1::1')).toBe('2001:db8:0:1')
})

test('a password is refused if a million guesses find it, however long it is, and no other', async () => {
  const refused =
    'password123456 Password1! iloveyou2024 Winter2025 letmein12345 qwertyuiop123 aaaaaaaa1111 12345678901234567890 abcdefgh12345678 hunter2hunter2 dragon!dragon! terraform1 Purser2026 opentofu123 p@ssw0rd1'
      .split(' ')
      .concat('password'.repeat(64), 'a'.repeat(512))
  const accepted = [
    'correct horse',
    'my cat is called Tom',
    'the quick brown fox',
    'lksdjf92',
    '8362910475',
    'monkey8362910475',
    'Tr5$pLq9',
    'correct horse battery'.repeat(24),
    '一万与丕东丣个丱丸',
  ]
  const judged = async (passwords: string[]) => {
    const results = []
    for (const password of passwords) if (await isGuessable(password)) results.push(password)
    return results
  }
  expect(await judged(refused)).toEqual(refused)
  expect(await judged(accepted)).toEqual([])
})

test('an office that mistypes every ten minutes is never slowed down', async () => {
  const guesses = new Guesses()
  for (let count = 0; count < 500; count += 1) {
    const guesser = {
      account: `person ${count}`,
      address: '192.0.2.7',
      now: new Date(count * 10 * MINUTE_MS),
    }
    expect(await guesses.attempt(guesser, async () => false)).toBe(false)
    expect(await guesses.attempt(guesser, async () => true)).toBe(true)
  }
})

test('an office that signs in every few seconds is never slowed down by a mistake every two minutes', async () => {
  const guesses = new Guesses()
  for (let count = 0; count < 1_000; count += 1) {
    const isWrong = count % 12 === 0
    const guesser = { account: `person ${count}`, address: '192.0.2.7', now: new Date(count * 10_000) }
    expect(await guesses.attempt(guesser, async () => !isWrong)).toBe(!isWrong)
  }
})

test('the pause of an address is not begun again by somebody who knew the password', async () => {
  const guesses = new Guesses()
  const attempt = (account: string, seconds: number, isRight: boolean) =>
    guesses.attempt({ account, address: '192.0.2.7', now: new Date(seconds * 1_000) }, async () => isRight)
  for (let count = 0; count < 50; count += 1) await attempt(`guessed ${count}`, 0, false)
  await expect(attempt('person 1', 4, true)).rejects.toThrow('try again in 1 seconds')
  expect(await attempt('person 1', 5, true)).toBe(true)
  expect(await attempt('person 2', 6, true)).toBe(true)
  expect(await attempt('guessed', 7, false)).toBe(false)
  await expect(attempt('person 3', 8, true)).rejects.toThrow('try again in 9 seconds')
})

test('a process computes two hashes at a time; 20 more wait, 10 from one network, 2 for one account', async () => {
  const refusedOf = async (addresses: string[], account?: string, device?: string) => {
    const passwords = new Passwords()
    const checked = addresses.map((address, place) =>
      passwords.matches('a password', null, { address, account: account ?? `person ${place}`, device }),
    )
    const results = await Promise.allSettled(checked)
    return results.flatMap((result, place) => (result.status === 'rejected' ? [place] : []))
  }
  const many = Array.from({ length: 24 }, (_, place) => `192.0.2.${place}`)
  expect(await refusedOf(many)).toEqual([22, 23])
  const oneAddress = (count: number) => Array.from({ length: count }, () => '192.0.2.7')
  expect(await refusedOf([...oneAddress(14), '192.0.2.8'])).toEqual([12, 13])
  const oneSite = Array.from({ length: 14 }, (_, place) => `2001:db8:0:${place}00`)
  expect(await refusedOf([...oneSite, '2001:db8:1:1'])).toEqual([12, 13])
  expect(await refusedOf([...oneAddress(14), '192.0.2.8'], undefined, 'a device')).toEqual([])
  // Somebody who knows the password of an account leaves places to others, wherever the requests come from.
  expect(await refusedOf(many.slice(0, 6), 'one person')).toEqual([4, 5])
  expect(await refusedOf(many.slice(0, 6), 'one person', 'a device')).toEqual([4, 5])
})

test.runIf(process.platform === 'linux')(
  'hashes are computed with a lower priority than answers',
  async () => {
    const passwords = new Passwords()
    await passwords.matches('a password', null, { address: '192.0.2.7', account: 'person' })
    const nicenesses = readdirSync('/proc/self/task').flatMap((task) => {
      const stat = `/proc/self/task/${task}/stat`
      return existsSync(stat) ? [Number(readFileSync(stat, 'utf8').split(') ').at(-1)?.split(' ')[16])] : []
    })
    await passwords.close()
    expect(Math.max(...nicenesses)).toBeGreaterThanOrEqual(10)
    expect(Math.max(...nicenesses)).toBeGreaterThan(getPriority())
  },
)

test('known devices have places of their own to wait in, and go first', async () => {
  const passwords = new Passwords()
  const ended: string[] = []
  const strangers = Array.from({ length: 24 }, (_, place) =>
    passwords
      .matches('a guess', null, { address: `192.0.2.${place}`, account: `guessed ${place}` })
      .then(() => ended.push('stranger')),
  )
  const known = passwords
    .matches('a password', null, { address: '192.0.2.1', account: 'person', device: 'a device' })
    .then(() => ended.push('known'))
  await Promise.allSettled([...strangers, known])
  expect(ended.length).toBe(23)
  expect(ended.indexOf('known')).toBeLessThanOrEqual(3)
})

test('the first attempts are free, for each kind of slow-down, and each beginning is told once', async () => {
  const guesses = new Guesses()
  const told: string[] = []
  guesses.onThrottle = ({ of, account, network }) => told.push([of, account, network].join(' '))
  const wrong = async (account: string, address: string, device?: string) => {
    try {
      await guesses.attempt({ account, address, device, now: new Date(0) }, async () => false)
      return true
    } catch {
      return false
    }
  }
  const freeOf = async (attempt: (count: number) => Promise<boolean>) => {
    for (let count = 0; ; count += 1) if (!(await attempt(count))) return count
  }
  expect(await freeOf(() => wrong('a', '192.0.2.1'))).toBe(5)
  expect(await freeOf(() => wrong('a', '192.0.2.1', 'a device'))).toBe(5)
  expect(await freeOf((count) => wrong('b', `192.0.2.${count + 2}`))).toBe(20)
  expect(await freeOf((count) => wrong(`c${count}`, '192.0.2.99'))).toBe(50)
  expect(await freeOf((count) => wrong(`d${count}`, `2001:db8:0:${count.toString(16)}`))).toBe(100)
  expect(await freeOf((count) => wrong(`e${count}`, `2001:db8:0:${count + 1}00`))).toBe(100)
  expect(told).toEqual([
    'account-in-network a 192.0.2.1',
    'device a 192.0.2.1',
    'account b 192.0.2.21',
    'network c49 192.0.2.99',
    'network d99 2001:db8:0:0/56',
    'network e99 2001:db8:0/48',
  ])
})

test('guesses from one network do not keep an account closed for unknown clients elsewhere', async () => {
  const guesses = new Guesses()
  const attempt = async (address: string, seconds: number, isRight: boolean) => {
    try {
      return await guesses.attempt(
        { account: 'a', address, now: new Date(seconds * 1_000) },
        async () => isRight,
      )
    } catch {
      return 'paused'
    }
  }
  // Each second an attempt from another /64 of one /48. After two hours the owner signs in from elsewhere, too.
  const owner: unknown[] = []
  for (let second = 0; second < 10_800; second += 1) {
    await attempt(`2001:db8:0:${second.toString(16)}`, second, false)
    if (second >= 7_200 && second % 30 === 0) owner.push(await attempt('192.0.2.1', second, true))
  }
  expect(owner.filter((result) => result === true).length).toBeGreaterThan(owner.length / 2)
})

test('an attempt whose password could not be checked does not count', async () => {
  const guesses = new Guesses()
  const guesser = { account: 'person', address: '192.0.2.7', now: new Date(0) }
  const away = async (): Promise<boolean> => {
    throw new Error('the database is away')
  }
  for (let count = 0; count < 100; count += 1) {
    await expect(guesses.attempt(guesser, away)).rejects.toThrow('away')
  }
  for (let count = 0; count < 100; count += 1) {
    await expect(guesses.ration(guesser, away)).rejects.toThrow('away')
  }
  expect(await guesses.attempt(guesser, async () => true)).toBe(true)
})

test('attempts that do not count push out no others', () => {
  const counts = new AttemptCounts()
  const counted = (key: string) => ({ key, rule: { free: 1, longestPauseMs: MINUTE_MS } })
  counts.add(counted('guessed'), 0)
  for (let count = 0; count < 60_000; count += 1) counts.add(counted(`refused ${count}`), 0)()
  expect(counts.waitMs(counted('guessed'), 0)).toBeGreaterThan(0)
})

test('guesses at many names from many networks push out no slow-down of an account', async () => {
  const guesses = new Guesses()
  const wrong = (account: string, address: string) =>
    guesses.attempt({ account, address, now: new Date(0) }, async () => false)
  for (let count = 0; count < 20; count += 1) await wrong('guessed', `192.0.2.${count}`)
  for (let count = 0; count < 9_000; count += 1) {
    await wrong(`name ${count}`, `2001:${count.toString(16)}:0:0`)
  }
  await expect(wrong('guessed', '198.51.100.1')).rejects.toThrow('too many attempts')
})

test('nobody is slowed down for longer because the clock was set back', async () => {
  const guesses = new Guesses()
  const guesser = (now: number) => ({ account: 'person', address: '192.0.2.7', now: new Date(now) })
  const wrong = (now: number) => guesses.attempt(guesser(now), async () => false)
  const right = (now: number) => guesses.attempt(guesser(now), async () => true)
  const hour = 60 * MINUTE_MS
  // It was right, and one hour ahead.
  expect(await right(2 * hour)).toBe(true)
  expect(await right(hour)).toBe(true)
  // Five are wrong, and a hundred years ahead.
  for (let count = 0; count < 5; count += 1) expect(await wrong(1_000_000 * hour)).toBe(false)
  await expect(right(hour)).rejects.toThrow('try again in 5 seconds')
  expect(await right(hour + 5_000)).toBe(true)
})
