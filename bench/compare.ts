import { CONNECTIONS, median, thousands, type Bench, type Figure, type Row } from './bench.ts'
import type { FloorAnswer } from './floor.ts'
import { wire } from './purser.ts'
import { hasWrk, wrkRate } from './wrk.ts'

const WARM_UP_MS = 1_500
/** Node goes on compiling in the first hundred thousand requests, of which PostgreSQL answers fewer in the same time. */
const FIRST_WARM_UP_MS = 15_000
/** Short rounds, so that a slow second of the machine affects both servers. */
const ROUND_MS = 250
const ROUNDS = 15
const QUICK_ROUNDS = 5
/** wrk counts whole seconds. */
const WRK_SECONDS = 1
const WRK_ROUNDS = 9

/** A GET below /api/v2, and the token to send. `others` are asked for in turn with it, and have answers of the same length. */
export type Asked = { path: string; token: string; others?: readonly string[] }

/** A read that is compared with the floor. */
export type Reading = {
  id: string
  what: string
  ask: (bench: Bench) => Asked | Promise<Asked>
  /** The same read of a short list. */
  short?: (bench: Bench) => Asked | Promise<Asked>
  atLeast: number
  aim: number
}

export function comparedRow({ id, what, ask, short, atLeast, aim }: Reading): Row {
  const run = async (bench: Bench) => {
    const compared = await compare(bench, await ask(bench), await short?.(bench))
    return { figures: comparedFigures(what, compared, atLeast, aim) }
  }
  return { id, what, run }
}

/** Requests per second, microseconds of server CPU per request, and the 99th percentile of latency. */
type Round = { perSecond: number; cpu: number; p99: number }

type Compared = {
  /** Requests per second of the server, divided by those of the floor. The median of the rounds. */
  ratio: number
  /** CPU time per request of the floor, divided by that of the server. A busy machine affects it less than `ratio`. */
  cpuRatio: number
  server: Round
  floor: Round
  bare: Round
  /** Requests per second of the server, divided by its own for the short list. */
  shortRatio: number | undefined
  /** The same as `ratio`, with requests of wrk; undefined where it is not installed. */
  wrk: { ratio: number; server: number; floor: number } | undefined
}

/** Compares a GET of the server with the floor sending the same bytes, in alternating rounds after a warm-up. */
async function compare(bench: Bench, asked: Asked, short?: Asked): Promise<Compared> {
  const { path, token } = asked
  const answer = await bench.purser.must('GET', path, token)
  const headers = Object.fromEntries(
    [...answer.headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name)),
  )
  const floorAnswer: FloorAnswer = { token, status: answer.status, headers, body: answer.text, isBare: true }
  const server = (what: Asked, ms = ROUND_MS) => round(bench, what, 'server', ms)
  const floor = (ms = ROUND_MS) => round(bench, asked, 'floor', ms)

  const warmUp = bench.isWarm ? WARM_UP_MS : FIRST_WARM_UP_MS
  bench.isWarm = true
  await bench.floor.ask('answer', floorAnswer)
  await floor(WARM_UP_MS)
  const bare = await floor()
  await bench.floor.ask('answer', { ...floorAnswer, isBare: false })
  await floor(warmUp)
  await server(asked, warmUp)
  if (short !== undefined) await server(short, WARM_UP_MS)

  const rounds: { server: Round; floor: Round; short: Round | undefined }[] = []
  for (let count = 0; count < (bench.isQuick ? QUICK_ROUNDS : ROUNDS); count += 1) {
    rounds.push({
      server: await server(asked),
      floor: await floor(),
      short: short === undefined ? undefined : await server(short),
    })
  }
  return {
    ratio: median(rounds.map(({ server, floor }) => server.perSecond / floor.perSecond)),
    cpuRatio: median(rounds.map(({ server, floor }) => floor.cpu / server.cpu)),
    server: medianRound(rounds.map(({ server }) => server)),
    floor: medianRound(rounds.map(({ floor }) => floor)),
    bare,
    shortRatio:
      short === undefined
        ? undefined
        : median(rounds.map(({ server, short }) => server.perSecond / (short as Round).perSecond)),
    // It sends one request again and again.
    wrk: hasWrk && asked.others === undefined ? await compareByWrk(bench, asked) : undefined,
  }
}

async function compareByWrk(bench: Bench, { path, token }: Asked): Promise<Compared['wrk']> {
  const rate = (port: number) =>
    wrkRate(`http://127.0.0.1:${port}/api/v2${path}`, token, CONNECTIONS, WRK_SECONDS)
  const rounds: { server: number; floor: number }[] = []
  for (let count = 0; count < (bench.isQuick ? 1 : WRK_ROUNDS); count += 1) {
    rounds.push({ server: await rate(bench.purser.port), floor: await rate(bench.floorPort) })
  }
  return {
    ratio: median(rounds.map(({ server, floor }) => server / floor)),
    server: median(rounds.map(({ server }) => server)),
    floor: median(rounds.map(({ floor }) => floor)),
  }
}

async function round(bench: Bench, asked: Asked, whom: 'server' | 'floor', ms: number): Promise<Round> {
  const process = whom === 'server' ? bench.purser.child : bench.floor
  const port = whom === 'server' ? bench.purser.port : bench.floorPort
  const before = await process.ask<{ cpu: number }>('usage')
  const { path, token, others = [] } = asked
  const requests = [path, ...others].map((each) => wire('GET', each, token))
  const result = await bench.run({ port, requests, durationMs: ms })
  const after = await process.ask<{ cpu: number }>('usage')
  return {
    perSecond: result.answers / result.seconds,
    cpu: (after.cpu - before.cpu) / result.answers,
    p99: result.latencies[0]?.p99 ?? 0,
  }
}

function medianRound(rounds: readonly Round[]): Round {
  return {
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    cpu: median(rounds.map(({ cpu }) => cpu)),
    p99: median(rounds.map(({ p99 }) => p99)),
  }
}

/** The figures of one path: against the floor and, if there is one, against the short list. */
function comparedFigures(what: string, compared: Compared, atLeast: number, aim: number): Figure[] {
  const { ratio, cpuRatio, shortRatio, server, floor, bare, wrk } = compared
  const ratios =
    wrk === undefined
      ? ''
      : `own load generator ${ratio.toFixed(2)}, wrk ${wrk.ratio.toFixed(2)} (${thousands(wrk.server)}/s, floor ${thousands(wrk.floor)}/s); `
  const figures: Figure[] = [
    {
      what,
      // The lower of both load generators counts.
      value: Math.min(ratio, wrk?.ratio ?? Infinity),
      unit: 'of the floor',
      atLeast,
      aim,
      better: 'more',
      details:
        ratios +
        `${thousands(server.perSecond)}/s, floor ${thousands(floor.perSecond)}/s, bare ${thousands(bare.perSecond)}/s; ` +
        `CPU ${server.cpu.toFixed(1)} and ${floor.cpu.toFixed(1)} µs a request (${cpuRatio.toFixed(2)}); p99 ${server.p99.toFixed(2)} ms`,
    },
  ]
  if (shortRatio !== undefined) {
    figures.push({
      what: `${what}, beside the short list`,
      value: shortRatio,
      unit: 'of its speed',
      atLeast: 0.8,
      aim: 1,
      better: 'more',
      details: 'in the same rounds',
    })
  }
  return figures
}
