import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Client } from './support/client.ts'
import { engines } from './support/engines.ts'
import {
  ADMIN_TOKEN,
  Purser,
  run,
  SECRET_KEY,
  settingsFor,
  temporaryFolder,
  type Settings,
} from './support/purser.ts'

const tls = (name: string) => resolve(import.meta.dirname, 'data/tls', name)

describe.each(engines)('serve on %s', (engine) => {
  test('a first start says all that is needed, once, and its token is good', async () => {
    const settings = await settingsFor(engine)
    const purser = new Purser(['serve'], settings)
    const address = await purser.address()
    await purser.says(/config tofu/)
    const folder = settings.PURSER_DATA as string
    const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim()
    expect(purser.stdout).toContain(token)
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
    expect(again.stdout.trim().split('\n')).toHaveLength(1)
    expect((await new Client(second, token).get('/organizations/missing/teams')).status).toBe(404)
    expect(await again.stop()).toBe(0)
  })

  test('a given admin token is neither printed nor written', async () => {
    const settings: Settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    const purser = new Purser(['serve'], settings)
    const address = await purser.address()
    expect((await new Client(address, ADMIN_TOKEN).get('/organizations/missing/teams')).status).toBe(404)
    expect(purser.stdout).not.toContain(ADMIN_TOKEN)
    expect(existsSync(join(settings.PURSER_DATA as string, 'admin-token'))).toBe(false)
  })

  test('SIGTERM lets a request that is under way finish', async () => {
    const settings: Settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    const purser = new Purser(['serve'], settings)
    const address = await purser.address()
    await new Client(address, ADMIN_TOKEN).post('/organizations', organization('acme'))
    // Headers are sent and the body is not: the request is under way.
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

/** A request whose body has not arrived yet. */
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

/** Returns when nothing listens there any more. */
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

/** Everything in a folder: a hash for each file. */
/** All but SQLite's shared memory, which the running server's own reads mark. */
function contents(folder: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => !name.endsWith('-shm'))
  return Object.fromEntries(names.map((name) => [name, hash('sha256', readFileSync(join(folder, name)))]))
}

describe('serve refuses with one line, exit code 1 and nothing touched', () => {
  const refused = async (args: string[], settings: Settings, line: RegExp) => {
    const result = await run(['serve', ...args], settings)
    expect(result.stderr).toMatch(line)
    expect(result.stderr.trim().split('\n')).toHaveLength(1)
    expect(result.stderr).not.toMatch(/\n +at /)
    expect(result).toMatchObject({ code: 1, stdout: '' })
  }

  test('a second server on the same data folder, which leaves the first alone', async () => {
    const settings = await settingsFor('sqlite')
    const first = new Purser(['serve'], settings)
    const address = await first.address()
    const before = contents(settings.PURSER_DATA as string)
    await refused([], settings, /^purser: another Purser runs on the data folder /)
    expect(contents(settings.PURSER_DATA as string)).toEqual(before)
    expect((await fetch(`${address}/readyz`)).status).toBe(200)
  })

  test('the lock of a killed server does not stay', async () => {
    const settings = await settingsFor('sqlite')
    const first = new Purser(['serve'], settings)
    await first.address()
    first.child.kill('SIGKILL')
    await first.ended
    await new Purser(['serve'], settings).address()
  })

  test('a port in use', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    const settings: Settings = { ...(await settingsFor('sqlite')), PURSER_LISTEN: `127.0.0.1:${port}` }
    await refused([], settings, /^purser: 127\.0\.0\.1:\d+ is in use by another program/)
    expect(existsSync(settings.PURSER_DATA as string)).toBe(false)
  })

  test('a data folder that cannot be', async () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    const settings = { PURSER_LISTEN: '127.0.0.1:0', PURSER_DATA: join(file, 'data') }
    await refused([], settings, /^purser: cannot use the data folder .*ENOTDIR/)
  })

  test('an option that is no option, and every bad value with a line of its own', async () => {
    await refused(['--no-such'], {}, /^purser: unknown option '--no-such'/)
    await refused(['--listen', 'here'], {}, /^purser: --listen must be HOST:PORT/)
    const { code, stderr } = await run(['serve', '--workers', '0'], {
      PURSER_LOG: 'loud',
      PURSER_TLS_KEY: 'x',
    })
    expect(code).toBe(1)
    expect(
      stderr
        .trim()
        .split('\n')
        .map((line) => line.slice(0, 24)),
    ).toEqual(['purser: --workers must b', 'purser: PURSER_LOG must ', 'purser: PURSER_TLS_CERT '])
  })

  test('a database that a newer Purser has written', async () => {
    const settings = await settingsFor('sqlite')
    const first = new Purser(['serve'], settings)
    await first.address()
    await first.stop()
    const database = new DatabaseSync(join(settings.PURSER_DATA as string, 'purser.sqlite'))
    database.exec("insert into kysely_migration values ('9999-future', '2099-01-01')")
    database.close()
    const before = contents(settings.PURSER_DATA as string)
    await refused([], settings, /^purser: the database is newer than this Purser: .*9999-future/)
    expect(contents(settings.PURSER_DATA as string)).toEqual(before)
  })

  test('a database whose secret key is gone, or is no key', async () => {
    const settings = await settingsFor('sqlite')
    const first = new Purser(['serve'], settings)
    await first.address()
    await first.stop()
    const key = join(settings.PURSER_DATA as string, 'secret-key')
    const text = readFileSync(key)
    rmSync(key)
    await refused([], settings, /^purser: the secret key is missing: /)
    expect(existsSync(key)).toBe(false)
    writeFileSync(key, 'short')
    await refused([], settings, /^purser: the secret key in .* must be 32 bytes/)
    writeFileSync(key, text)
    await new Purser(['serve'], settings).address()
  })

  test('a file that is no database', async () => {
    const settings = await settingsFor('sqlite')
    mkdirSync(settings.PURSER_DATA as string)
    writeFileSync(join(settings.PURSER_DATA as string, 'purser.sqlite'), 'x'.repeat(10_000))
    await refused([], settings, /^purser: cannot use the database .*: file is not a database/)
  })

  test('a PostgreSQL that does not answer; its password is not shown', async () => {
    const settings = {
      PURSER_DATA: join(temporaryFolder(), 'data'),
      PURSER_LISTEN: '127.0.0.1:0',
      PURSER_SECRET_KEY: SECRET_KEY,
      PURSER_DATABASE_URL: 'postgres://someone:hunter2@127.0.0.1:1/purser',
    }
    await refused([], settings, /^purser: cannot use the database postgres:\/\/127\.0\.0\.1:1\/purser: ./)
    expect((await run(['serve'], settings)).stderr).not.toContain('hunter2')
  })

  test('TLS files that are missing or do not belong together', async () => {
    const settings = await settingsFor('sqlite')
    const files = (cert: string, key: string) => ({ ...settings, PURSER_TLS_CERT: cert, PURSER_TLS_KEY: key })
    await refused(
      [],
      files('/missing.pem', tls('key.pem')),
      /^purser: cannot read the TLS certificate: ENOENT/,
    )
    await refused(
      [],
      files(tls('cert.pem'), tls('other-key.pem')),
      /^purser: cannot use the TLS certificate .*mismatch/,
    )
    await refused([], files(tls('key.pem'), tls('key.pem')), /^purser: cannot use the TLS certificate /)
    expect(existsSync(settings.PURSER_DATA as string)).toBe(false)
    expect(await new Purser(['serve'], files(tls('cert.pem'), tls('key.pem'))).address()).toMatch(/^https:/)
  })
})

describe('serve warns', () => {
  test('when others can reach it without TLS, and of variables that nobody reads', async () => {
    const settings: Settings = {
      ...(await settingsFor('sqlite')),
      PURSER_LISTEN: '0.0.0.0:0',
      PURSER_LISTN: 'x',
    }
    const purser = new Purser(['serve'], settings)
    await purser.address()
    expect(purser.stderr).toMatch(/warning: there is no setting PURSER_LISTN; it is ignored\n/)
    expect(purser.stderr).toMatch(/warning: 0\.0\.0\.0:0 can be reached from other machines without TLS/)
  })
})
