// npm run scaling [-- --engine postgres] [--most 10000]: how the cost of requests grows with the data. Writes
// docs/internals/scaling.md and its figures, for one engine. With --only TABLE (such as 'teams of a person') it measures one table,
// prints it, and writes nothing.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { AuditKey } from '../src/audit/audit-links.ts'
import { systemClock } from '../src/core/clock.ts'
import { makeLaterIndexes } from '../src/database/later-indexes.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open.ts'
import { learnTables } from '../src/database/portable.ts'
import { makeFirstUser } from '../src/first-start.ts'
import { median } from './bench.ts'
import { Child, pinSelf } from './child.ts'
import { configOf, engineOf, secretKey } from './engine.ts'
import type { Job, JobResult } from './load.ts'
import { Purser } from './purser.ts'
import type { Asked, Dimension } from './scaling-asked.ts'
import { dimensions } from './scaling-dimensions.ts'
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
process.env['PURSER_MAX_PROJECTS'] = '1000000'
process.env['PURSER_STATE_VERSIONS_KEPT'] = '100000'

type Wanted = { readonly dimension: Dimension; readonly size: number }
type Prepared = Wanted & { readonly ask: (purser: Purser) => Promise<Asked[]> }
type Sized = Asked & { readonly size: number }
type Asking = { readonly asked: Sized; readonly ms: number }
type Point = Series['points'][number]
type Bounded = { readonly requests: readonly string[] } & Pick<Job, 'durationMs' | 'count'>

const folder = mkdtempSync(join(tmpdir(), 'purser-scaling-'))
const series: Series[] = []
/** The first line of each request. */
const sent: string[] = []
const isOfSite = (dimension: Dimension) => dimension.isOfSite === true
const load = new Child(fileURLToPath(new URL('load.ts', import.meta.url)), 'load')
try {
  pinSelf()
  // First, because the lists of the site have the organizations of all other tables, too.
  for (const dimension of chosen.filter(isOfSite)) {
    const points: Asking[] = []
    for (const size of dimension.sizes.filter((each) => each <= most)) {
      const made = await make([{ dimension, size }])
      points.push(...(await withPurser((purser) => askAtOnce(purser, made))))
    }
    note(dimension, points)
  }
  const others = chosen.filter((dimension) => !isOfSite(dimension))
  const made = await make(
    others.flatMap((dimension) =>
      dimension.sizes.filter((size) => size <= most).map((size) => ({ dimension, size })),
    ),
  )
  await withPurser(async (purser) => {
    for (const [dimension, some] of Map.groupBy(made, (each) => each.dimension)) {
      note(dimension, await askInTurns(purser, some))
    }
  })
} finally {
  await load.stop()
  rmSync(folder, { recursive: true, force: true })
}
if (options.only === undefined) {
  const placeOf = (name: string) => dimensions.findIndex((dimension) => dimension.name === name)
  const ordered = series.toSorted((one, other) => placeOf(one.dimension) - placeOf(other.dimension))
  writeScaling(fileURLToPath(new URL('../docs', import.meta.url)), engine, {
    series: ordered,
    most,
    sent,
  })
}

/** Makes the data of some sizes, before a server starts. */
async function make(wanted: readonly Wanted[]): Promise<Prepared[]> {
  const { database, withConnection } = await openDatabase(configOf(engine, folder))
  await withConnection(migrate)
  await withConnection(makeLaterIndexes)
  await makeFirstUser(database, systemClock, new AuditKey(Buffer.from(secretKey, 'hex')), {
    token: undefined,
  })
  const made: Prepared[] = []
  for (const { dimension, size } of wanted) {
    made.push({ dimension, size, ask: await dimension.make(database, size) })
    console.log(`${dimension.name} ${size}: made`)
  }
  // PostgreSQL does this by itself, after some time.
  await withConnection((db) => learnTables(db, engine))
  await database.close()
  return made
}

async function withPurser<T>(work: (purser: Purser) => Promise<T>): Promise<T> {
  const purser = await Purser.start(engine, folder)
  try {
    return await work(purser)
  } finally {
    await purser.stop()
  }
}

async function sizedBy(purser: Purser, { ask, size }: Prepared): Promise<Sized[]> {
  return (await ask(purser)).map((asked) => ({ ...asked, size }))
}

async function askAtOnce(purser: Purser, made: readonly Prepared[]): Promise<Asking[]> {
  const found: Asking[] = []
  for (const each of made) {
    for (const asked of await sizedBy(purser, each)) found.push(...(await measure(purser, [asked])))
  }
  return found
}

/** Measures the sizes of a row in turns. */
async function askInTurns(purser: Purser, made: readonly Prepared[]): Promise<Asking[]> {
  const rows: Sized[] = []
  const found: Asking[] = []
  for (const each of made) {
    for (const asked of await sizedBy(purser, each)) {
      // The names of one organization may displace those of another, so these take no turns.
      if (isOneByOne(asked)) found.push(...(await measure(purser, [asked])))
      else rows.push(asked)
    }
  }
  for (const some of Map.groupBy(rows, ({ what }) => what).values())
    found.push(...(await measure(purser, some)))
  return found
}

function isOneByOne({ growth }: Asked): boolean {
  return growth === 'answer' || growth === 'search'
}

function note(dimension: Dimension, found: readonly Asking[]): void {
  const rows = Map.groupBy(found, ({ asked }) => asked.what)
  for (const { asked } of found)
    sent.push(...asked.requests.slice(0, 2).map((text) => text.split('\r\n', 1)[0] ?? ''))
  for (const [what, some] of rows) {
    const points: Point[] = some.map(({ asked: { size }, ms }) => ({ size, ms }))
    console.log(`${dimension.name}: ${what}: ${points.map(({ ms }) => ms.toFixed(3)).join(' ')} ms`)
    series.push({ dimension: dimension.name, what, growth: some[0]?.asked.growth ?? 'constant', points })
  }
}

/** The median latency over one connection for each size, in milliseconds: the median of the rounds. */
async function measure(purser: Purser, sized: readonly Sized[]): Promise<Asking[]> {
  const rounds = sized.map((): number[] => [])
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [place, { requests, status = '200' }] of sized.entries()) {
      const isRepeatable = requests.length === 1
      if (isRepeatable && round === 0) await latencyOf(purser, status, { requests, durationMs: WARM_UP_MS })
      const ms = await latencyOf(
        purser,
        status,
        isRepeatable ? { requests, durationMs: MEASURED_MS } : shareOf(requests, round),
      )
      rounds[place]?.push(ms)
    }
  }
  return sized.map((asked, place) => ({ asked, ms: median(rounds[place] ?? []) }))
}

/** The requests of one round, each of which is sent once. */
function shareOf(requests: readonly string[], round: number): Bounded {
  const share = Math.floor(requests.length / ROUNDS)
  return { requests: requests.slice(round * share, (round + 1) * share), count: share }
}

async function latencyOf(purser: Purser, status: string, { requests, ...bound }: Bounded): Promise<number> {
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
