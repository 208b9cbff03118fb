// Records what eight callers do to workspaces on several nodes, and has the Go module `linearizability` judge it.
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Forwarder } from '../test/support/forwarder.ts'
import { keysOf } from '../src/core/keys.ts'
import { inflict, randomFaults, randomOutages } from '../test/support/outages.ts'
import { bouncerFaults, PgBouncer } from '../test/support/pgbouncer.ts'
import { pairFaults, SynchronousPair } from '../test/support/synchronous-pair.ts'
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
const MAX_FAULTS = 10_000

/** @param onBegin is called when the callers are there */
async function judge(
  nodes: readonly Purser[],
  token: string,
  patterns: string[],
  workspaces = WORKSPACES,
  onBegin = () => {},
): Promise<Tally> {
  const addresses = nodes.map(({ address }) => address)
  const world = await createCallers(addresses[0] as string, token, CALLERS)
  const environment = {
    ...process.env,
    PURSER_ADDRESSES: addresses.join(','),
    PURSER_TOKEN: token,
    PURSER_ORGANIZATION: world.organization,
    PURSER_CALLERS: world.tokens.join(','),
    PURSER_WORKSPACES: String(workspaces),
    PURSER_HISTORY_SEED: String(SEED),
    // Go ends a test after 10 minutes unless it is told otherwise.
    ...(IS_LONG && { GOFLAGS: '-timeout=6h' }),
  }
  onBegin()
  return runGoTests('linearizability', environment, 'current', patterns)
}

export async function judgeOnSqlite(token: string, patterns: string[]): Promise<Tally> {
  const node = await startPurser({ PURSER_ADMIN_TOKEN: token, PURSER_MAX_WRITES_PER_MINUTE: '10000000' })
  try {
    return await judge([node], token, patterns)
  } finally {
    await node.stop()
  }
}

/** A database, and what happens to it while the nodes work. */
type Place = {
  readonly url: string
  /** `inflict` resolves when all is repaired. The signal fires when the history is judged. */
  readonly faults: readonly {
    readonly afterMs: number
    readonly inflict: (judged: AbortSignal) => Promise<void>
  }[]
  readonly remove: () => Promise<void>
}

/** A database that is stopped, hung and cut off. */
async function withOutages(): Promise<Place> {
  const cluster = await PostgresCluster.start()
  const forwarder = await Forwarder.start(cluster.port)
  return {
    url: cluster.url(forwarder.port),
    faults: randomOutages(MAX_FAULTS, SEED).map((outage) => ({
      afterMs: outage.afterMs,
      inflict: (judged) => inflict(outage, cluster, forwarder, judged),
    })),
    remove: async () => {
      await forwarder.close()
      await cluster.remove()
    },
  }
}

/** A primary whose synchronous standby takes over or is away. */
async function withFailovers(): Promise<Place> {
  const pair = await SynchronousPair.start()
  return {
    url: pair.url,
    faults: randomFaults(pairFaults, MAX_FAULTS, SEED).map(({ kind, ms, afterMs }) => ({
      afterMs,
      inflict: async () => {
        await pair.inflict(kind, ms)
        // A primary that hangs keeps its connections open meanwhile.
        await delay(ms)
        await pair.repair(kind)
      },
    })),
    remove: () => pair.remove(),
  }
}

/** PgBouncer in session mode, which is stopped, as is the database behind it. */
async function behindPgBouncer(): Promise<Place> {
  const cluster = await PostgresCluster.start()
  const bouncer = await PgBouncer.start(cluster.port)
  return {
    url: cluster.url(bouncer.port),
    faults: randomFaults(bouncerFaults, MAX_FAULTS, SEED).map(({ kind, ms, afterMs }) => ({
      afterMs,
      inflict: () => bouncer.inflict(kind, ms, cluster),
    })),
    remove: async () => {
      await bouncer.remove()
      await cluster.remove()
    },
  }
}

const places = { outages: withOutages, failovers: withFailovers, PgBouncer: behindPgBouncer }

/** What happens to the database of the nodes. */
export const faultyPlaces = keysOf(places)

/** Two nodes on PostgreSQL, which fails meanwhile. */
export async function judgeOnPostgres(
  token: string,
  patterns: string[],
  kind: keyof typeof places,
): Promise<Tally> {
  const place = await places[kind]()
  const settings = {
    PURSER_ADMIN_TOKEN: token,
    PURSER_MAX_WRITES_PER_MINUTE: '10000000',
    PURSER_DATABASE_URL: place.url,
    PURSER_SECRET_KEY: randomBytes(32).toString('hex'),
    PURSER_LOG: 'error',
  }
  const workspaces = kind === 'outages' ? WORKSPACES : Math.ceil(WORKSPACES / 2)
  const nodes: Purser[] = []
  try {
    for (const _ of [1, 2]) nodes.push(await startPurser(settings))
    const judged = new AbortController()
    const { promise: begun, resolve: onBegin } = Promise.withResolvers<void>()
    const judging = judge(nodes, token, patterns, workspaces, onBegin).finally(() => judged.abort())
    await Promise.race([judging, begun])
    let count = 0
    for (const { afterMs, inflict: inflictOne } of place.faults) {
      // There must be time to work in between.
      await Promise.race([judging, delay(PAUSE_MS + afterMs, undefined, { ref: false })])
      if (judged.signal.aborted) break
      await inflictOne(judged.signal)
      count += 1
    }
    const tally = await judging
    process.stdout.write(`conformance: ${count} faults, PURSER_HISTORY_SEED=${SEED}\n`)
    if (tally.failed > 0) {
      // The servers log errors only, and the answer of a failure names its request.
      for (const node of nodes)
        process.stdout.write(`conformance: what ${node.address} logged:\n${node.tail()}\n`)
    }
    return tally
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
    await place.remove()
  }
}
