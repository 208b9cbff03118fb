import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { engines } from './support/engines.ts'
import { PgBouncer } from './support/pgbouncer.ts'
import { PostgresCluster } from './support/postgres-cluster.ts'
import { run, SECRET_KEY, settingsFor, temporaryFolder, type Settings } from './support/purser.ts'
import { uniqueName } from './support/world.ts'

describe.each(engines.filter((engine) => engine === 'postgres'))('a database of %s', () => {
  let cluster: PostgresCluster
  beforeAll(async () => {
    cluster = await PostgresCluster.start()
    await cluster.query('create role node login')
  })
  afterAll(() => cluster.remove())

  const newDatabase = async (options = ''): Promise<string> => {
    const name = uniqueName('unfit').replaceAll('-', '_')
    await cluster.query(`create database ${name} owner node ${options}`)
    return name
  }
  const urlOf = (name: string, port = cluster.port) => `postgres://node@127.0.0.1:${port}/${name}`
  const settingsOf = (name: string, port?: number): Settings => ({
    PURSER_DATA: join(temporaryFolder(), 'data'),
    PURSER_LISTEN: '127.0.0.1:0',
    PURSER_SECRET_KEY: SECRET_KEY,
    PURSER_DATABASE_URL: urlOf(name, port),
  })
  const refused = async (args: string[], settings: Settings, line: RegExp) => {
    const { code, stdout, stderr } = await run(args, settings)
    expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' })
    expect(stderr).toMatch(line)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  }
  const doctorFinds = async (settings: Settings, problem: RegExp) => {
    const { code, stdout } = await run(['doctor'], settings)
    expect(stdout).toMatch(problem)
    expect(code).toBe(1)
  }
  test.each(['LATIN1', 'SQL_ASCII'])(
    'with the encoding %s is refused before anything is written',
    async (encoding) => {
      const name = await newDatabase(`encoding '${encoding}' template template0 locale 'C'`)
      const settings = settingsOf(name)
      const line = new RegExp(
        `^purser: cannot use the database .*/${name}: the database has the encoding ${encoding}, and Purser needs UTF8: make a new one `,
      )
      await refused(['serve'], settings, line)
      await refused(['migrate'], settings, line)
      await doctorFinds(settings, new RegExp(`^problem +database .* has the encoding ${encoding}`, 'm'))
      const source = { ...(await settingsFor('sqlite')), PURSER_SECRET_KEY: SECRET_KEY }
      expect((await run(['migrate'], source)).code).toBe(0)
      await refused(['move', '--to', urlOf(name)], source, line)
      const backup = join(temporaryFolder(), 'backup')
      expect((await run(['backup', backup], source)).code).toBe(0)
      await refused(['restore', backup], settings, line)
    },
  )

  test('that takes no writes is a problem for doctor, and a start refuses it', async () => {
    const name = await newDatabase()
    const settings = settingsOf(name)
    expect((await run(['migrate'], settings)).code).toBe(0)
    await cluster.query(`alter database ${name} set default_transaction_read_only = on`)
    await doctorFinds(settings, /^problem +database .* takes no writes: default_transaction_read_only is on/m)
    await refused(['serve'], settings, /takes no writes: default_transaction_read_only is on; set it to off/)
  })

  test.each([
    ['a table', 'alter table teams owner to purser', 'alter table teams owner to node', 'the tables teams:'],
    ['a right', 'revoke delete on tags from node', 'grant delete on tags to node', 'the tables tags:'],
  ])('that loses %s: doctor and a start say it', async (_, take, give, named) => {
    const name = await newDatabase()
    const settings = settingsOf(name)
    expect((await run(['migrate'], settings)).code).toBe(0)
    await cluster.query(take, name)
    await doctorFinds(
      settings,
      new RegExp(`^problem +database .* the role node may not read and write ${named} grant`, 'm'),
    )
    await refused(['serve'], settings, new RegExp(`the role node may not read and write ${named} grant`))
    await cluster.query(give, name)
    expect((await run(['doctor'], settings)).stdout).not.toMatch(/may not read and write/)
  })

  test('behind PgBouncer in transaction mode is refused', async () => {
    const name = await newDatabase()
    const bouncer = await PgBouncer.start(cluster.port, 'transaction')
    onTestFinished(() => bouncer.remove())
    const settings = settingsOf(name, bouncer.port)
    await refused(
      ['serve'],
      settings,
      /: a pooler lets several connections share a session .*pool_mode = session/,
    )
    await doctorFinds(settings, /^problem +database .* a pooler lets several connections share a session/m)
  })
})
