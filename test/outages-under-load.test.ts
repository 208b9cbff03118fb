import { describe, onTestFinished, test } from 'vitest'
import { onlyPostgres } from './support/engines.ts'
import { Forwarder } from './support/forwarder.ts'
import { NodesUnderLoad } from './support/nodes-under-load.ts'
import { inflict, randomOutages } from './support/outages.ts'
import { PostgresCluster } from './support/postgres-cluster.ts'
import { isLong } from './support/runs.ts'

const OUTAGES = Number(process.env.PURSER_OUTAGES ?? (isLong ? 500 : 12))

describe.each(onlyPostgres)('two nodes on one %s', () => {
  test(
    `${OUTAGES} outages under load: nothing acknowledged is lost, nothing is 500, every node serves again`,
    async () => {
      const cluster = await PostgresCluster.start()
      onTestFinished(() => cluster.remove())
      const forwarder = await Forwarder.start(cluster.port)
      onTestFinished(() => forwarder.close())
      const nodes = await NodesUnderLoad.start(cluster.url(forwarder.port))
      await nodes.endure('outages', randomOutages(OUTAGES), (outage) => inflict(outage, cluster, forwarder))
    },
    isLong ? 4 * 3_600_000 : 180_000,
  )
})
