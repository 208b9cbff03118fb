// Creates of teams, in one organization and in eight. On PostgreSQL they are compared with SQLite in the same rounds.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, type Bench, type Figure, type Row } from './bench.ts'
import { Purser, wire } from './purser.ts'
import { createSeeded, withDatabase, type Organization } from './seed.ts'

const CLIENTS = 8
const ORGANIZATIONS = 8
const TEAMS = 1_000
const ROUNDS = 3
const ROUND_MS = 2_500
const QUICK_MS = 1_000
/** More than a round can use, so that each name is used once. */
const MOST_A_ROUND = 20_000

let round = 0

type Creates = { perSecond: number; p99: number; cpu: number }

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

async function createTeams(bench: Bench, purser: Purser, into: readonly Organization[]): Promise<Creates> {
  const requests = teamCreates(into)
  const before = await purser.usage()
  const durationMs = bench.isQuick ? QUICK_MS : ROUND_MS
  const { port } = purser
  const result = await bench.run({ port, requests, connections: CLIENTS, durationMs, count: MOST_A_ROUND })
  const after = await purser.usage()
  return {
    perSecond: result.answers / result.seconds,
    p99: result.latencies[0]?.p99 ?? Number.NaN,
    cpu: (after.cpu - before.cpu) / result.answers,
  }
}

export async function organizationsFor(engine: Bench['engine'], folder: string, count: number) {
  const made: Organization[] = []
  await withDatabase(engine, folder, async (database) => {
    for (let number = 0; number < count; number += 1) {
      const name = `creates-${process.pid}-${round}-${count}-${number}`
      made.push(await createSeeded(database, { name, teams: TEAMS / count, membersOfTeam: 3, users: 20 }))
    }
  })
  return made
}

/** The rounds after the first, which is the warm-up; and those of a SQLite server in between, on PostgreSQL. */
async function measure(bench: Bench, count: number) {
  const into = await organizationsFor(bench.engine, bench.world.folder, count)
  const folder = bench.engine === 'postgres' ? mkdtempSync(join(tmpdir(), 'purser-bench-')) : undefined
  const other =
    folder === undefined
      ? undefined
      : {
          into: await organizationsFor('sqlite', folder, count),
          purser: await Purser.start('sqlite', folder),
        }
  const own: Creates[] = []
  const sqlite: Creates[] = []
  try {
    for (let number = 0; number <= ROUNDS; number += 1) {
      own.push(await createTeams(bench, bench.purser, into))
      if (other) sqlite.push(await createTeams(bench, other.purser, other.into))
    }
  } finally {
    await other?.purser.stop()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
  return { own: own.slice(1), sqlite: sqlite.slice(1) }
}

function figureOf(
  what: string,
  { own, sqlite }: { own: Creates[]; sqlite: Creates[] },
  [atLeast, aim]: readonly [number, number],
): Figure {
  const of = (rounds: readonly Creates[], field: keyof Creates) => median(rounds.map((each) => each[field]))
  const details = `CPU ${of(own, 'cpu').toFixed(0)} µs a request; p99 ${of(own, 'p99').toFixed(1)} ms`
  const perSecond = of(own, 'perSecond')
  if (sqlite.length === 0) {
    return { what, value: perSecond, unit: 'a second', atLeast: 2_000, aim: 4_500, better: 'more', details }
  }
  return {
    what,
    value: median(own.map((each, place) => each.perSecond / (sqlite[place] as Creates).perSecond)),
    unit: "of SQLite's",
    atLeast,
    aim,
    better: 'more',
    details: `${Math.round(perSecond)} a second, SQLite ${Math.round(of(sqlite, 'perSecond'))}; ${details}`,
  }
}

export const writeRows: Row[] = [
  {
    id: 'create-team',
    what: 'team creates, 8 clients, durable',
    run: async (bench) => {
      const what = 'team creates, 8 keep-alive clients, durable'
      return { figures: [figureOf(what, await measure(bench, 1), [0.5, 0.8])] }
    },
  },
  {
    id: 'create-team-8',
    what: `team creates, 8 clients, ${ORGANIZATIONS} organizations, durable`,
    run: async (bench) => {
      const what = `team creates in ${ORGANIZATIONS} organizations, 8 keep-alive clients, durable`
      return { figures: [figureOf(what, await measure(bench, ORGANIZATIONS), [0.8, 1])] }
    },
  },
]
