import { setTimeout as pause } from 'node:timers/promises'
import * as fc from 'fast-check'
import type { Forwarder } from './forwarder.ts'
import type { PostgresCluster } from './postgres-cluster.ts'
import { Client, type Response } from './client.ts'
import { isLong } from './runs.ts'

/** Much longer than a few writes take, also on a busy machine. */
const CUT_PATIENCE_MS = 60_000

/** Outages of the database. Each function resolves when the database is repaired. */
const outages = {
  'stop fast': async (cluster: PostgresCluster, _: Forwarder, ms: number) => {
    await cluster.stop('fast')
    await pause(ms)
    await cluster.start()
  },
  'stop immediate': async (cluster: PostgresCluster, _: Forwarder, ms: number) => {
    await cluster.stop('immediate')
    await pause(ms)
    await cluster.start()
  },
  hang: async (cluster: PostgresCluster, _: Forwarder, ms: number) => {
    cluster.hang()
    await pause(ms)
    cluster.goOn()
  },
  'some connections ended': (cluster: PostgresCluster) => cluster.endBackends(0.5),
  'connections cut': async (_: PostgresCluster, forwarder: Forwarder) => forwarder.cut(),
  'some connections cut': async (_: PostgresCluster, forwarder: Forwarder) => forwarder.cut(0.5),
  'network swallows': async (_: PostgresCluster, forwarder: Forwarder, ms: number) => {
    forwarder.swallow()
    await pause(ms)
    forwarder.heal()
  },
  'connections swallowed': async (_: PostgresCluster, forwarder: Forwarder) => {
    forwarder.swallow()
    forwarder.heal()
  },
  'connections used up': (cluster: PostgresCluster, _: Forwarder, ms: number) => cluster.useUpConnections(ms),
  'commits fail': (cluster: PostgresCluster, _: Forwarder, ms: number) => cluster.failCommits(ms),
  'cut before a commit': (_: PostgresCluster, forwarder: Forwarder, _ms: number, workEnded?: AbortSignal) =>
    atCommit(forwarder, 'before', workEnded),
  'cut after a commit': (_: PostgresCluster, forwarder: Forwarder, _ms: number, workEnded?: AbortSignal) =>
    atCommit(forwarder, 'after', workEnded),
}

/** @param workEnded fires when nobody writes any more, so that there may be no commit to cut */
async function atCommit(
  forwarder: Forwarder,
  when: 'before' | 'after',
  workEnded: AbortSignal | undefined,
): Promise<void> {
  forwarder.cutAtCommit(5, when)
  const end = performance.now() + CUT_PATIENCE_MS
  while (!forwarder.hasCut) {
    if (workEnded?.aborted === true) return
    if (performance.now() > end) throw new Error(`no connection was cut ${when} a commit: no write came`)
    await pause(20)
  }
}

/** What goes away: `afterMs` after the load began, for `ms`. */
export type Fault<Kind extends string> = { kind: Kind; afterMs: number; ms: number }
export type Outage = Fault<keyof typeof outages>

/** `PURSER_OUTAGE_SEED=…` repeats the faults of a failed run. */
export const OUTAGE_SEED = Number(
  process.env['PURSER_OUTAGE_SEED'] ?? (isLong ? Date.now() % 1_000_000 : 20_261_122),
)

/** About the same number of each kind. The seed decides order and times. */
export function randomFaults<Kind extends string>(
  kinds: readonly Kind[],
  count: number,
  seed = OUTAGE_SEED,
): Fault<Kind>[] {
  const times = fc.record({
    afterMs: fc.integer({ min: 20, max: 300 }),
    ms: fc.integer({ min: 50, max: 3_000 }),
  })
  const round = fc.tuple(
    fc.shuffledSubarray([...kinds], { minLength: kinds.length }),
    fc.array(times, { minLength: kinds.length }),
  )
  return fc
    .sample(round, { numRuns: Math.ceil(count / kinds.length), seed })
    .flatMap(([shuffled, rounds]) =>
      shuffled.map((kind, n) => ({ kind, ...(rounds[n] as (typeof rounds)[number]) })),
    )
    .slice(0, count)
}

export function randomOutages(count: number, seed?: number): Outage[] {
  return randomFaults(Object.keys(outages) as Outage['kind'][], count, seed)
}

export async function inflict(
  outage: Outage,
  cluster: PostgresCluster,
  forwarder: Forwarder,
  workEnded?: AbortSignal,
): Promise<void> {
  await outages[outage.kind](cluster, forwarder, outage.ms, workEnded)
}

/** Retries requests that are answered 503, like clients do. */
export class PatientClient extends Client {
  override async request(...request: Parameters<Client['request']>): Promise<Response> {
    for (let tries = 1; ; tries++) {
      const response = await super.request(...request)
      if (response.status !== 503 || tries === 20) return response
      await pause(200)
    }
  }
}

/** For the writers of the crash tests. It reports a 503 as a broken connection, because both leave the outcome open. */
export class OutageClient extends Client {
  #isOver = false
  /** The status of every answer of 500 or above. */
  readonly failures: number[] = []

  /** From now on every request fails before it is sent. */
  end(): void {
    this.#isOver = true
  }

  override async request(...request: Parameters<Client['request']>): Promise<Response> {
    if (this.#isOver) throw new TypeError('no more requests')
    const response = await super.request(...request)
    if (response.status >= 500) {
      this.failures.push(response.status)
      throw new TypeError(`answered ${response.status}`)
    }
    return response
  }
}
