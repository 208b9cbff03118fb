// npm run timing: checks whether the time of a refusal reveals what exists. Sends paired probes for hidden and missing
// objects, as a guesser who owns a lot and, when prepared, first requests their own. Prints; writes nothing.
import { parseArgs } from 'node:util'
import { accessRoutes } from '../test/support/access-requests.ts'
import { isAllowed } from '../test/support/access-table.ts'
import { missingParams, pathOf, targetsOf } from '../test/support/access-targets.ts'
import { createAccessWorld, type AccessActor, type AccessWorld } from '../test/support/access-world.ts'
import { engines } from '../test/support/engines.ts'
import { startServer } from '../test/support/server.ts'
import { median } from './bench.ts'
import { Child } from './child.ts'
import { wire as wireOf } from './purser.ts'
import { createCases, type Case } from './timing-world.ts'
import type { Bursts, BurstTimes, Probed, Probes } from './timing-prober.ts'

const { values: options } = parseArgs({
  options: {
    /** Pairs per route of the interface. 0 skips them. */
    pairs: { type: 'string', default: '60' },
    /** Probes per decision. 0 skips the guesser. */
    probes: { type: 'string', default: '60' },
    /** Pairs of bursts per case. 0 skips them. */
    bursts: { type: 'string', default: '300' },
    /** A part of the names of cases. */
    only: { type: 'string', multiple: true, default: [''] },
    engine: { type: 'string', multiple: true, default: [...engines] },
  },
})
const PAIRS = Number(options.pairs)
const PROBES = Number(options.probes)
const BURSTS = Number(options.bursts)
const BURST_SIZE = 100
/** Objects that the guesser knows beforehand, and objects to guess. Half of each are hidden. */
const [KNOWN, GUESSED] = [20, 40]
/** Of 40 decisions, at least this many are right by luck in 2 % of the cases. */
const BY_LUCK = 27
const PREPARE_EVERY = 5

type Prober = (probes: Omit<Probes, 'port'>) => Promise<Probed>

const wire = (method: string, path: string, token = '', body?: object) =>
  wireOf(method, encodeURI(path), token, body)

const percent = (hidden: number, missing: number) => 100 * (hidden / missing - 1)
const ms = (value: number) => value.toFixed(3)

/** Alternates which of the two comes first. */
const alternating = (pairs: number) =>
  Array.from({ length: pairs }, (_, place) =>
    place % 2 === 0
      ? ([
          [0, 0],
          [1, 1],
        ] as const)
      : ([
          [1, 1],
          [0, 0],
        ] as const),
  ).flat()

async function everyRoute(probe: Prober, world: AccessWorld): Promise<void> {
  const differences: { title: string; difference: number }[] = []
  for (const actor of world.actors.filter(({ code }) => code === 'OUT' || code === 'MEM')) {
    for (const route of accessRoutes) {
      const requests = pairOf(route, actor, world)
      if (requests === undefined) continue
      const { times, statuses } = await probe({ requests, order: alternating(PAIRS) })
      if (statuses.flat().some((status) => status !== 404 && status !== 422)) continue
      const [hidden = [], missing = []] = times
      const title = `${route.method} ${route.path} (${actor.name})`
      differences.push({ title, difference: percent(median(hidden), median(missing)) })
    }
  }
  const sizes = differences.map(({ difference }) => Math.abs(difference))
  const within = sizes.filter((size) => size <= 5).length
  console.log(
    `  ${sizes.length} routes by an outsider and a member, ${PAIRS} pairs each: ${within} with medians within 5 %,`,
  )
  console.log(`  median difference ${median(sizes).toFixed(2)} %, largest ${Math.max(...sizes).toFixed(2)} %`)
  for (const { title, difference } of differences) {
    if (Math.abs(difference) > 5) console.log(`    ${difference.toFixed(1)} %  ${title}`)
  }
}

function pairOf(
  route: (typeof accessRoutes)[number],
  actor: AccessActor,
  { home }: AccessWorld,
): string[] | undefined {
  const hidden = targetsOf(route, home, actor).find(
    (target) => !isAllowed(target.permission ?? route.permission, actor, actor.columns, target),
  )
  if (hidden === undefined || !route.path.includes(':')) return undefined
  const missing = { ...hidden, params: { ...hidden.params, ...missingParams } }
  return [hidden, missing].map((target) =>
    wire(route.method, decodeURI(pathOf(route, target)), actor.client.token, route.body?.(target)),
  )
}

function requestsOf({ method: given, hidden, missing, bodies }: Case, token: string | undefined) {
  const method = given ?? 'GET'
  return {
    hidden: wire(method, hidden, token, bodies?.hidden),
    missing: wire(method, missing, token, bodies?.missing),
  }
}

