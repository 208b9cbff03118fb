// npm run scaling [-- --engine postgres] [--most 10000]: how the cost of requests grows with the data. Writes
// docs/scaling.md and its figures, for one engine.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { AuditKey } from '../src/audit/audit-links.ts'
import { systemClock } from '../src/core/clock.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase, type Connection } from '../src/database/open.ts'
import { makeFirstUser } from '../src/first-start.ts'
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
  },
})
const engine = engineOf(options.engine)
const most = Number(options.most)
const WARM_UP_MS = 400
const MEASURED_MS = 1_000

// More than the default allows.
process.env['PURSER_MAX_TEAMS'] = '10000000'
process.env['PURSER_MAX_WORKSPACES'] = '10000000'
process.env['PURSER_MAX_MEMBERS'] = '10000000'

const folder = mkdtempSync(join(tmpdir(), 'purser-scaling-'))
const series: Series[] = []
const children: { stop: () => Promise<void> }[] = []
try {
  pinSelf()
  const { database, withConnection } = await openDatabase(configOf(engine, folder))
  await withConnection(migrate)
  await makeFirstUser(database, systemClock, new AuditKey(Buffer.from(secretKey, 'hex')), undefined)
  const prepared: { dimension: Dimension; size: number; ask: (purser: Purser) => Promise<Asked[]> }[] = []
  for (const dimension of dimensions) {
    for (const size of dimension.sizes.filter((each) => each <= most)) {
      prepared.push({ dimension, size, ask: await dimension.make(database, size) })
      console.log(`${dimension.name} ${size}: made`)
    }
  }
  // PostgreSQL does this by itself, after some time.
  if (engine === 'postgres') await withConnection(analyze)
  await database.close()

  const load = new Child(fileURLToPath(new URL('load.ts', import.meta.url)), 'load')
  children.push(load)
  const purser = await Purser.start(engine, folder)
  children.push(purser)
  for (const { dimension, size, ask } of prepared) {
    for (const { what, growth, requests, status } of await ask(purser)) {
      const ms = await latencyOf(load, purser, requests, status)
      console.log(`${dimension.name} ${size}: ${what}: ${ms.toFixed(3)} ms`)
      const known = series.find((each) => each.dimension === dimension.name && each.what === what)
      if (known !== undefined) known.points.push({ size, ms })
      else series.push({ dimension: dimension.name, what, growth, points: [{ size, ms }] })
    }
  }
} finally {
  for (const child of children.toReversed()) await child.stop()
  rmSync(folder, { recursive: true, force: true })
}
writeScaling(fileURLToPath(new URL('../docs', import.meta.url)), engine, series, most)

/** The median latency over one connection, in milliseconds. */
async function latencyOf(
  load: Child,
  purser: Purser,
  requests: readonly string[],
  status = '200',
): Promise<number> {
  const job = { port: purser.port, connections: 1, requests: [...requests], maySleep: engine === 'postgres' }
  const isRepeatable = requests.length === 1
  if (isRepeatable) await load.ask<JobResult>('run', { ...job, durationMs: WARM_UP_MS } satisfies Job)
  const bound = isRepeatable ? { durationMs: MEASURED_MS } : { count: requests.length }
  const { statuses, latencies } = await load.ask<JobResult>('run', { ...job, ...bound } satisfies Job)
  const others = Object.keys(statuses).filter((other) => other !== status)
  if (others.length > 0) throw new Error(`answers were ${JSON.stringify(statuses)}: ${requests[0]}`)
  return latencies[0]?.p50 ?? Number.NaN
}

async function analyze(db: Connection): Promise<void> {
  await sql`analyze`.execute(db)
}
