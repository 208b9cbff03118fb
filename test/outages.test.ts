import { Client as PostgresClient, DatabaseError } from 'pg'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { isAnswer, isAway, isBusy, isStaleStatement, outcomeOf } from '../src/database/postgres-errors.ts'
import { PostgresAddress } from '../src/database/postgres-address.ts'
import { PostgresProbe } from '../src/database/postgres-probe.ts'
import { allOf } from './support/crash-requests.ts'
import { onlyPostgres } from './support/engines.ts'
import { Forwarder } from './support/forwarder.ts'
import { PostgresCluster } from './support/postgres-cluster.ts'
import { ADMIN_TOKEN, Purser, run, SECRET_KEY, temporaryFolder } from './support/purser.ts'
import { startServer, type TestServer } from './support/server.ts'
import { createState } from './support/states.ts'
import {
  body,
  createTeam,
  createTestOrganization,
  uniqueName,
  type TestOrganization,
} from './support/world.ts'

/** Every request must get an answer within this time: the deadlines of the server are shorter. */
const PATIENCE_MS = 40_000

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error('waited in vain')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe.each(onlyPostgres)('an outage of %s', (engine) => {
  let cluster: PostgresCluster
  let forwarder: Forwarder
  let server: TestServer
  let organization: TestOrganization
  const lines: string[] = []
  beforeAll(async () => {
    cluster = await PostgresCluster.start()
    forwarder = await Forwarder.start(cluster.port)
    const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line).msg) })
    server = await startServer(engine, { databaseUrl: cluster.url(forwarder.port) }, log)
    organization = await createTestOrganization(server)
  })
  afterAll(async () => {
    await server.stop()
    await forwarder.close()
    await cluster.remove()
  })

  const teams = () => `/organizations/${organization.name}/teams`
  const post = (name: string) => organization.owner.client.post(teams(), body('teams', { name }))
  const readiness = () => server.client().get(`${server.address}/readyz`)
  const isReady = async () => (await readiness()).status === 200
  const teamsNamed = async (name: string) =>
    (await allOf(organization.owner.client, teams())).filter(({ attributes }) => attributes['name'] === name)
  const eventsOf = (name: string) =>
    cluster.query(
      `select count(*)::int as count from audit_events where action = 'team.create' and details like '%${name}%'`,
    )

  test('a start waits for a database that is not there yet, and not for one that refuses it', async () => {
    const late = await PostgresCluster.start()
    onTestFinished(() => late.remove())
    await late.stop('fast')
    const settings = {
      PURSER_DATA: temporaryFolder(),
      PURSER_LISTEN: '127.0.0.1:0',
      PURSER_SECRET_KEY: SECRET_KEY,
      PURSER_ADMIN_TOKEN: ADMIN_TOKEN,
      PURSER_DATABASE_URL: late.url(),
    }
    const purser = new Purser(['serve'], settings)
    await purser.says(/^purser: waiting for postgres:\/\/127\.0\.0\.1:\d+\/postgres …$/m)
    await late.start()
    await purser.address()
    const missing = late.url().replace('/postgres', '/missing')
    const refused = await run(['serve'], { ...settings, PURSER_DATABASE_URL: missing })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^purser: cannot use the database .*"missing" does not exist\n$/)
  })

  test('while connections in use are ended, every request is answered, and never with 500', async () => {
    const statuses = new Set<number>()
    const end = new AbortController()
    const callers = Array.from({ length: 12 }, async (_, n) => {
      while (!end.signal.aborted) {
        const { client } = organization.owner
        statuses.add((n % 2 === 0 ? await client.get(teams()) : await post(uniqueName('team'))).status)
      }
    })
    for (let round = 0; round < 5; round++) {
      await cluster.endBackends()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    end.abort()
    await Promise.all(callers)
    expect(statuses.has(200)).toBe(true)
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
  })

  test('a stopped server is 503 with Retry-After, a line when it goes and two when it comes', async () => {
    await until(isReady)
    lines.length = 0
    await cluster.stop('fast')
    await until(async () => !(await isReady()))
    for (const request of [() => server.admin.get('/account/details'), () => post(uniqueName('team'))]) {
      const { status, headers, json } = await request()
      expect([status, headers.get('retry-after')]).toEqual([503, '1'])
      expect(json.errors[0].detail).not.toMatch(/127\.0\.0\.1|ECONN|purser/)
    }
    await cluster.start()
    await until(isReady)
    expect((await post(uniqueName('team'))).status).toBe(200)
    // A connection may end a moment before the one that is probed.
    expect(
      lines.filter((line) => line !== 'the database failed some requests; it can be read and written'),
    ).toEqual([
      'the database is away: requests are answered 503 until it is back',
      'PostgreSQL was restarted, or its address leads to another server',
      'the database is back',
    ])
  })

  test.each(['before', 'after'] as const)(
    'a commit whose connection is lost %s the server gets it is 503, and is not repeated',
    async (when) => {
      await until(isReady)
      // The commit may be that of a background job, so try several times.
      let name = ''
      let details: unknown
      for (let attempt = 0; attempt < 30 && !/not known/.test(String(details)); attempt++) {
        name = uniqueName('lost')
        forwarder.cutAtCommit(1, when)
        const answer = await post(name)
        expect([200, 503]).toContain(answer.status)
        details = answer.json.errors?.[0].detail
        await until(isReady)
      }
      expect(details).toMatch(/not known/)
      const count = when === 'after' ? 1 : 0
      // The server may still be busy with the commit.
      if (count === 1) await until(async () => (await teamsNamed(name)).length === 1)
      expect(await teamsNamed(name)).toHaveLength(count)
      expect(await eventsOf(name)).toEqual([{ count }])
    },
  )

  test('a commit that one server made alone is not acknowledged', async () => {
    await until(isReady)
    const name = uniqueName('warned')
    // PostgreSQL gives such a warning if a commit that waits for a standby is cancelled.
    await cluster.query(`
      create function warn() returns trigger language plpgsql as $$ begin raise warning 'not replicated'; return null; end $$;
      create constraint trigger warn after insert on teams deferrable initially deferred
        for each row when (new.name = '${name}') execute function warn()`)
    const answer = await post(name)
    expect([answer.status, answer.json.errors[0].detail]).toEqual([503, expect.stringMatching(/not known/)])
    expect(await teamsNamed(name)).toHaveLength(1)
    await cluster.query('drop trigger warn on teams; drop function warn')
  })

  test('a server that hangs is 503 in time, and serves again when it goes on', async () => {
    await until(isReady)
    cluster.hang()
    const [read, write] = await Promise.all([
      organization.owner.client.get(teams()),
      post(uniqueName('team')),
    ])
    expect([read.status, write.status]).toEqual([503, 503])
    // The outage is known by now, so requests no longer wait.
    const before = performance.now()
    expect((await organization.owner.client.get(teams())).status).toBe(503)
    expect(performance.now() - before).toBeLessThan(PATIENCE_MS)
    cluster.goOn()
    await until(async () => (await post(uniqueName('team'))).status === 200)
  })

  test('connections that a network has swallowed are given up', async () => {
    await until(isReady)
    await Promise.all(Array.from({ length: 10 }, () => organization.owner.client.get(teams())))
    // Affects the existing connections. New ones would work.
    forwarder.swallow()
    forwarder.heal()
    const answers = await Promise.all([organization.owner.client.get(teams()), post(uniqueName('team'))])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
  })

  test('a probe reports a connection that was swallowed, and none that is only slow', async () => {
    await until(isReady)
    let losses = 0
    const address = new PostgresAddress(cluster.url(forwarder.port))
    const probe = new PostgresProbe(address, () => (losses += 1))
    onTestFinished(() => probe.close())
    const look = () => probe.look(AbortSignal.timeout(PATIENCE_MS))
    await look()
    const locker = new PostgresClient({ connectionString: cluster.url() })
    await locker.connect()
    onTestFinished(() => locker.end())
    await locker.query("begin; update meta set value = 'locked' where key like 'probe%'")
    const slow = look()
    await new Promise((resolve) => setTimeout(resolve, 350))
    await locker.query('commit')
    await slow
    expect(losses).toBe(0)
    forwarder.swallow()
    forwarder.heal()
    await look()
    expect(losses).toBe(1)
    await look()
    expect(losses).toBe(1)
  })

  test.each([
    ['nothing', ''],
    ['a small row', 'when (length(new.value) > 1000)'],
  ])('a full disk on which %s fits is 503, and /readyz is red until there is room', async (_, condition) => {
    await until(isReady)
    lines.length = 0
    await cluster.query(`
      create function full_disk() returns trigger language plpgsql as
        $$ begin raise exception 'could not extend file "base/1": No space left on device' using errcode = '53100'; end $$;
      create trigger full_disk before insert or update on teams for each row execute function full_disk();
      create trigger full_disk before insert or update on meta for each row ${condition} execute function full_disk()`)
    const { status, json } = await post(uniqueName('team'))
    expect([status, json.errors[0].detail]).toEqual([503, 'the disk of the database is full'])
    await until(async () => !(await isReady()))
    for (let round = 0; round < 5; round++) {
      expect((await post(uniqueName('team'))).status).toBe(503)
      await new Promise((resolve) => setTimeout(resolve, 200))
      const { status, json } = await readiness()
      expect([status, json.errors[0].detail]).toEqual([503, 'the disk of the database is full'])
    }
    expect((await organization.owner.client.get(teams())).status).toBe(200)
    await cluster.query('drop function full_disk cascade')
    await until(isReady)
    expect((await post(uniqueName('team'))).status).toBe(200)
    expect(lines).toEqual([
      'the database is away: requests are answered 503 until it is back',
      'the database is back',
    ])
  })

  test('an upload of a state meets it as 503', async () => {
    await until(isReady)
    await cluster.query(`
      create function full_disk() returns trigger language plpgsql as
        $$ begin raise exception 'No space left on device' using errcode = '53100'; end $$;
      create trigger full_disk before insert on state_chunks for each row execute function full_disk()`)
    const large = `{"a": {"value": "${'x'.repeat(300_000)}", "type": "string"}}`
    await expect(createState(organization, large)).rejects.toThrow(/expected 201, got 503/)
    await cluster.query('drop function full_disk cascade')
    await createState(organization, large)
  })

  test("one organization's lock keeps others from nothing, and its writers wait for it in bounds", async () => {
    await until(isReady)
    const other = await createTestOrganization(server)
    const locker = new PostgresClient({ connectionString: cluster.url() })
    await locker.connect()
    onTestFinished(() => locker.end())
    await locker.query('begin')
    await locker.query('select from organizations where id = $1 for update', [organization.id])
    const writers = Array.from({ length: 80 }, () => post(uniqueName('team')))
    const waiting = async () =>
      (
        await cluster.query(
          `select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock'`,
        )
      )[0]?.count as unknown as number
    await until(async () => (await waiting()) === 2)
    for (let round = 0; round < 10; round++) {
      expect((await other.owner.client.get(`/organizations/${other.name}/teams`)).status).toBe(200)
      expect((await organization.owner.client.get(teams())).status).toBe(200)
      await createTeam(other)
      expect(await isReady()).toBe(true)
      expect(await waiting()).toBe(2)
    }
    const first = await Promise.race(writers)
    expect([first.status, first.headers.get('retry-after')]).toEqual([503, '1'])
    await locker.query('rollback')
    const statuses = (await Promise.all(writers)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(70)
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
  })
})

