import { setTimeout as pause } from 'node:timers/promises'
import { describe, onTestFinished, test } from 'vitest'
import { engines } from './support/engines.ts'
import { PgBouncer } from './support/pgbouncer.ts'
import { PostgresCluster } from './support/postgres-cluster.ts'
import { ServedCluster } from './support/served-cluster.ts'

describe.each(engines.filter((engine) => engine === 'postgres'))(
  'PgBouncer in session mode before %s',
  () => {
    test('and the database behind it may restart: nothing acknowledged is lost', async () => {
      const cluster = await PostgresCluster.start()
      onTestFinished(() => cluster.remove())
      const bouncer = await PgBouncer.start(cluster.port)
      onTestFinished(() => bouncer.remove())
      const served = await ServedCluster.start(cluster.url(bouncer.port))
      await served.beginToWrite()
      await pause(500)

      await bouncer.stop()
      await pause(500)
      await bouncer.start()
      await served.untilItServes()

      for (const mode of ['fast', 'immediate'] as const) {
        await cluster.stop(mode)
        await pause(500)
        await cluster.start()
        await served.untilItServes()
      }
      await cluster.endBackends()
      await served.untilItServes()
      await served.endWriting()
    }, 120_000)
  },
)
