// npm run scaling [-- --engine postgres] [--most 10000]: how the cost of requests grows with the data. Writes
// docs/scaling.md and its figures, for one engine. With --only TABLE (such as 'teams of a person') it measures one table,
// prints it, and writes nothing.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { AuditKey } from '../src/audit/audit-links.ts'
import { systemClock } from '../src/core/clock.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open.ts'
import { learnTables } from '../src/database/portable.ts'
import { makeFirstUser } from '../src/first-start.ts'
import { median } from './bench.ts'
import { Child, pinSelf } from './child.ts'
import { configOf, engineOf, secretKey } from './engine.ts'
import type { Job, JobResult } from './load.ts'
import { Purser } from './purser.ts'
import { dimensions, type Asked, type Dimension } from './scaling-dimensions.ts'
import { writeScaling, type Series } from './scaling-report.ts'

const { values: options } = parseArgs({
  options: {
    engine: { type: 'string', default: 'sqlite' },
    most: { type: 'string', default: '1000000' },
    only: { type: 'string' },
  },
})
const engine = engineOf(options.engine)
const most = Number(options.most)
const chosen = dimensions.filter(({ name }) => options.only === undefined || name === options.only)
if (chosen.length === 0) throw new Error(`--only is one of: ${dimensions.map(({ name }) => name).join(', ')}`)
const WARM_UP_MS = 400
/** The sizes of a row are measured in turns, so that a machine whose speed changes shows no growth. */
const ROUNDS = 3
const MEASURED_MS = 400

// More than the default allows.
process.env['PURSER_MAX_TEAMS'] = '10000000'
process.env['PURSER_MAX_WORKSPACES'] = '10000000'
process.env['PURSER_MAX_MEMBERS'] = '10000000'

type Prepared = { readonly size: number; readonly ask: (purser: Purser) => Promise<Asked[]> }
type Sized = Asked & { readonly size: number }
type Point = Series['points'][number]
type Bounded = { readonly requests: readonly string[] } & Pick<Job, 'durationMs' | 'count'>

const folder = mkdtempSync(join(tmpdir(), 'purser-scaling-'))
const series: Series[] = []
const children: { stop: () => Promise<void> }[] = []
try {
  pinSelf()
  const { database, withConnection } = await openDatabase(configOf(engine, folder))
  await withConnection(migrate)
  await makeFirstUser(database, systemClock, new AuditKey(Buffer.from(secretKey, 'hex')), undefined)
  const prepared = new Map<Dimension, Prepared[]>()
  for (const dimension of chosen) {
    const made: Prepared[] = []
    for (const size of dimension.sizes.filter((each) => each <= most)) {
      made.push({ size, ask: await dimension.make(database, size) })
      console.log(`${dimension.name} ${size}: made`)
    }
    prepared.set(dimension, made)
  }
  // PostgreSQL does this by itself, after some time.
  await withConnection((db) => learnTables(db, engine))
  await database.close()

  const load = new Child(fileURLToPath(new URL('load.ts', import.meta.url)), 'load')
  children.push(load)
  const purser = await Purser.start(engine, folder)
  children.push(purser)
  for (const [dimension, made] of prepared) {
    const asked: Sized[] = []
    const atOnce: (Point & { what: string })[] = []
    for (const { size, ask } of made) {
      for (const each of await ask(purser)) {
        const sized = { ...each, size }
        asked.push(sized)
        // The names of one organization may displace those of another, so these take no turns.
        const points = each.growth === 'more' ? await measure(load, purser, [sized]) : []
        for (const point of points) atOnce.push({ ...point, what: each.what })
      }
    }
    for (const [what, sized] of Map.groupBy(asked, (each) => each.what)) {
      const known = atOnce.filter((each) => each.what === what)
      const points = known.length > 0 ? known : await measure(load, purser, sized)
      console.log(`${dimension.name}: ${what}: ${points.map(({ ms }) => ms.toFixed(3)).join(' ')} ms`)
      series.push({ dimension: dimension.name, what, growth: sized[0]?.growth ?? 'constant', points })
    }
  }
} finally {
  for (const child of children.toReversed()) await child.stop()
  rmSync(folder, { recursive: true, force: true })
}
if (options.only === undefined) {
  writeScaling(fileURLToPath(new URL('../docs', import.meta.url)), engine, series, most)
}

/** The median latency over one connection for each size, in milliseconds: the median of the rounds. */
async function measure(load: Child, purser: Purser, sized: readonly Sized[]): Promise<Point[]> {
  const rounds = sized.map((): number[] => [])
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [place, { requests, status = '200' }] of sized.entries()) {
      const isRepeatable = requests.length === 1
      if (isRepeatable && round === 0)
        await latencyOf(load, purser, status, { requests, durationMs: WARM_UP_MS })
      const ms = await latencyOf(
        load,
        purser,
        status,
        isRepeatable ? { requests, durationMs: MEASURED_MS } : shareOf(requests, round),
      )
      rounds[place]?.push(ms)
    }
  }
  return sized.map(({ size }, place) => ({ size, ms: median(rounds[place] ?? []) }))
}

/** The requests of one round, each of which is sent once. */
function shareOf(requests: readonly string[], round: number): Bounded {
  const share = Math.floor(requests.length / ROUNDS)
  return { requests: requests.slice(round * share, (round + 1) * share), count: share }
}

async function latencyOf(
  load: Child,
  purser: Purser,
  status: string,
  { requests, ...bound }: Bounded,
): Promise<number> {
  const { statuses, latencies } = await load.ask<JobResult>('run', {
    port: purser.port,
    connections: 1,
    requests: [...requests],
    maySleep: engine === 'postgres',
    ...bound,
  } satisfies Job)
  const others = Object.keys(statuses).filter((other) => other !== status)
  if (others.length > 0) throw new Error(`answers were ${JSON.stringify(statuses)}: ${requests[0]}`)
  return latencies[0]?.p50 ?? Number.NaN
}
