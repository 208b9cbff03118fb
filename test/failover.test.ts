import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Client } from './support/client.ts'
import { TeamWriter } from './support/crash-teams.ts'
import { engines } from './support/engines.ts'
import { Forwarder } from './support/forwarder.ts'
import { OutageClient, PatientClient } from './support/outages.ts'
import { PostgresCluster } from './support/postgres-cluster.ts'
import { ADMIN_TOKEN, Purser, run, SECRET_KEY, temporaryFolder } from './support/purser.ts'
import { body, uniqueName } from './support/world.ts'

const PATIENCE_MS = 30_000

/** A primary with a synchronous standby, and a server that reaches the primary by a name that can be moved. */
async function startBoth() {
  const primary = await PostgresCluster.start()
  onTestFinished(() => primary.remove())
  const standby = await primary.addSynchronousStandby()
  onTestFinished(() => standby.remove())
  const name = await Forwarder.start(primary.port)
  onTestFinished(() => name.close())
  const settings = {
    PURSER_DATA: temporaryFolder(),
    PURSER_LISTEN: '127.0.0.1:0',
    PURSER_DATABASE_URL: primary.url(name.port),
    PURSER_SECRET_KEY: SECRET_KEY,
    PURSER_ADMIN_TOKEN: ADMIN_TOKEN,
    PURSER_LOG: 'error',
  }
  const node = new Purser(['serve'], settings)
  const address = await node.address()
  const client = new Client(address, ADMIN_TOKEN)
  const createOrganization = async () => {
    const organization = uniqueName('organization')
    const attributes = { name: organization, email: 'o@example.com' }
    expect((await client.post('/organizations', body('organizations', attributes))).status).toBe(201)
    return organization
  }
  return { primary, standby, name, settings, address, client, createOrganization }
}

describe.each(engines.filter((engine) => engine === 'postgres'))('a synchronous standby of %s', () => {
  test('takes over: nothing acknowledged is lost, and the server goes on', async () => {
    const { primary, standby, name, settings, address, client, createOrganization } = await startBoth()
    const writers = [new TeamWriter(await createOrganization()), new TeamWriter(await createOrganization())]
    const loaded = new OutageClient(address, ADMIN_TOKEN)
    const work = Promise.all(writers.map((writer) => writer.write(loaded)))
    await pause(1_000)

    await primary.stop('immediate')
    await standby.promote()
    name.target = standby.port
    const promoted = performance.now()
    const serves = async () => {
      const ready = await client.get(`${address}/readyz`)
      const made = await client.post(
        '/organizations',
        body('organizations', { name: uniqueName('after'), email: 'o@example.com' }),
      )
      expect([201, 503]).toContain(made.status)
      return ready.status === 200 && made.status === 201
    }
    while (!(await serves())) {
      expect(performance.now() - promoted).toBeLessThan(PATIENCE_MS)
      await pause(50)
    }
    loaded.end()
    await work
    expect(new Set(loaded.failures)).toBeOneOf([new Set(), new Set([503])])
    const patient = new PatientClient(address, ADMIN_TOKEN)
    for (const writer of writers) {
      await writer.check(patient)
      expect(writer.acknowledged).toBeGreaterThan(0)
    }
    expect(await run(['audit', 'verify'], settings)).toMatchObject({ code: 0, stderr: '' })
  }, 120_000)

  test('may be away: reads go on, and writes are answered once it is back', async () => {
    const { standby, client, createOrganization } = await startBoth()
    const organization = await createOrganization()
    await standby.stop('fast')
    const path = `/organizations/${organization}/teams`
    const writes = Array.from({ length: 12 }, (_, number) =>
      client.post(path, body('teams', { name: `team-${number}` })),
    )
    for (const end = performance.now() + 2_000; performance.now() < end;) {
      expect((await client.get(path)).json.meta.pagination['total-count']).toBe(1)
    }
    await standby.start()
    const answers = await Promise.all(writes)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await client.get(path)).json.meta.pagination['total-count']).toBe(13)
  }, 120_000)
})
