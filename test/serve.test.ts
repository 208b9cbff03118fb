import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Client } from './support/client.ts'
import { engines, onlyPostgres } from './support/engines.ts'
import { ADMIN_TOKEN, Purser, run, SECRET_KEY, settingsFor, type Settings } from './support/purser.ts'
import { base64, lock, postState, stateText } from './support/states.ts'
import { body } from './support/world.ts'

describe.each(engines)('serve on %s', (engine) => {
  test('a first start says all that is needed, once, and its token is good', async () => {
    const settings = await settingsFor(engine)
    const purser = new Purser(['serve'], settings)
    const address = await purser.address()
    await purser.says(/config tofu/)
    const folder = settings.PURSER_DATA as string
    const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim()
    // This is no terminal: what it prints is kept in logs.
    expect(purser.stdout).not.toContain(token)
    expect(purser.stdout).toContain(`the token is in ${join(folder, 'admin-token')} `)
    expect(purser.stdout).not.toContain('welcome#')
    const [, advised = ''] = /sign in {2}npm run purser -- (.*) prints a link/.exec(purser.stdout) ?? []
    const words = advised.split(' ').map((word) => word.replaceAll("'", ''))
    expect((await run(words, settings)).stdout).toMatch(new RegExp(`^${address}/app/~/welcome#\\w+\\n$`))
    expect(purser.stdout).toMatch(/making the tables in .*\n/)
    expect(purser.stdout).toMatch(/dialect +documented/)
    expect(purser.stdout.split('\n').filter((line) => line.startsWith('  curl '))).toHaveLength(2)
    expect(purser.stdout).not.toContain('postgres@')
    expect(purser.stderr).toBe('')
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    for (const file of readdirSync(folder)) {
      expect([file, statSync(join(folder, file)).mode & 0o777]).toEqual([file, 0o600])
    }
    expect(existsSync(join(folder, 'secret-key'))).toBe(engine === 'sqlite')
    expect((await new Client(address, token).get('/organizations/missing/teams')).status).toBe(404)
    expect((await new Client(address, 'bad').get('/organizations/missing/teams')).status).toBe(401)
    expect(await purser.stop()).toBe(0)

    const again = new Purser(['serve'], settings)
    const second = await again.address()
    expect(again.stdout).not.toContain(token)
    const [serves, dialect, organizations, ...more] = again.stdout.trim().split('\n')
    expect(serves).toMatch(/^Purser .* serves at /)
    expect(dialect).toMatch(/^dialect documented: .* start with PURSER_DIALECT=current$/)
    expect(organizations).toMatch(/^organizations: everybody .* PURSER_ORGANIZATION_CREATORS=administrators /)
    expect(more).toEqual([])
    expect((await new Client(second, token).get('/organizations/missing/teams')).status).toBe(404)
    expect(await again.stop()).toBe(0)
  })

  test('the current dialect is printed too, with what the other one is for', async () => {
    const settings = { ...(await settingsFor(engine)), PURSER_DIALECT: 'current' }
    for (const pattern of [
      / {2}dialect {2}current: .*PURSER_DIALECT=documented is/,
      /^dialect current: .*PURSER_DIALECT=documented is/m,
    ]) {
      const purser = new Purser(['serve'], settings)
      await purser.address()
      await purser.says(/dialect/)
      expect(purser.stdout).toMatch(pattern)
      expect(await purser.stop()).toBe(0)
    }
  })

  test('a given admin token is neither printed nor written', async () => {
    const settings: Settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    const purser = new Purser(['serve'], settings)
    const address = await purser.address()
    expect((await new Client(address, ADMIN_TOKEN).get('/organizations/missing/teams')).status).toBe(404)
    expect(purser.stdout).not.toContain(ADMIN_TOKEN)
    expect(existsSync(join(settings.PURSER_DATA as string, 'admin-token'))).toBe(false)
  })

  test('a first start keeps the admin token of another database in the same data folder', async () => {
    const settings = await settingsFor(engine)
    const folder = settings.PURSER_DATA as string
    mkdirSync(folder, { mode: 0o700 })
    writeFileSync(join(folder, 'admin-token'), 'the other token\n', { mode: 0o600 })
    const purser = new Purser(['serve'], settings)
    const address = await purser.address()
    const [kept = '', ...more] = readdirSync(folder).filter((name) => name.startsWith('admin-token.'))
    expect(more).toEqual([])
    expect(kept).toMatch(/^admin-token\.\d{4}-\d\d-\d\dT[\d.-]+Z$/)
    expect(readFileSync(join(folder, kept), 'utf8')).toBe('the other token\n')
    expect(purser.stdout).toContain(`admin-token existed already and was renamed to ${join(folder, kept)}: `)
    const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim()
    expect((await new Client(address, token).get('/account/details')).status).toBe(200)
  })

  test.each([16, 512])('an admin token of %s visible characters is good', async (length) => {
    const token = '!~'.repeat(length / 2)
    const settings: Settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: token }
    const address = await new Purser(['serve'], settings).address()
    expect((await new Client(address, token).get('/account/details')).status).toBe(200)
  })

  test('SIGTERM lets a request that is under way finish', async () => {
    const settings: Settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    const purser = new Purser(['serve'], settings)
    const address = await purser.address()
    await new Client(address, ADMIN_TOKEN).post('/organizations', organization('acme'))
    // The head has been sent, but not the body, so the request is in progress.
    const slow = slowRequest(address)
    await slow.waits
    purser.child.kill('SIGTERM')
    await refusesConnections(address)
    slow.finish()
    expect(await slow.answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(await purser.ended).toBe(0)
    expect(purser.stderr).toBe('')
  })

  test('the key of another database is refused', async () => {
    const settings = { ...(await settingsFor(engine)), PURSER_SECRET_KEY: SECRET_KEY }
    const purser = new Purser(['serve'], settings)
    await purser.address()
    await purser.stop()
    const other = await run(['serve'], { ...settings, PURSER_SECRET_KEY: 'a'.repeat(64) })
    expect(other).toMatchObject({ code: 1, stdout: '' })
    expect(other.stderr).toMatch(/^purser: the secret key is not the one of this database: .*\n$/)
    expect(other.stderr).not.toContain('aaaa')
  })

  test('several workers share the address; a killed one is replaced; SIGTERM ends them all', async () => {
    const purser = new Purser(['serve', '--workers', '2'], {
      ...(await settingsFor(engine)),
      PURSER_ADMIN_TOKEN: ADMIN_TOKEN,
    })
    const address = await purser.address()
    const client = new Client(address, ADMIN_TOKEN)
    expect((await client.get('/organizations/missing/teams')).status).toBe(404)
    const [worker] = childrenOf(purser.child.pid as number)
    process.kill(worker as number, 'SIGKILL')
    await purser.says(/a worker ended \(SIGKILL\)/)
    expect((await client.get('/organizations/missing/teams')).status).toBe(404)
    expect(await purser.stop()).toBe(0)
  })
})

