import { chownSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { onlyPostgres } from './support/engines.ts'
import { ownerId, PostgresCluster } from './support/postgres-cluster.ts'
import {
  ADMIN_TOKEN,
  Purser,
  run,
  SECRET_KEY,
  settingsFor,
  temporaryFolder,
  type Settings,
} from './support/purser.ts'

/** A certificate that signs itself, for localhost and 127.0.0.1. */
const tls = (name: string) => resolve(import.meta.dirname, 'data/tls', name)

describe('the URL of a database', () => {
  const parsed = (query: string) =>
    readConfig({ databaseUrl: `postgres://me@one/purser${query}`, secretKey: SECRET_KEY }, {}).databaseUrl

  test('has one of the known values of sslmode', () => {
    for (const mode of ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full']) {
      expect(parsed(`?sslmode=${mode}`)).toMatch(mode)
    }
    for (const query of ['?sslmode=foo', '?sslmode=', '?sslmode=allow', '?a=b&sslmode=Require']) {
      expect(() => parsed(query)).toThrow(
        '--database-url has an unknown sslmode; it must be one of disable, no-verify, ',
      )
    }
    for (const query of ['?ssl=false', '?ssl=foo']) {
      expect(() => parsed(query)).toThrow('--database-url has an unknown value of ssl; give sslmode instead')
    }
  })
})

describe.each(onlyPostgres)('a connection to %s that fails', () => {
  let cluster: PostgresCluster

  beforeAll(async () => {
    cluster = await PostgresCluster.start()
    const access = join(cluster.folder, 'data/pg_hba.conf')
    writeFileSync(access, `host all asked all scram-sha-256\n${readFileSync(access, 'utf8')}`)
    await cluster.query("create role asked login password 'secret'; select pg_reload_conf()")
  }, 120_000)

  afterAll(() => cluster.remove())

  async function switchTlsOn(): Promise<void> {
    const owner = await ownerId()
    for (const name of ['cert.pem', 'key.pem']) {
      writeFileSync(join(cluster.folder, name), readFileSync(tls(name)), { mode: 0o600 })
      if (owner !== undefined) chownSync(join(cluster.folder, name), owner, -1)
      const setting = name === 'cert.pem' ? 'ssl_cert_file' : 'ssl_key_file'
      await cluster.query(`alter system set ${setting} = '${join(cluster.folder, name)}'`)
    }
    await cluster.query('alter system set ssl = on')
    await cluster.query('select pg_reload_conf()')
  }

  const urlTo = (query: string, user = 'purser') =>
    `postgres://${user}@127.0.0.1:${cluster.port}/postgres${query}`
  const settingsOf = (url: string): Settings => ({
    PURSER_DATA: join(temporaryFolder(), 'data'),
    PURSER_LISTEN: '127.0.0.1:0',
    PURSER_DATABASE_URL: url,
    PURSER_SECRET_KEY: SECRET_KEY,
    PURSER_ADMIN_TOKEN: ADMIN_TOKEN,
  })

  async function refused(command: readonly string[], url: string, reason: string): Promise<void> {
    const { code, stdout, stderr } = await run(command, settingsOf(url))
    const said = `${stdout}${stderr}`.trim().replace(/^making the tables in .*\n/, '')
    expect({ command, code, said }).toEqual({ command, code: 1, said: expect.stringContaining(reason) })
    expect(said).toMatch(/cannot use the database postgres:\/\/127[.\d]+:\d+\/postgres: /)
    expect(said).not.toMatch(/\n +at |secret|SECURITY/)
    if (command[0] !== 'doctor') expect(said.split('\n')).toHaveLength(1)
  }

  test('says that the server has no TLS, at every command', async () => {
    const commands = [['serve'], ['migrate'], ['doctor'], ['user', 'list'], ['backup', '/nowhere/file']]
    for (const command of commands) {
      await refused(
        command,
        urlTo('?sslmode=require'),
        'The server does not support SSL connections; turn TLS on in PostgreSQL; with sslmode=disable in the URL',
      )
    }
    const source = await settingsFor('sqlite')
    await run(['migrate'], source)
    const { code, stderr } = await run(['move', '--to', urlTo('?sslmode=require')], source)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^purser: cannot use the [^\n]*SSL[^\n]*\n$/)])
  }, 120_000)

  test('says that the password is missing', async () => {
    for (const user of ['asked', 'asked:']) {
      await refused(['migrate'], urlTo('', user), 'PostgreSQL asks for a password: write it into the URL')
    }
    await refused(['migrate'], urlTo('', 'asked:secret2'), 'password authentication failed for user "asked"')
  }, 120_000)

  test('says that rights are missing, and needs only those that the documentation names', async () => {
    await cluster.query('revoke create on schema public from public')
    const url = urlTo('', 'asked:secret')
    await refused(['migrate'], url, 'permission denied for schema public; docs/operation.md lists the rights')
    await cluster.query('grant usage, create on schema public to asked')
    expect(await run(['migrate'], settingsOf(url))).toMatchObject({ code: 0 })
    await cluster.query('drop owned by asked')
  }, 120_000)

  test('says what is wrong with the certificate, and none with one that can be verified', async () => {
    await switchTlsOn()
    await refused(['user', 'list'], urlTo('?sslmode=verify-full'), 'self-signed certificate; name the certif')
    await refused(
      ['migrate'],
      urlTo(`?sslmode=verify-full&sslrootcert=${tls('cert.pem')}`).replace('127.0.0.1', '127.1'),
      "does not match certificate's altnames",
    )
    const settings = settingsOf(urlTo(`?sslmode=require&sslrootcert=${tls('cert.pem')}`))
    const purser = new Purser(['serve'], settings)
    await purser.address()
    expect(purser.stderr).not.toContain('SECURITY')
    expect(await cluster.query('select pid from pg_stat_ssl where ssl')).not.toEqual([])
    expect(await run(['user', 'list'], settingsOf(urlTo('?sslmode=no-verify')))).toMatchObject({
      code: 0,
      stderr: '',
    })
  }, 120_000)
})
