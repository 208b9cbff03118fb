import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Client, type Response } from './support/client.ts'
import { moveDatabaseClock, onlyPostgres } from './support/engines.ts'
import { keptLog } from './support/kept-log.ts'
import { PgBouncer } from './support/pgbouncer.ts'
import { PostgresCluster } from './support/postgres-cluster.ts'
import {
  ADMIN_TOKEN,
  Purser,
  run,
  SECRET_KEY,
  settingsFor,
  temporaryFolder,
  type Settings,
} from './support/purser.ts'
import { startServer, type TestServer } from './support/server.ts'
import { body, createTestOrganization, uniqueName } from './support/world.ts'

const PATIENCE_MS = 40_000
const AWAY = 'the database is away: requests are answered 503 until it is back'
const BACK = 'the database is back'

async function becomes(server: TestServer, status: number): Promise<Response> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const answer = await server.client().get(`${server.address}/readyz`)
    if (answer.status === status) return answer
    if (performance.now() > end) throw new Error(`/readyz did not become ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

describe.each(onlyPostgres)('a database of %s', (engine) => {
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
  const serve = async (databaseUrl: string) => {
    const { log, lines } = keptLog()
    const server = await startServer(engine, { databaseUrl }, log)
    onTestFinished(() => server.stop())
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const teams = `/organizations/${organization.name}/teams`
    const write = async () => (await client.post(teams, body('teams', { name: uniqueName('team') }))).status
    const read = async () => (await client.get(teams)).status
    return { server, lines, write, read }
  }

  test.each(['LATIN1', 'LATIN9'])(
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

  test.each(['Purser', 'a.b', 'two words', 'a"b'])(
    'whose schema is %s is made and served',
    async (schema) => {
      const name = await newDatabase()
      const quoted = `"${schema.replace('"', '""')}"`
      await cluster.query(`create schema ${quoted} authorization node`, name)
      await cluster.query(`alter database ${name} set search_path = ${quoted}`)
      expect((await run(['migrate'], settingsOf(name))).stdout).toMatch(/^migrated: 0001/)
      const { read, write } = await serve(urlOf(name))
      expect([await write(), await read()]).toEqual([200, 200])
      const raising = await cluster.query(
        `select proname from pg_proc join pg_namespace spaces on spaces.oid = pronamespace
       where nspname <> 'pg_catalog' and prosrc like '%version + 1%random()%'`,
        name,
      )
      expect(raising.length).toBeGreaterThan(0)
    },
  )

  test('with tables in a schema that is not the first any more is refused', async () => {
    const name = await newDatabase()
    const settings = settingsOf(name)
    expect((await run(['migrate'], settings)).code).toBe(0)
    await cluster.query('create schema authorization node', name)
    const line =
      /: the schema public has the tables of Purser, and new ones would be made in node, which comes before it /
    await refused(['serve'], settings, line)
    await doctorFinds(settings, line)
    await cluster.query(`alter database ${name} set search_path = public`)
    expect((await run(['doctor'], settings)).code).toBe(0)
  })

  test('with tables of another installation in another schema is used beside it', async () => {
    const name = await newDatabase()
    expect((await run(['migrate'], settingsOf(name))).code).toBe(0)
    await cluster.query('create role neighbour login')
    await cluster.query('create schema authorization neighbour', name)
    const neighbour = urlOf(name).replace('node@', 'neighbour@')
    const migrated = await run(['migrate'], { ...settingsOf(name), PURSER_DATABASE_URL: neighbour })
    expect(migrated).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('made the indexes: users_listed'),
    })
    const { read, write } = await serve(neighbour)
    expect([await write(), await read()]).toEqual([200, 200])
    expect(await cluster.query('select from public.organizations', name)).toEqual([])
  })

  test('whose planner joins in another way is made', async () => {
    const name = await newDatabase()
    await cluster.query(`alter database ${name} set enable_nestloop = off`)
    expect((await run(['migrate'], settingsOf(name))).stdout).toMatch(/^migrated: 0001/)
    expect((await run(['doctor'], settingsOf(name))).code).toBe(0)
  })

  test('whose tables are all published is made, and moved into', async () => {
    await cluster.query("alter system set wal_level = 'logical'")
    await cluster.stop('fast')
    await cluster.start()
    const [made, moved] = [await newDatabase(), await newDatabase()]
    for (const name of [made, moved])
      await cluster.query('create publication everything for all tables', name)
    expect((await run(['migrate'], settingsOf(made))).stdout).toMatch(/^migrated: 0001/)
    const { read, write } = await serve(urlOf(made))
    expect([await write(), await read()]).toEqual([200, 200])
    const source = { ...(await settingsFor('sqlite')), PURSER_SECRET_KEY: SECRET_KEY }
    expect((await run(['migrate'], source)).code).toBe(0)
    expect(await run(['move', '--to', urlOf(moved)], source)).toMatchObject({ code: 0 })
  })

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

  test.each([
    ['a table', 'alter table teams owner to purser', 'alter table teams owner to node'],
    [
      'its schema',
      'alter schema public owner to purser; revoke all on schema public from public, node',
      'grant all on schema public to node',
    ],
  ])('that loses %s while a server runs is 503, red, and one line', async (_, take, give) => {
    const name = await newDatabase()
    const { server, lines, read, write } = await serve(urlOf(name))
    await cluster.query(take, name)
    expect([await write(), await read()]).toEqual([503, 503])
    await becomes(server, 503)
    for (let round = 0; round < 5; round++) {
      expect([await write(), await read()]).toEqual([503, 503])
      const { json } = await becomes(server, 503)
      expect(json.errors[0].detail).toMatch(/^the database is not set up as this server needs it/)
    }
    await cluster.query(give, name)
    await becomes(server, 200)
    expect([await write(), await read()]).toEqual([200, 200])
    expect(lines.map(({ msg }) => msg)).toEqual([AWAY, BACK])
    expect(lines[0]?.error?.message).toMatch(
      /may not read and write the tables .*teams|"meta" does not exist/,
    )
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

  test('whose PgBouncer changes to transaction mode is 503, red, and named in the log', async () => {
    const name = await newDatabase()
    const bouncer = await PgBouncer.start(cluster.port)
    onTestFinished(() => bouncer.remove())
    const { server, lines, read, write } = await serve(urlOf(name, bouncer.port))
    await bouncer.changeMode('transaction')
    const statuses = new Set<number>()
    for (let round = 0; round < 20; round++) {
      for (const status of await Promise.all([write(), read(), write(), read()])) statuses.add(status)
    }
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
    await becomes(server, 503)
    expect(lines.map(({ error }) => error?.message)).toContainEqual(
      expect.stringMatching(/^a pooler lets several/),
    )
    await bouncer.changeMode('session')
    await becomes(server, 200)
  })

  test('with another time than the machine of the server is a problem for the doctor', async () => {
    const name = await newDatabase()
    await cluster.query(`alter database ${name} set search_path = public, pg_catalog`)
    const settings = settingsOf(name)
    expect((await run(['migrate'], settings)).code).toBe(0)
    const ahead = /^problem +clock +the clock of this machine is \d+ s behind that of PostgreSQL: keep both/m
    expect((await run(['doctor'], settings)).stdout).not.toMatch(ahead)
    await moveDatabaseClock(settings.PURSER_DATABASE_URL ?? '', 60_000)
    await doctorFinds(settings, ahead)
  })

  test('that lets the role have too few connections is a warning of the start', async () => {
    const name = await newDatabase()
    await cluster.query('create role small login connection limit 14')
    await cluster.query(`grant node to small`)
    const settings = { ...settingsOf(name), PURSER_DATABASE_URL: urlOf(name).replace('node@', 'small@') }
    const purser = new Purser(['serve'], settings)
    await purser.address()
    expect(purser.stderr).toMatch(
      /^purser: warning: the database lets this role have 14 connections, and a server with 1 process needs up to 16: raise /m,
    )
    await purser.stop()
    await doctorFinds(settings, /^problem +database .* lets this role have 14 connections/m)
  })

  test('that lets the role have 4 connections: requests wait for each other, and none is refused', async () => {
    const name = await newDatabase()
    await cluster.query('create role smallest login connection limit 4')
    await cluster.query(`grant node to smallest`)
    const url = urlOf(name).replace('node@', 'smallest@')
    const purser = new Purser(['serve'], {
      ...settingsOf(name),
      PURSER_DATABASE_URL: url,
      PURSER_ADMIN_TOKEN: ADMIN_TOKEN,
    })
    const client = new Client(await purser.address(), ADMIN_TOKEN)
    const organizations = Array.from({ length: 6 }, () => uniqueName('organization'))
    const made = organizations.map((one) =>
      client.post('/organizations', body('organizations', { name: one, email: 'o@example.com' })),
    )
    expect((await Promise.all(made)).map(({ status }) => status)).toEqual(organizations.map(() => 201))
    const answers = Array.from({ length: 8 }, () =>
      organizations.flatMap((one) => [
        client.post(`/organizations/${one}/teams`, body('teams', { name: uniqueName('team') })),
        client.post(
          `/organizations/${one}/workspaces`,
          body('workspaces', { name: uniqueName('workspace') }),
        ),
        client.get(`/organizations/${one}/teams`),
        client.get(`${client.address}/readyz`),
      ]),
    ).flat()
    const statuses = new Set((await Promise.all(answers)).map(({ status }) => status))
    expect(statuses).toEqual(new Set([200, 201]))
    expect(await purser.stop()).toBe(0)
  })
})