const organization = (name: string) => ({
  data: { type: 'organizations', attributes: { name, email: 'o@example.com' } },
})
const TEAM = '{"data":{"type":"teams","attributes":{"name":"late"}}}'

/** A request whose body is sent later. */
function slowRequest(address: string): { waits: Promise<void>; answer: Promise<string>; finish: () => void } {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  let text = ''
  const answer = new Promise<string>((resolve) => socket.on('close', () => resolve(text)))
  const waits = new Promise<void>((resolve) =>
    socket.on('data', (bytes) => {
      text += bytes
      if (text.startsWith('HTTP/1.1 100 ')) {
        text = ''
        resolve()
      }
    }),
  )
  socket.write(
    `POST /api/v2/organizations/acme/teams HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\nContent-Length: ${TEAM.length}\r\nExpect: 100-continue\r\n\r\n`,
  )
  return { waits, answer, finish: () => socket.write(TEAM) }
}

/** Sends these bytes on a new connection, and returns everything that the server sends back. */
function rawRequest(address: string, text: string): Promise<string> {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (bytes) => (answer += bytes)).end(text)
  return new Promise((resolve) => socket.on('close', () => resolve(answer)))
}

/** Returns when the port is closed. */
async function refusesConnections(address: string): Promise<void> {
  const { hostname, port } = new URL(address)
  for (;;) {
    const isRefused = await new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), hostname, () => resolve(false))
      socket.on('error', () => resolve(true))
      socket.on('connect', () => socket.destroy())
    })
    if (isRefused) return
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

describe('GET /', () => {
  test('is a page that says what this is, loads nothing, and believes no Host header', async () => {
    const purser = new Purser(['serve'], await settingsFor('sqlite'))
    const address = await purser.address()
    const page = await fetch(address)
    const text = await page.text()
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; /,
    )
    expect(text).toContain(`${address}/api/v2/organizations\n`)
    expect(text).toContain('href="/api/v2/openapi.json"')
    expect(text).not.toMatch(/src=|url\(|<script/)
    const forged = await rawRequest(
      address,
      'GET / HTTP/1.1\r\nHost: "><script>\r\nConnection: close\r\n\r\n',
    )
    expect(forged).not.toContain('<script>')
  })
})

const postgresOnly = onlyPostgres

describe.each(postgresOnly)('nodes on one %s', (engine) => {
  test('may race for the first start: one makes the admin, and all know the token', async () => {
    const settings: Settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    const nodes = [1, 2, 3].map(() => new Purser(['serve'], settings))
    const addresses = await Promise.all(nodes.map((node) => node.address()))
    for (const address of addresses) {
      const details = await new Client(address, ADMIN_TOKEN).get('/account/details')
      expect(details.json.data.attributes.username).toBe('admin')
    }
    expect(nodes.filter((node) => node.stdout.includes('Try it:'))).toHaveLength(1)
  })
})

/** The niceness of each thread of a process. */
function nicenessOf(pid: number): number[] {
  const tasks = `/proc/${pid}/task`
  return readdirSync(tasks).map((task) => {
    const [, fields = ''] = readFileSync(join(tasks, task, 'stat'), 'utf8').split(') ')
    return Number(fields.split(' ')[16])
  })
}

test.runIf(process.platform === 'linux')(
  'a server with a low priority reads states and runs dry runs',
  async () => {
    const settings: Settings = { ...(await settingsFor('sqlite')), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    // Only an administrator may raise a priority.
    const purser = new Purser(['serve'], settings, { wrapper: ['nice', '-n', '10'] })
    const client = new Client(await purser.address(), ADMIN_TOKEN)
    const path = '/organizations/acme'
    await client.post('/organizations', body('organizations', { name: 'acme', email: 'a@example.com' }))
    const { json } = await client.post(`${path}/workspaces`, body('workspaces', { name: 'network' }))
    await lock(client, json.data.id)
    const state = stateText('{}')
    const stored = await postState(client, json.data.id, state, { state: base64(state) })
    expect(stored.status, stored.text).toBe(201)
    const dryRun = await client.delete(`${path}/workspaces/network?dry-run=true`)
    expect(dryRun.status, dryRun.text).toBe(200)
    expect(Math.min(...nicenessOf(purser.child.pid as number))).toBeGreaterThanOrEqual(10)
  },
)
