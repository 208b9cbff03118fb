import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Database } from '../src/database/database.ts'
import { PostgresDatabase } from '../src/database/postgres.ts'
import type { Client } from './support/client.ts'
import { onlyPostgres } from './support/engines.ts'
import { keptLog } from './support/kept-log.ts'
import { NodesUnderLoad } from './support/nodes-under-load.ts'
import { randomFaults } from './support/outages.ts'
import { isLong } from './support/runs.ts'
import { startServer } from './support/server.ts'
import { pairFaults, SynchronousPair } from './support/synchronous-pair.ts'
import { body, createTestOrganization, uniqueName } from './support/world.ts'

const FAULTS = Number(process.env.PURSER_FAILOVERS ?? (isLong ? 60 : 4))

async function startPair(): Promise<SynchronousPair> {
  const pair = await SynchronousPair.start()
  onTestFinished(() => pair.remove())
  return pair
}

describe.each(onlyPostgres)('a synchronous standby of %s', () => {
  test(
    `${FAULTS} faults of primary and standby under load: nothing acknowledged is lost, and both nodes go on`,
    async () => {
      const pair = await startPair()
      const nodes = await NodesUnderLoad.start(pair.url)
      await nodes.endure(
        'faults of primary and standby',
        randomFaults(pairFaults, FAULTS),
        ({ kind, ms }) => pair.inflict(kind, ms),
        ({ kind }) => pair.repair(kind),
      )
    },
    isLong ? 3_600_000 : 180_000,
  )

  const MOVED = 'the address leads to another server now'
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      ({ cause }: Error) => (cause as Error).message,
    )
  const AT_WORK = "select from pg_stat_activity where query = 'select pg_sleep(60)' and state = 'active'"
  /** The reason why a write fails that the primary never answers. */
  const failureAtWork = (database: Database) =>
    failureOf(database.write(({ db }) => sql`select pg_sleep(60)`.execute(db)))

  test('takes over from a primary that goes on: no connection to it is used once one leads to the new primary', async () => {
    const pair = await startPair()
    const { log, lines } = keptLog()
    const server = await startServer('postgres', { databaseUrl: pair.url }, log)
    onTestFinished(() => server.stop())
    const { name, owner } = await createTestOrganization(server)
    const path = `/organizations/${name}/teams`
    const count = async () => (await owner.client.get(path)).json.meta.pagination['total-count']
    for (let n = 0; n < 3; n++) expect(await count()).toBe(1)
    const failure = failureAtWork(server.app.deps.database)
    await expect.poll(() => pair.query(AT_WORK)).toHaveLength(1)
    await pair.standby.promote()
    pair.moveName()
    // Those for single statements and that of the probe stay.
    const others = `pg_stat_activity where application_name = 'purser' and query not like '%pg_sleep%'
      and (state <> 'idle' or query = 'commit' or query like '%pg_control_system%')`
    const endOthers = async () => {
      await pair.query(`select pg_terminate_backend(pid) from ${others}`)
      return pair.query(`select from ${others}`)
    }
    await expect.poll(endOthers).toEqual([])
    expect((await owner.client.post(path, body('teams', { name: 'made' }))).status).toBe(200)
    for (let n = 0; n < 3; n++) expect(await count()).toBe(2)
    expect(await failure).toBe(MOVED)
    const moves = lines.filter(
      ({ msg }) => msg === 'PostgreSQL was restarted, or its address leads to another server',
    )
    expect(moves).toHaveLength(1)
    const left = () =>
      pair.query("select from pg_stat_activity where application_name = 'purser' and state = 'idle'")
    await expect.poll(left).toEqual([])
    pair.moveNameBack()
    await pair.standby.endBackends()
    const status = async () => (await owner.client.get(path)).status
    await expect.poll(status).toBe(503)
    for (let n = 0; n < 5; n++) expect(await status()).toBe(503)
    pair.moveName()
    await expect.poll(status, { timeout: 10_000 }).toBe(200)
    expect(await count()).toBe(2)
  }, 60_000)

  test('takes over from a primary that hangs: a write at work is given up, although no request comes', async () => {
    const pair = await startPair()
    const server = await startServer('postgres', { databaseUrl: pair.url })
    onTestFinished(() => server.stop())
    const { database } = server.app.deps
    await database.availability.check()
    const failure = failureAtWork(database)
    await expect.poll(() => pair.query(AT_WORK)).toHaveLength(1)
    await pair.standby.promote()
    pair.hangPrimary()
    pair.moveName()
    expect(await failure).toBe(MOVED)
  }, 60_000)

  test('takes over while connections are opened to a primary that hangs: nobody waits for them in vain', async () => {
    const pair = await startPair()
    const database = new PostgresDatabase(pair.url)
    onTestFinished(() => database.close())
    const read = () => database.read(({ db }) => sql`select`.execute(db))
    await read()
    await pair.standby.promote()
    pair.name.swallow()
    // Each waits at most three seconds to connect. Then the read would fail.
    const failures = Promise.all([failureOf(read()), failureOf(read()), failureOf(read())])
    await expect.poll(() => pair.name.connections).toBe(3)
    pair.moveName()
    pair.name.heal()
    await read()
    expect(await failures).toEqual([undefined, undefined, undefined])
  }, 60_000)

  test('may be away: reads go on, and writes are answered once it is back', async () => {
    const { standby, url } = await startPair()
    const nodes = await NodesUnderLoad.start(url)
    const [one, other] = nodes.clients as [Client, Client]
    const path = `/organizations/${await nodes.createOrganization()}/teams`
    await standby.stop('fast')
    const writes = Array.from({ length: 12 }, (_, number) =>
      (number % 2 === 0 ? one : other).post(path, body('teams', { name: `team-${number}` })),
    )
    for (const end = performance.now() + 2_000; performance.now() < end;) {
      for (const client of [one, other]) {
        expect((await client.get(path)).json.meta.pagination['total-count']).toBe(1)
      }
    }
    await standby.start()
    const answers = await Promise.all(writes)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await other.get(path)).json.meta.pagination['total-count']).toBe(13)
  }, 120_000)

  test('that stays away is named, and no writes pile up in the server', async () => {
    const pair = await startPair()
    const { standby, url } = pair
    const { log, lines } = keptLog()
    const server = await startServer('postgres', { databaseUrl: url }, log)
    onTestFinished(() => server.stop())
    const { name, owner } = await createTestOrganization(server)
    const path = `/organizations/${name}/teams`
    const write = async () => {
      const { status, json } = await owner.client.post(path, body('teams', { name: uniqueName('team') }))
      return [status, json.errors?.[0].detail]
    }
    const readiness = async () => {
      const { status, json } = await server.client().get(`${server.address}/readyz`)
      return [status, json.errors?.[0].detail]
    }
    await standby.stop('fast')
    const writing = write()
    const committing = () =>
      pair.query(`select from pg_stat_activity where wait_event = 'SyncRep' and query = 'commit'`)
    await expect.poll(committing, { timeout: 5_000 }).toHaveLength(1)
    const [first] = await Promise.all([writing, write(), write()])
    expect(first).toEqual([503, expect.stringMatching(/whether it was made is not known/)])
    const noChanges = [503, 'the database takes no changes at the moment']
    await expect.poll(readiness, { timeout: 20_000 }).toEqual(noChanges)
    for (let count = 0; count < 50; count++) expect(await write()).toEqual(noChanges)
    const waiting = await pair.query(`select from pg_stat_activity where wait_event = 'SyncRep'`)
    // Two writes of the organization, and the small write of a probe.
    expect(waiting.length).toBeLessThanOrEqual(3)
    expect((await owner.client.get(path)).status).toBe(200)
    await standby.start()
    await expect.poll(async () => (await readiness())[0], { timeout: 20_000 }).toBe(200)
    expect((await write())[0]).toBe(200)
    const named = /^commits wait for a synchronous standby of PostgreSQL/
    expect(lines.map(({ error }) => error?.message)).toContainEqual(expect.stringMatching(named))
  }, 120_000)
})
