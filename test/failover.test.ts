import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { engines } from './support/engines.ts'
import { Forwarder } from './support/forwarder.ts'
import { PostgresCluster } from './support/postgres-cluster.ts'
import { ServedCluster } from './support/served-cluster.ts'
import { body } from './support/world.ts'

/** A primary with a synchronous standby, and a server that reaches the primary by a name that can be moved. */
async function startBoth() {
  const primary = await PostgresCluster.start()
  onTestFinished(() => primary.remove())
  const standby = await primary.addSynchronousStandby()
  onTestFinished(() => standby.remove())
  const name = await Forwarder.start(primary.port)
  onTestFinished(() => name.close())
  return { primary, standby, name, served: await ServedCluster.start(primary.url(name.port)) }
}

describe.each(engines.filter((engine) => engine === 'postgres'))('a synchronous standby of %s', () => {
  test('takes over: nothing acknowledged is lost, and the server goes on', async () => {
    const { primary, standby, name, served } = await startBoth()
    await served.beginToWrite()
    await pause(1_000)
    await primary.stop('immediate')
    await standby.promote()
    name.target = standby.port
    await served.untilItServes()
    await served.endWriting()
  }, 120_000)

  test('may be away: reads go on, and writes are answered once it is back', async () => {
    const { standby, served } = await startBoth()
    const { client } = served
    const path = `/organizations/${await served.createOrganization()}/teams`
    await standby.stop('fast')
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