/** PostgreSQL ends the connection after these errors. From version 17 on it has 25P04, of its transaction_timeout. */
test.each(['25P03', '25P04'])('a transaction that PostgreSQL ends with %s took too long', (code) => {
  const error = Object.assign(new DatabaseError('terminating connection', 0, 'error'), { code })
  expect([isAnswer(error), isBusy(error)]).toEqual([false, true])
  expect(outcomeOf(error)).toMatchObject({ code: 'unavailable' })
})

/** Errors that have no code of their own. Their messages may be in any language. */
const reportedBy = (routine: string, code: string) =>
  Object.assign(new DatabaseError('zwischengespeicherter Plan', 0, 'error'), { code, routine })

test('a statement that was prepared before a column was added is known in any language', () => {
  expect(isStaleStatement(reportedBy('RevalidateCachedQuery', '0A000'))).toBe(true)
  expect(isStaleStatement(reportedBy('transformLockingClause', '0A000'))).toBe(false)
})

test('a database that has no transaction ids left is an outage', () => {
  expect(isAway(reportedBy('GetNewTransactionId', '54000'))).toBe(true)
  expect(outcomeOf(reportedBy('GetNewMultiXactId', '54000'))).toMatchObject({ code: 'unavailable' })
  expect(isAway(reportedBy('_bt_check_third_page', '54000'))).toBe(false)
})
