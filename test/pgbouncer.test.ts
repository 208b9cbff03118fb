import { describe, onTestFinished, test } from 'vitest'
import { onlyPostgres } from './support/engines.ts'
import { NodesUnderLoad } from './support/nodes-under-load.ts'
import { randomFaults } from './support/outages.ts'
import { bouncerFaults, PgBouncer } from './support/pgbouncer.ts'
import { PostgresCluster } from './support/postgres-cluster.ts'
import { isLong } from './support/runs.ts'

const FAULTS = Number(process.env.PURSER_BOUNCES ?? (isLong ? 100 : 4))
describe.each(onlyPostgres)('PgBouncer in session mode before %s', () => {
  test(
    `${FAULTS} faults of it and of the database under load: nothing acknowledged is lost`,
    async () => {
      const cluster = await PostgresCluster.start()
      onTestFinished(() => cluster.remove())
      const bouncer = await PgBouncer.start(cluster.port)
      onTestFinished(() => bouncer.remove())
      const nodes = await NodesUnderLoad.start(cluster.url(bouncer.port))
      await nodes.endure('faults behind PgBouncer', randomFaults(bouncerFaults, FAULTS), ({ kind, ms }) =>
        bouncer.inflict(kind, ms, cluster),
      )
    },
    isLong ? 3_600_000 : 120_000,
  )
})