/** Whether a request of the guesser's own waits longer behind many requests for a hidden object than for a missing one. */
async function burst(
  send: (bursts: Omit<Bursts, 'port'>) => Promise<BurstTimes>,
  token: string | undefined,
  one: Case,
): Promise<boolean> {
  const { hidden, missing, refused, own } = await send({
    ...requestsOf(one, token),
    own: wire('GET', '/account/details', token),
    pairs: BURSTS,
    size: BURST_SIZE,
  })
  const odd =
    own.find((status) => status !== 200) ?? refused.find((status) => status !== 404 && status !== 422)
  if (odd !== undefined) throw new Error(`${one.name}: ${odd}`)
  const later = hidden.filter((took, place) => took > (missing[place] as number)).length
  const each = (1000 * (median(hidden) - median(missing))) / BURST_SIZE
  console.log(
    `  ${one.name}: behind ${BURST_SIZE} hidden ${ms(median(hidden))} ms, missing ${ms(median(missing))} ms (${each.toFixed(1)} µs each); hidden later in ${later} of ${BURSTS}`,
  )
  // Three standard deviations of what luck gives: 0.3 % of the cases.
  return Math.abs(later - BURSTS / 2) <= 1.5 * Math.sqrt(BURSTS)
}

/** How many decisions are right for a guesser who takes the threshold from the objects they know beforehand. */
function guessed(times: readonly number[][], isHidden: readonly boolean[]): number {
  const points = times.map(median)
  const known = (hidden: boolean) => points.slice(0, KNOWN).filter((_, place) => isHidden[place] === hidden)
  const [hidden, missing] = [median(known(true)), median(known(false))]
  const threshold = (hidden + missing) / 2
  const isAbove = hidden > missing
  return points
    .slice(KNOWN)
    .filter((point, place) => (point > threshold === isAbove) === isHidden[KNOWN + place]).length
}

async function guess(
  probe: Prober,
  token: string | undefined,
  one: Case,
  isPrepared: boolean,
): Promise<boolean> {
  const { hidden, missing } = requestsOf(one, token)
  const requests = [hidden, missing, wire('GET', one.own, token)]
  const isHidden = Array.from({ length: KNOWN + GUESSED }, (_, place) => place % 2 === 0)
  shuffle(isHidden, 0, KNOWN)
  shuffle(isHidden, KNOWN, KNOWN + GUESSED)
  const order = isHidden.flatMap((hidden, group) =>
    Array.from({ length: PROBES }, (_, count) => [
      ...(isPrepared && count % PREPARE_EVERY === 0 ? [[2, -1] as const] : []),
      [hidden ? 0 : 1, group] as const,
    ]).flat(),
  )
  const { times, statuses } = await probe({ requests, order })
  const odd = statuses.flat().find((status) => status !== 404 && status !== 422)
  if (odd !== undefined) throw new Error(`${one.name}: ${odd}`)
  const all = (hidden: boolean) => median(times.filter((_, group) => isHidden[group] === hidden).flat())
  const right = guessed(times, isHidden)
  const difference = percent(all(true), all(false))
  console.log(
    `  ${one.name}${isPrepared ? ', prepared' : ''}: ${right} of ${GUESSED}; hidden ${ms(all(true))} ms, missing ${ms(all(false))} ms (${difference.toFixed(2)} %)`,
  )
  return right <= BY_LUCK && Math.abs(difference) <= 5
}

function shuffle(values: boolean[], from: number, end: number): void {
  for (let place = end - 1; place > from; place -= 1) {
    const other = from + Math.floor(Math.random() * (place - from + 1))
    ;[values[place], values[other]] = [values[other] as boolean, values[place] as boolean]
  }
}

console.log(`A guess is the median of ${PROBES} probes; up to ${BY_LUCK} right of ${GUESSED} is luck.`)
let telling = 0
for (const engine of engines) {
  if (!options.engine.includes(engine)) continue
  const server = await startServer(engine)
  const child = new Child(new URL('./timing-prober.ts', import.meta.url).pathname, 'load')
  const port = Number(new URL(server.address).port)
  const probe: Prober = (probes) => child.ask('probe', { port, ...probes })
  const world = await createAccessWorld(server)
  console.log(engine)
  if (PAIRS > 0) await everyRoute(probe, world)
  const { guesser, cases } = await createCases(server, world)
  for (const one of cases.filter(({ name }) => options.only.some((part) => name.includes(part)))) {
    const send = (bursts: Omit<Bursts, 'port'>): Promise<BurstTimes> =>
      child.ask('bursts', { port, ...bursts })
    if (BURSTS > 0 && !(await burst(send, guesser.client.token, one))) telling += 1
    if (PROBES === 0) continue
    for (const isPrepared of [false, true]) {
      if (!(await guess(probe, guesser.client.token, one, isPrepared))) telling += 1
    }
  }
  await child.stop()
  await server.stop()
}
console.log(telling === 0 ? 'no time tells' : `${telling} times tell, or did by luck`)
