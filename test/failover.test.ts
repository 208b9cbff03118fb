import { describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from './support/client.ts'
import { engines } from './support/engines.ts'
import { NodesUnderLoad } from './support/nodes-under-load.ts'
import { randomFaults } from './support/outages.ts'
import { isLong } from './support/runs.ts'
import { pairFaults, SynchronousPair } from './support/synchronous-pair.ts'
import { body } from './support/world.ts'

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
})
