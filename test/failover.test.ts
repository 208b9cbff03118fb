import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from './support/client.ts'
import { engines } from './support/engines.ts'
import { Forwarder } from './support/forwarder.ts'
import { NodesUnderLoad } from './support/nodes-under-load.ts'
import { randomFaults } from './support/outages.ts'
import { PostgresCluster } from './support/postgres-cluster.ts'
import { isLong } from './support/runs.ts'
import { body } from './support/world.ts'

const FAULTS = Number(process.env.PURSER_FAILOVERS ?? (isLong ? 60 : 4))
const kinds = ['primary stops', 'primary is killed', 'primary hangs', 'standby is away'] as const
type Kind = (typeof kinds)[number]

/** A primary with a synchronous standby. Purser reaches the primary by a name that can be moved to the standby. */
class Pair {
  #primary: PostgresCluster
  standby: PostgresCluster
  readonly #name: Forwarder

  private constructor(primary: PostgresCluster, standby: PostgresCluster, name: Forwarder) {
    this.#primary = primary
    this.standby = standby
    this.#name = name
  }

  static async start(): Promise<Pair> {
    const primary = await PostgresCluster.start()
    const pair = new Pair(primary, await primary.addSynchronousStandby(), await Forwarder.start(primary.port))
    onTestFinished(async () => {
      await pair.#name.close()
      await pair.#primary.remove()
      await pair.standby.remove()
    })
    return pair
  }

  get url(): string {
    return this.#primary.url(this.#name.port)
  }

  /** Resolves when there is a primary to write to. */
  async inflict(kind: Kind, ms: number): Promise<void> {
    if (kind === 'standby is away') {
      await this.standby.stop('fast')
      await pause(ms)
      await this.standby.start()
      return
    }
    if (kind === 'primary hangs') this.#primary.hang()
    else await this.#primary.stop(kind === 'primary stops' ? 'fast' : 'immediate')
    await this.standby.promote()
    this.#name.target = this.standby.port
  }

  /** Gives a standby that took over a standby of its own. */
  async replace(): Promise<void> {
    await this.#primary.remove()
    this.#primary = this.standby
    this.standby = await this.#primary.addSynchronousStandby()
  }
}

describe.each(engines.filter((engine) => engine === 'postgres'))('a synchronous standby of %s', () => {
  test(
    `${FAULTS} faults of primary and standby under load: nothing acknowledged is lost, and both nodes go on`,
    async () => {
      const pair = await Pair.start()
      const nodes = await NodesUnderLoad.start(pair.url)
      await nodes.endure(
        'faults of primary and standby',
        randomFaults(kinds, FAULTS),
        ({ kind, ms }) => pair.inflict(kind, ms),
        ({ kind }) => (kind === 'standby is away' ? Promise.resolve() : pair.replace()),
      )
    },
    isLong ? 3_600_000 : 180_000,
  )

  test('may be away: reads go on, and writes are answered once it is back', async () => {
    const { standby, url } = await Pair.start()
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
