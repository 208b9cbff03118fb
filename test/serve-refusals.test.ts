import { createPrivateKey, hash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { Purser, run, SECRET_KEY, settingsFor, temporaryFolder, type Settings } from './support/purser.ts'

const tls = (name: string) => resolve(import.meta.dirname, 'data/tls', name)

/** A hash for each file of a folder, except SQLite's shared memory, which even reads of a running server change. */
function contents(folder: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => !name.endsWith('-shm'))
  return Object.fromEntries(names.map((name) => [name, hash('sha256', readFileSync(join(folder, name)))]))
}

async function listenSomewhere(): Promise<Server> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** A port on which nothing listens. */
async function freePort(): Promise<number> {
  const server = await listenSomewhere()
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
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
    const other = await listenSomewhere()
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
    await refused(['--data', file], settings, /^purser: cannot use the data folder .*ENOTDIR/)
    // Node's own mkdir never returns for a folder there.
    await refused(['--data', '/proc/x/y'], settings, /^purser: cannot use the data folder .*ENOENT/)
  })

  test('an option that is no option, and every bad value with a line of its own', async () => {
    await refused(['--no-such'], {}, /^purser: unknown option '--no-such'/)
    await refused(['--listen', 'here'], {}, /^purser: --listen must be HOST:PORT/)
    for (const url of ['https://purser.example.com/app', 'https://me:pw@purser.example.com', 'ftp://a']) {
      await refused(['--public-url', url], {}, /^purser: --public-url must be a URL with nothing after/)
    }
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

  test('a bad value, without the complaint that the setting is missing', () => {
    const url = 'postgres://me@127.0.0.1/x'
    expect(() => readConfig({ databaseUrl: url, secretKey: 'short' }, {})).toThrow(
      /^--secret-key must be 32 bytes, [^\n]*$/,
    )
    expect(() => readConfig({ edition: 'self-hosted', release: '1' }, {})).toThrow(
      /^--release must be a release such as 202408-1$/,
    )
  })

  test('an admin token that is too short, too long, or has other characters', async () => {
    const folder = join(temporaryFolder(), 'data')
    const line = /^purser: PURSER_ADMIN_TOKEN must be 16 to 512 visible ASCII characters$/m
    for (const token of ['x'.repeat(15), 'x'.repeat(513), `${'x'.repeat(20)} `, 'é'.repeat(20)]) {
      await refused([], { PURSER_DATA: folder, PURSER_ADMIN_TOKEN: token }, line)
    }
    expect(existsSync(folder)).toBe(false)
  })

  test('a database that a newer Purser has written', async () => {
    const settings = await settingsFor('sqlite')
    const first = new Purser(['serve'], settings)
    await first.address()
    await first.stop()
    const database = new DatabaseSync(join(settings.PURSER_DATA as string, 'purser.sqlite'))
    database.exec("insert into kysely_migration values ('9999-future', '2099-01-01')")
    database.exec("update compatibility set oldest_release = '99.0.0'")
    database.close()
    const before = contents(settings.PURSER_DATA as string)
    await refused(
      [],
      settings,
      /^purser: the database is newer than this Purser [0-9.]+: it has the migrations 9999-future, which need version 99\.0\.0 or newer/,
    )
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
    await refused([], settings, /^purser: the secret key is missing: .*; put your copy of it into /)
    expect(existsSync(key)).toBe(false)
    for (const bad of ['short', '']) {
      writeFileSync(key, bad)
      await refused([], settings, /^purser: the secret key in .* must be 32 bytes/)
    }
    writeFileSync(key, text)
    await new Purser(['serve'], settings).address()
  })

  test('a database with tables of another program', async () => {
    const settings = await settingsFor('sqlite')
    const folder = settings.PURSER_DATA as string
    mkdirSync(folder)
    const database = new DatabaseSync(join(folder, 'purser.sqlite'))
    database.exec('create table meta (key text primary key, value text)')
    database.close()
    const { code, stderr } = await run(['serve'], settings)
    expect(code).toBe(1)
    expect(stderr.trim()).toMatch(
      /^purser: the database has tables of another program \(table meta already exists\), [^\n]*$/,
    )
  })

  test('a file that is no database', async () => {
    const settings = await settingsFor('sqlite')
    mkdirSync(settings.PURSER_DATA as string)
    writeFileSync(join(settings.PURSER_DATA as string, 'purser.sqlite'), 'x'.repeat(10_000))
    await refused(
      [],
      settings,
      /^purser: cannot use the database .*: file is not a database; .* restore a backup\n/,
    )
  })

  test('a PostgreSQL that does not answer; its password is not shown', async () => {
    const settings = {
      PURSER_DATA: join(temporaryFolder(), 'data'),
      PURSER_LISTEN: '127.0.0.1:0',
      PURSER_SECRET_KEY: SECRET_KEY,
      PURSER_DATABASE_URL: `postgres://someone:hunter2@127.0.0.1:${await freePort()}/purser`,
      PURSER_DATABASE_WAIT_SECONDS: '0',
    }
    await refused([], settings, /^purser: cannot use the database postgres:\/\/127\.0\.0\.1:\d+\/purser: ./)
    expect((await run(['serve'], settings)).stderr).not.toContain('hunter2')
  })

  test('a database URL that would be used otherwise than it says', async () => {
    const given = (url: string) => ({ PURSER_DATABASE_URL: url, PURSER_SECRET_KEY: SECRET_KEY })
    for (const [url, problem] of [
      [
        'postgres://me:a,b@one:5432,two:5432/purser',
        /^purser: PURSER_DATABASE_URL names several hosts; .*primary/,
      ],
      ['postgres://me@one/purser?host=one,two', /^purser: PURSER_DATABASE_URL names several hosts; /],
      [
        'postgres://me:hunter2@one/purser?target_session_attrs=read-write',
        /^purser: PURSER_DATABASE_URL has target_session_attrs, which is not supported; /,
      ],
      ['postgres://me:hunter2%@one:x/purser', /^purser: PURSER_DATABASE_URL is not a URL; /],
      [
        'postgres://me:/hunter2@127.0.0.1:5432/purser',
        /^purser: PURSER_DATABASE_URL has an @ or a # behind /,
      ],
    ] as const) {
      await refused([], given(url), problem)
      const doctor = await run(['doctor'], given(url))
      expect([doctor.code, doctor.stdout + doctor.stderr]).toEqual([
        1,
        expect.stringMatching(problem.source.slice(9)),
      ])
      expect(doctor.stdout + doctor.stderr).not.toMatch(/\n +at |hunter2/)
    }
  })

  test.each(['42/x@', '42?x@', '42#x@', '42/x@a/y@', 'a,b/x@', '@/x@'])(
    'a database URL with the password %s, of which a part would be taken for something else',
    (password) => {
      const databaseUrl = `postgres://me:${password}127.0.0.1/purser`
      expect(() => readConfig({ databaseUrl, secretKey: SECRET_KEY }, {})).toThrow(
        'has an @ or a # behind the host; write the characters / ? # @ of a password as',
      )
    },
  )

  test.each(['data', 'tlsCert', 'tlsKey'] as const)('an empty path as %s', (name) => {
    expect(() => readConfig({ [name]: '' }, {})).toThrow(/^--(data|tls-cert|tls-key) must not be empty$/m)
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
    const encrypted = join(temporaryFolder(), 'key.pem')
    const key = createPrivateKey(readFileSync(tls('key.pem')))
    const cipher = { cipher: 'aes-256-cbc', passphrase: 'secret', format: 'pem' } as const
    writeFileSync(encrypted, key.export({ type: 'pkcs8', ...cipher }))
    await refused(
      [],
      files(tls('cert.pem'), encrypted),
      /^purser: the TLS key .*key\.pem is encrypted with a passphrase: .* openssl pkey -in /,
    )
    const exchanged = files(tls('key.pem'), tls('cert.pem'))
    await refused(
      [],
      exchanged,
      /^purser: cannot use the TLS certificate .* \(are certificate and key exchanged\?\)/,
    )
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
    expect(purser.stdout).toMatch(/serves at http:\/\/127\.0\.0\.1:\d+\n/)
    expect(purser.stderr).toMatch(/warning: there is no setting PURSER_LISTN; it is ignored\n/)
    expect(purser.stderr).toMatch(/warning: 0\.0\.0\.0:0 can be reached from other machines without TLS/)
  })

  test('when others may look into the data folder', async () => {
    const settings = await settingsFor('sqlite')
    const folder = settings.PURSER_DATA as string
    mkdirSync(folder)
    chmodSync(folder, 0o755)
    const open = new Purser(['serve'], settings)
    await open.address()
    expect(open.stderr).toBe(`purser: warning: others may look into ${folder}: chmod -R go= ${folder}\n`)
    await open.stop()
    chmodSync(folder, 0o700)
    const closed = new Purser(['serve'], settings)
    await closed.address()
    expect(closed.stderr).toBe('')
  })
})
