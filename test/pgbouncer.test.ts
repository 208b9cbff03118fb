import { setTimeout as pause } from 'node:timers/promises'
import { describe, onTestFinished, test } from 'vitest'
import { engines } from './support/engines.ts'
import { NodesUnderLoad } from './support/nodes-under-load.ts'
import { randomFaults } from './support/outages.ts'
import { PgBouncer } from './support/pgbouncer.ts'
import { PostgresCluster } from './support/postgres-cluster.ts'
import { isLong } from './support/runs.ts'

const FAULTS = Number(process.env.PURSER_BOUNCES ?? (isLong ? 100 : 4))
const kinds = ['PgBouncer stops', 'stop fast', 'stop immediate', 'connections ended'] as const
type Kind = (typeof kinds)[number]

/** Resolves when all is repaired. */
async function inflict(kind: Kind, ms: number, bouncer: PgBouncer, cluster: PostgresCluster): Promise<void> {
  if (kind === 'connections ended') {
    await cluster.endBackends()
  } else if (kind === 'PgBouncer stops') {
    await bouncer.stop()
    await pause(ms)
    await bouncer.start()
  } else {
    await cluster.stop(kind === 'stop fast' ? 'fast' : 'immediate')
    await pause(ms)
    await cluster.start()
  }
}

describe.each(engines.filter((engine) => engine === 'postgres'))(
  'PgBouncer in session mode before %s',
  () => {
    test(
      `${FAULTS} faults of it and of the database under load: nothing acknowledged is lost`,
      async () => {
        const cluster = await PostgresCluster.start()
        onTestFinished(() => cluster.remove())
        const bouncer = await PgBouncer.start(cluster.port)
        onTestFinished(() => bouncer.remove())
        const nodes = await NodesUnderLoad.start(cluster.url(bouncer.port))
        await nodes.endure('faults behind PgBouncer', randomFaults(kinds, FAULTS), ({ kind, ms }) =>
          inflict(kind, ms, bouncer, cluster),
        )
      },
      isLong ? 3_600_000 : 120_000,
    )
  },
)
