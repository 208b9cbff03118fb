// Records what eight callers do to workspaces on several nodes, and has the Go module `linearizability` judge it.
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Forwarder } from '../test/support/forwarder.ts'
import { inflict, randomOutages } from '../test/support/outages.ts'
import { PostgresCluster } from '../test/support/postgres-cluster.ts'
import { runGoTests, type Tally } from './go.ts'
import { createCallers } from './openapi/world.ts'
import { startPurser, type Purser } from './server.ts'

/** `PURSER_HISTORIES=1000 npm run conformance -- Histor` is the long mode: a million operations. */
const WORKSPACES = Number(process.env['PURSER_HISTORIES'] ?? 8)
const SEED = Number(process.env['PURSER_HISTORY_SEED'] ?? 20_261_124)
const CALLERS = 8
const IS_LONG = WORKSPACES > 8
/** Between two outages. The long mode would else spend most of its time without a database. */
const PAUSE_MS = IS_LONG ? 3_000 : 1_000
const MAX_OUTAGES = 100_000

async function judge(nodes: readonly Purser[], token: string, patterns: string[]): Promise<Tally> {
  const addresses = nodes.map(({ address }) => address)
  const world = await createCallers(addresses[0] as string, token, CALLERS)
  const environment = {
    ...process.env,
    PURSER_ADDRESSES: addresses.join(','),
    PURSER_TOKEN: token,
    PURSER_ORGANIZATION: world.organization,
    PURSER_CALLERS: world.tokens.join(','),
    PURSER_WORKSPACES: String(WORKSPACES),
    PURSER_HISTORY_SEED: String(SEED),
    // Go ends a test after 10 minutes unless it is told otherwise.
    ...(IS_LONG && { GOFLAGS: '-timeout=6h' }),
  }
  return runGoTests('linearizability', environment, 'current', patterns)
}

export async function judgeOnSqlite(token: string, patterns: string[]): Promise<Tally> {
  const node = await startPurser({ PURSER_ADMIN_TOKEN: token })
  try {
    return await judge([node], token, patterns)
  } finally {
    await node.stop()
  }
}

/** Two nodes, whose database is stopped, hung and cut off meanwhile. */
export async function judgeOnPostgres(token: string, patterns: string[]): Promise<Tally> {
  const cluster = await PostgresCluster.start()
  const forwarder = await Forwarder.start(cluster.port)
  const settings = {
    PURSER_ADMIN_TOKEN: token,
    PURSER_DATABASE_URL: cluster.url(forwarder.port),
    PURSER_SECRET_KEY: randomBytes(32).toString('hex'),
    PURSER_LOG: 'error',
  }
  const nodes: Purser[] = []
  try {
    for (const _ of [1, 2]) nodes.push(await startPurser(settings))
    let isJudged = false
    const judging = judge(nodes, token, patterns).finally(() => (isJudged = true))
    let count = 0
    for (const outage of randomOutages(MAX_OUTAGES, SEED)) {
      // The callers must be there first, and later there must be time to work in between.
      await Promise.race([
        judging,
        delay(count === 0 ? 10_000 : PAUSE_MS + outage.afterMs, undefined, { ref: false }),
      ])
      if (isJudged) break
      await inflict(outage, cluster, forwarder)
      count += 1
    }
    const tally = await judging
    process.stdout.write(`conformance: ${count} outages, PURSER_HISTORY_SEED=${SEED}\n`)
    if (tally.failed > 0) {
      // The servers log errors only, and the answer of a failure names its request.
      for (const node of nodes)
        process.stdout.write(`conformance: what ${node.address} logged:\n${node.tail()}\n`)
    }
    return tally
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
    await forwarder.close()
    await cluster.remove()
  }
}
