import pino from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { auditRetention } from '../src/audit/audit-retention.ts'
import { readConfig } from '../src/config.ts'
import { examine } from '../src/operation/doctor.ts'
import { StateSweep } from '../src/state-content/state-sweep.ts'
import { findStateVersion } from '../src/state-versions/state-version-store.ts'
import { engines } from './support/engines.ts'
import { startServer, type TestServer } from './support/server.ts'
import { base64, lock, postState, stateText } from './support/states.ts'
import { createTestOrganization, createWorkspace, type TestOrganization } from './support/world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const DAYS = 10

describe.each(engines)('a clock that jumps, on %s', (engine) => {
  let server: TestServer
  let organization: TestOrganization
  let lines: { level: number; msg: string }[]
  const log = pino({ level: 'info' }, {
    write: (line: string) => void lines.push(JSON.parse(line)),
  } as pino.DestinationStream)
  beforeAll(async () => {
    lines = []
    server = await startServer(engine, { deletedStateDays: String(DAYS), refusalDays: String(DAYS) }, log)
    organization = await createTestOrganization(server)
  })
  beforeEach(async () => {
    await server.passTime(0)
    await look()
    lines = []
  })
  afterAll(() => server.stop())

  /** Runs the periodic work of a server, each time with new objects, as after a restart. */
  const look = async () => {
    const { database, config, clock, auditKey, refusals } = server.app.deps
    await new StateSweep(database, config, clock, log).sweep()
    const retention = auditRetention(database, auditKey, clock, log, DAYS)
    await retention.run()
    await retention.stop()
    await refusals.prune()
  }
  /** Creates a state with soft-deleted content, a pending upload, a refusal, and events. */
  const makeOld = async () => {
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    const ids: string[] = []
    for (const serial of [1, 2]) {
      const state = stateText('{}', serial)
      const made = await postState(client, workspaceId, state, { state: base64(state) })
      expect(made.status, made.text).toBe(201)
      ids.push(made.json.data.id)
    }
    expect((await client.post(`/state-versions/${ids[0]}/actions/soft_delete_backing_data`)).status).toBe(200)
    const awaited = await postState(client, workspaceId, stateText('{}', 3))
    expect((await client.get(`/organizations/${organization.name}/workspaces/missing`)).status).toBe(404)
    await server.app.deps.refusals.flush()
    return { deleted: ids[0] as string, awaited: awaited.json.data.id as string, workspaceId }
  }
  const leftOf = async ({ deleted, awaited, workspaceId }: Awaited<ReturnType<typeof makeOld>>) =>
    server.app.deps.database.read(async (tx) => ({
      deleted: (await findStateVersion(tx, deleted))?.status,
      awaited: (await findStateVersion(tx, awaited))?.status,
      events: (
        await tx.db
          .selectFrom('audit_events')
          .where('resource_id', '=', workspaceId)
          .select('number')
          .execute()
      ).length,
      refusals: (await tx.db.selectFrom('refusals').select('number').limit(1).execute()).length,
    }))
  const warnings = () => lines.filter(({ level }) => level >= 40).map(({ msg }) => msg)
  const doctor = async () => {
    const url = server.databaseUrl === undefined ? {} : { databaseUrl: server.databaseUrl }
    const config = readConfig({ data: server.folder, secretKey: '00'.repeat(32), ...url }, {})
    return (await examine(config, {}, server.clock)).find(({ check }) => check === 'clock')
  }

  test('far ahead deletes nothing for good; it is noticed, said, and forgotten when it is corrected', async () => {
    const old = await makeOld()
    const before = await leftOf(old)
    expect(before).toMatchObject({ deleted: 'backing_data_soft_deleted', awaited: 'pending', refusals: 1 })
    expect(await doctor()).toMatchObject({ result: 'good' })
    await server.jumpTime(60 * DAY_MS)
    expect(await doctor()).toMatchObject({ result: 'note' })
    for (let hour = 0; hour < 23; hour++) {
      await look()
      await server.jumpTime(50 * MINUTE_MS)
    }
    expect(await leftOf(old)).toEqual(before)
    expect(warnings()).toEqual([expect.stringContaining('the clock is ahead')])
    const said = await doctor()
    expect(said).toMatchObject({ result: 'note', detail: expect.stringContaining('1440 h ahead') })
    await server.jumpTime(-60 * DAY_MS)
    await look()
    expect(await doctor()).toMatchObject({ result: 'good' })
    expect(await leftOf(old)).toEqual(before)
    // A second jump must be doubted like the first.
    await server.jumpTime(60 * DAY_MS)
    await look()
    expect(await leftOf(old)).toEqual(before)
    expect(warnings()).toHaveLength(2)
    await server.jumpTime(-60 * DAY_MS)
  }, 120_000)

  test('is believed once a server has seen it run for a day', async () => {
    const old = await makeOld()
    await server.jumpTime(60 * DAY_MS)
    for (let looks = 0; looks < 30; looks++) {
      await look()
      await server.jumpTime(50 * MINUTE_MS)
    }
    await look()
    expect(await leftOf(old)).toEqual({
      deleted: 'backing_data_permanently_deleted',
      awaited: 'discarded',
      events: 0,
      refusals: 0,
    })
    expect(warnings()).toHaveLength(1)
    expect(await doctor()).toMatchObject({ result: 'good' })
  }, 120_000)

  test('again and again is never believed', async () => {
    const old = await makeOld()
    const before = await leftOf(old)
    for (let jump = 0; jump < 30; jump++) {
      await server.jumpTime(2 * HOUR_MS)
      await look()
    }
    expect(await leftOf(old)).toEqual(before)
    for (let jump = 0; jump < 15; jump++) {
      await server.jumpTime(4 * HOUR_MS * (jump % 2 === 0 ? -1 : 1))
      await look()
    }
    expect(await leftOf(old)).toEqual(before)
  }, 120_000)

  test('each night, as where a server runs by day alone, lets things grow old in the hours that it runs', async () => {
    const old = await makeOld()
    for (let hours = 0; hours < 40 && (await leftOf(old)).awaited === 'pending'; hours++) {
      if (hours % 8 === 7) await server.jumpTime(16 * HOUR_MS)
      await look()
      await server.jumpTime(55 * MINUTE_MS)
      if (hours === 20) expect((await leftOf(old)).awaited).toBe('pending')
    }
    expect((await leftOf(old)).awaited).toBe('discarded')
    expect(await doctor()).toMatchObject({ result: 'note' })
  }, 120_000)
})
