import pino from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from './support/client.ts'
import { engines } from './support/engines.ts'
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

describe.each(engines.filter((engine) => engine === 'postgres'))('a synchronous standby of %s', () => {
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
    const lines: { error?: { message: string } }[] = []
    const serializers = { error: ({ message }: Error) => ({ message }) }
    const log = pino({ level: 'warn', serializers }, { write: (line) => void lines.push(JSON.parse(line)) })
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
