// Creates of teams and pushes of states, in one organization and in eight. On PostgreSQL they are compared with SQLite in the
// same rounds.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, type Bench, type Figure, type Row } from './bench.ts'
import { Purser, wire } from './purser.ts'
import { createSeeded, withDatabase, type Organization } from './seed.ts'
import { createWorkspace, pushBody, smallState } from './states.ts'

const CLIENTS = 8
const ORGANIZATIONS = 8
const TEAMS = 1_000
/** Many, because the ratio of one round to the next differs by a third on a shared machine. */
const ROUNDS = 9
const ROUND_MS = 1_500
const QUICK_MS = 1_000
/** More than a round can use, so that each name is used once. */
const MOST_A_ROUND = 20_000
/** Two pushes to a workspace are so many requests apart that the second one does not overtake the first. */
const WORKSPACES = 64
const MOST_PUSHES_A_ROUND = 5_000
const OUTPUTS = 3

let round = 0
let seeds = 0

type Writes = { perSecond: number; p99: number; cpu: number }
type Bounds = readonly [atLeast: number, aim: number]
type Kind = {
  /** Returns a function that gives the requests of each round. */
  readonly prepare: (purser: Purser, into: readonly Organization[]) => Promise<() => string[]>
  /** Of each answer. */
  readonly status: string
  /** A second, on SQLite. */
  readonly bounds?: Bounds
}

/** Requests that create teams in these organizations in turn. Their names are new at each call. */
export function teamCreates(into: readonly Organization[]): string[] {
  round += 1
  return Array.from({ length: MOST_A_ROUND }, (_, number) => {
    const { name, owner } = into[number % into.length] as Organization
    return wire('POST', `/organizations/${name}/teams`, owner.token, {
      data: { type: 'teams', attributes: { name: `created-${process.pid}-${round}-${number}` } },
    })
  })
}

const creates: Kind = {
  prepare: (_, into) => Promise.resolve(() => teamCreates(into)),
  status: '200',
  bounds: [2_000, 4_500],
}

/** Pushes of a small state to workspaces of the organizations in turn. */
const pushes: Kind = {
  prepare: async (purser, into) => {
    const workspaces: { id: string; token: string }[] = []
    for (let number = 0; number < WORKSPACES; number += 1) {
      const organization = into[number % into.length] as Organization
      const id = await createWorkspace(purser, organization, `pushed-${number}`)
      workspaces.push({ id, token: organization.owner.token })
    }
    let serial = 0
    return () =>
      Array.from({ length: MOST_PUSHES_A_ROUND }, (_, number) => {
        if (number % WORKSPACES === 0) serial += 1
        const { id, token } = workspaces[number % WORKSPACES] as (typeof workspaces)[number]
        return wire('POST', `/workspaces/${id}/state-versions`, token, pushBody(smallState(serial, OUTPUTS)))
      })
  },
  status: '201',
}

async function write(bench: Bench, purser: Purser, requests: string[], status: string): Promise<Writes> {
  const before = await purser.usage()
  const durationMs = bench.isQuick ? QUICK_MS : ROUND_MS
  const { port } = purser
  const job = { port, requests, connections: CLIENTS, durationMs, count: requests.length }
  const result = await bench.run(job, status)
  const after = await purser.usage()
  return {
    perSecond: result.answers / result.seconds,
    p99: result.latencies[0]?.p99 ?? Number.NaN,
    cpu: (after.cpu - before.cpu) / result.answers,
  }
}

export async function organizationsFor(engine: Bench['engine'], folder: string, count: number) {
  const made: Organization[] = []
  seeds += 1
  await withDatabase(engine, folder, async (database) => {
    for (let number = 0; number < count; number += 1) {
      const name = `writes-${process.pid}-${seeds}-${number}`
      made.push(await createSeeded(database, { name, teams: TEAMS / count, membersOfTeam: 3, users: 20 }))
    }
  })
  return made
}

/** The rounds after the first, which is the warm-up; and those of a SQLite server in between, on PostgreSQL. */
async function measure(bench: Bench, { prepare, status }: Kind, count: number) {
  const into = await organizationsFor(bench.engine, bench.world.folder, count)
  const folder = bench.engine === 'postgres' ? mkdtempSync(join(tmpdir(), 'purser-bench-')) : undefined
  const other =
    folder === undefined
      ? undefined
      : {
          into: await organizationsFor('sqlite', folder, count),
          purser: await Purser.start('sqlite', folder),
        }
  const own: Writes[] = []
  const sqlite: Writes[] = []
  try {
    const next = await prepare(bench.purser, into)
    const nextOfOther = other && (await prepare(other.purser, other.into))
    for (let number = 0; number <= ROUNDS; number += 1) {
      own.push(await write(bench, bench.purser, next(), status))
      if (other && nextOfOther) sqlite.push(await write(bench, other.purser, nextOfOther(), status))
    }
  } finally {
    await other?.purser.stop()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
  return { own: own.slice(1), sqlite: sqlite.slice(1) }
}

async function figureOf(
  bench: Bench,
  what: string,
  kind: Kind,
  { organizations, ofSqlite }: { organizations: number; ofSqlite: Bounds },
): Promise<Figure> {
  const { own, sqlite } = await measure(bench, kind, organizations)
  const of = (rounds: readonly Writes[], field: keyof Writes) => median(rounds.map((each) => each[field]))
  const details = `CPU ${of(own, 'cpu').toFixed(0)} µs a request; p99 ${of(own, 'p99').toFixed(1)} ms`
  const perSecond = of(own, 'perSecond')
  if (sqlite.length === 0) {
    const [atLeast, aim] = kind.bounds ?? []
    return { what, value: perSecond, unit: 'a second', atLeast, aim, better: 'more', details }
  }
  const [atLeast, aim] = ofSqlite
  return {
    what,
    value: median(own.map((each, place) => each.perSecond / (sqlite[place] as Writes).perSecond)),
    unit: "of SQLite's",
    atLeast,
    aim,
    better: 'more',
    details: `${Math.round(perSecond)} a second, SQLite ${Math.round(of(sqlite, 'perSecond'))}; ${details}`,
  }
}

type Line = { id: string; what: string; kind: Kind; organizations: number; ofSqlite: Bounds }

const eight = `in ${ORGANIZATIONS} organizations`
const lines: Line[] = [
  { id: 'create-team', what: 'team creates', kind: creates, organizations: 1, ofSqlite: [0.5, 0.8] },
  {
    id: 'create-team-8',
    what: `team creates ${eight}`,
    kind: creates,
    organizations: ORGANIZATIONS,
    ofSqlite: [0.8, 1],
  },
  { id: 'push-state', what: 'pushes of a small state', kind: pushes, organizations: 1, ofSqlite: [0.3, 0.8] },
  {
    id: 'push-state-8',
    what: `pushes of a small state ${eight}`,
    kind: pushes,
    organizations: ORGANIZATIONS,
    ofSqlite: [0.4, 1],
  },
]

export const writeRows: Row[] = lines.map(({ id, what, kind, ...rest }) => ({
  id,
  what: `${what}, ${CLIENTS} clients, durable`,
  run: async (bench) => {
    const whole = `${what}, ${CLIENTS} keep-alive clients, durable`
    return { figures: [await figureOf(bench, whole, kind, rest)] }
  },
}))
