// `q` and `filter[names]` among 100,000 teams, each request with another text, during writes.
import type { Bench, Figure, Row } from './bench.ts'
import type { JobResult } from './load.ts'
import { wire } from './purser.ts'
import { LARGE, teamName, type Person } from './seed.ts'

const STRINGS = 4_000
/** Each client waits for an answer before its next request. */
const CLIENTS = 8
const MANY_CLIENTS = 16
const DURATION_MS = 4_000
const QUICK_MS = 1_500
/** Searches right after a start, and right after changed names. */
const FIRST = 500
const CHANGED_TEAMS = 200
/** A hundred writes a second. Each raises the organization's version. */
const WRITE_EVERY_MS = 10

/** Parts of names with at least three characters: short and long, common and rare. Every twentieth matches no name. */
function part(number: number): string {
  const name = teamName((number * 7_919) % LARGE)
  if (number % 20 === 0) return `no-such-team-${number}`
  const length = 3 + ((number * 31) % 14)
  const from = (number * 17) % Math.max(1, name.length - length)
  return name.slice(from, from + length)
}

function names(number: number): string {
  const each = [0, 1, 2].map((step) => teamName(1 + ((number * 7_919 + step * 31_337) % (LARGE - 1))))
  return [...each, `no-such-team-${number}`].join(',')
}

async function search(
  bench: Bench,
  what: string,
  reader: Person,
  query: (number: number) => string,
  isFirstMeasured = false,
) {
  const { large } = bench.world
  const path = `/organizations/${large.name}/teams`
  const requests = Array.from({ length: STRINGS }, (_, number) =>
    wire('GET', `${path}?${query(number)}`, reader.token),
  )
  const writes = Array.from({ length: 100 }, (_, number) =>
    wire('PATCH', `/teams/${large.teams[number * 7]?.id}`, large.owner.token, {
      data: { type: 'teams', attributes: { 'sso-team-id': `sso-${number}-${process.hrtime.bigint()}` } },
    }),
  )
  const first = isFirstMeasured ? await firstSearches(bench, what, requests) : []
  // The first searches fill caches, and Node compiles during some thousand more.
  await bench.run({ requests, count: bench.isQuick ? 500 : STRINGS })
  const writing = bench.run({ requests: writes, connections: 1, everyMs: WRITE_EVERY_MS })
  const before = await bench.purser.usage()
  const durationMs = bench.isQuick ? QUICK_MS : DURATION_MS
  const reading = await bench.run({ requests, connections: CLIENTS, durationMs })
  const after = await bench.purser.usage()
  const crowded = await bench.run({ requests, connections: MANY_CLIENTS, durationMs })
  await bench.stopLoad()
  const [latency] = reading.latencies
  const write = await writing
  const figure: Figure = {
    what: `${what} among 100,000 teams, p99`,
    value: latency?.p99 ?? Number.NaN,
    unit: 'ms',
    atLeast: 20,
    aim: 5,
    better: 'less',
    details:
      `${CLIENTS} clients: ${Math.round(reading.answers / reading.seconds)}/s, p50 ${latency?.p50.toFixed(2)} ms, longest ${latency?.max.toFixed(1)} ms, ` +
      `CPU ${((after.cpu - before.cpu) / reading.answers).toFixed(0)} µs a request; ` +
      `${MANY_CLIENTS} clients: p50 ${crowded.latencies[0]?.p50.toFixed(2)} ms, p99 ${crowded.latencies[0]?.p99.toFixed(2)} ms; ` +
      `${Math.round(write.answers / write.seconds)} writes a second beside, p99 ${write.latencies[0]?.p99.toFixed(1)} ms`,
  }
  return { figures: [figure, ...first] }
}

/** Searches that meet empty caches: after a start, and after 200 teams all over the organization got other names. */
async function firstSearches(bench: Bench, what: string, requests: string[]): Promise<Figure[]> {
  const { large } = bench.world
  await bench.restart()
  const started = await bench.run({ requests, connections: CLIENTS, count: FIRST })
  const step = Math.floor(large.teams.length / CHANGED_TEAMS)
  const rename = (suffix: string) =>
    Array.from({ length: CHANGED_TEAMS }, (_, number) => {
      const team = large.teams[number * step + 1]
      const name = `${team?.name}${suffix}`
      return wire('PATCH', `/teams/${team?.id}`, large.owner.token, {
        data: { type: 'teams', attributes: { name } },
      })
    })
  await bench.run({ requests: rename('-renamed'), connections: 1, count: CHANGED_TEAMS })
  const changed = await bench.run({ requests: requests.slice(FIRST), connections: CLIENTS, count: FIRST })
  await bench.run({ requests: rename(''), connections: 1, count: CHANGED_TEAMS })
  const figureOf = (when: string, { latencies: [latency], answers, seconds }: JobResult): Figure => ({
    what: `${what} among 100,000 teams, first ${FIRST} searches after ${when}, p99`,
    value: latency?.p99 ?? Number.NaN,
    unit: 'ms',
    atLeast: 200,
    aim: 50,
    better: 'less',
    details: `${CLIENTS} clients: ${Math.round(answers / seconds)}/s, p50 ${latency?.p50.toFixed(2)} ms, longest ${latency?.max.toFixed(1)} ms`,
  })
  return [figureOf('a start', started), figureOf(`${CHANGED_TEAMS} changed names`, changed)]
}

const q = (number: number) => `q=${encodeURIComponent(part(number))}`
const filter = (number: number) => `filter%5Bnames%5D=${encodeURIComponent(names(number))}`

export const searchRows: Row[] = [
  {
    id: 'q-owner',
    what: 'owner: q',
    run: (bench) => search(bench, 'owner: q', bench.world.large.owner, q, true),
  },
  {
    id: 'q-member',
    what: 'plain member: q',
    run: (bench) => search(bench, 'plain member: q', bench.world.large.member, q, true),
  },
  {
    id: 'names-owner',
    what: 'owner: filter[names]',
    run: (bench) => search(bench, 'owner: filter[names]', bench.world.large.owner, filter),
  },
  {
    id: 'names-member',
    what: 'plain member: filter[names]',
    run: (bench) => search(bench, 'plain member: filter[names]', bench.world.large.member, filter),
  },
]
