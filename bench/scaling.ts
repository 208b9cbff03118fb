// npm run scaling [-- --engine postgres] [--most 10000]: how the cost of requests grows with the data. Writes
// docs/scaling.md and its figures, for one engine.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { AuditKey } from '../src/audit/audit-links.ts'
import { systemClock } from '../src/core/clock.ts'
import type { Database } from '../src/database/database.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase, type Connection } from '../src/database/open.ts'
import { makeFirstUser } from '../src/first-start.ts'
import { withMembers, withTeams, withWorkspaces } from './bulk.ts'
import { Child, pinSelf } from './child.ts'
import { configOf, engineOf, secretKey } from './engine.ts'
import type { Job, JobResult } from './load.ts'
import { Purser, wire } from './purser.ts'
import { writeScaling, type Series } from './scaling-report.ts'
import { createSeeded, type Organization } from './seed.ts'
import { createWorkspace, outputIds, smallState, upload } from './states.ts'

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
const CREATES = 200
const INDEXING_MS = 5_000

/** A request that is measured at each size. `isBounded`: its cost should not grow. */
type Asked = {
  readonly what: string
  readonly isBounded: boolean
  readonly requests: readonly string[]
  readonly status?: string
}
type Dimension = {
  readonly name: string
  readonly sizes: readonly number[]
  /** Makes the data, before the server starts. */
  readonly make?: (database: Database, size: number) => Promise<(purser: Purser) => Promise<Asked[]>>
  /** Makes the data by requests. */
  readonly send?: (purser: Purser, size: number) => Promise<Asked[]>
}

const pageOf = (path: string, number: number) => `${path}?page%5Bnumber%5D=${number}`
const PAGE = 20

let small: Organization | undefined

function reading(token: string) {
  return (what: string, path: string, isBounded = true): Asked => ({
    what,
    isBounded,
    requests: [wire('GET', path, token)],
  })
}

function createsOf(
  type: string,
  list: string,
  token: string,
  attributesOf = (number: number): object => ({ name: `new-${number}` }),
): string[] {
  return Array.from({ length: CREATES }, (_, number) =>
    wire('POST', list, token, { data: { type, attributes: attributesOf(number) } }),
  )
}

const dimensions: readonly Dimension[] = [
  {
    name: 'teams',
    sizes: [100, 1_000, 10_000, 100_000, 1_000_000],
    make: async (database, size) => {
      const organization = await withTeams(database, size)
      const list = `/organizations/${organization.name}/teams`
      const { token } = organization.owner
      const read = reading(token)
      const creates = createsOf('teams', list, token)
      const q = `${list}?q=${organization.teams[1]?.name}`
      return async ({ port }) => {
        // Reads all names, which are indexed afterwards.
        const headers = { Authorization: `Bearer ${token}` }
        const { status } = await fetch(`http://127.0.0.1:${port}/api/v2${q}`, { headers })
        if (status !== 200) throw new Error(`the first search was answered ${status}`)
        await pause(INDEXING_MS)
        return [
          read('show a team', `/teams/${organization.teams[2]?.id}`),
          read('first page', list),
          read('last page', pageOf(list, Math.ceil((size + 6) / PAGE))),
          read('a page in the middle', pageOf(list, Math.ceil(size / PAGE / 2)), false),
          read('filter[names]', `${list}?filter%5Bnames%5D=${organization.teams[1]?.name}`),
          read('q', q, false),
          { what: 'create a team', isBounded: true, requests: creates },
        ]
      }
    },
  },
  {
    name: 'workspaces',
    sizes: [100, 1_000, 10_000, 100_000],
    make: async (database, size) => {
      const { organization, workspaceId, projectId } = await withWorkspaces(database, size)
      const list = `/organizations/${organization.name}/workspaces`
      const { token } = organization.owner
      const read = reading(token)
      const creates = createsOf('workspaces', list, token)
      return async () => [
        read('show a workspace', `/workspaces/${workspaceId}`),
        read('first page', list),
        read('last page', pageOf(list, Math.ceil(size / PAGE))),
        read('sort=-name', `${list}?sort=-name`),
        read('include=project', `${list}?include=project`),
        read('filter[project][id]', `${list}?filter%5Bproject%5D%5Bid%5D=${projectId}`),
        read('search[name]', `${list}?search%5Bname%5D=zzz`, false),
        read('show a project', `/projects/${projectId}`),
        read('list of projects', `/organizations/${organization.name}/projects`),
        { what: 'create a workspace', isBounded: true, requests: creates, status: '201' },
      ]
    },
  },
  {
    name: 'outputs',
    sizes: [10, 100, 1_000, 10_000, 100_000],
    send: async (purser, size) => {
      if (small === undefined) throw new Error('there is no organization')
      const { token } = small.owner
      const workspaceId = await createWorkspace(purser, small, `outputs-${size}`)
      const version = await upload(purser, workspaceId, token, smallState(1, size))
      const [id] = await outputIds(purser, workspaceId, token)
      const read = reading(token)
      return [
        read('show an output', `/state-version-outputs/${id}`),
        read('first page', `/state-versions/${version}/outputs`),
        read('last page', pageOf(`/state-versions/${version}/outputs`, Math.ceil(size / PAGE))),
        read('current outputs, all', `/workspaces/${workspaceId}/current-state-version-outputs`, false),
      ]
    },
  },
  {
    name: 'members',
    sizes: [10, 100, 1_000, 10_000, 100_000],
    make: async (database, size) => {
      const { organization, membershipId } = await withMembers(database, size)
      const list = `/organizations/${organization.name}/organization-memberships`
      const { token } = organization.owner
      const read = reading(token)
      const invitations = createsOf('organization-memberships', list, token, (number) => ({
        email: `new-${number}-of-${size}@example.com`,
      }))
      return async () => [
        read('show a membership', `/organization-memberships/${membershipId}`),
        read('first page', list),
        read('show the team with all members', `/teams/${organization.teams.at(-1)?.id}`, false),
        { what: 'invite a member', isBounded: true, requests: invitations, status: '201' },
      ]
    },
  },
]

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
  small = await createSeeded(database, { name: 'small', teams: 5, membersOfTeam: 0, users: 0 })
  const prepared: { dimension: Dimension; size: number; ask: (purser: Purser) => Promise<Asked[]> }[] = []
  for (const dimension of dimensions) {
    for (const size of dimension.sizes.filter((each) => each <= most)) {
      const { make, send } = dimension
      const made = await make?.(database, size)
      prepared.push({
        dimension,
        size,
        ask: async (purser) => (await (made?.(purser) ?? send?.(purser, size))) ?? [],
      })
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
    for (const { what, isBounded, requests, status } of await ask(purser)) {
      const ms = await latencyOf(load, purser, requests, status)
      console.log(`${dimension.name} ${size}: ${what}: ${ms.toFixed(3)} ms`)
      const known = series.find((each) => each.dimension === dimension.name && each.what === what)
      if (known !== undefined) known.points.push({ size, ms })
      else series.push({ dimension: dimension.name, what, isBounded, points: [{ size, ms }] })
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
