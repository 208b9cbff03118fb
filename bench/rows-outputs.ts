// Reads of outputs against the floor, and uploads of states.
import { median, type Bench, type Row } from './bench.ts'
import { comparedRow, type Asked, type Reading } from './compare.ts'
import { wire } from './purser.ts'
import { createWorkspace, largeState, outputIds, smallState, upload } from './states.ts'

const PAGE = 20
const MANY = 10_000

export type Stored = { workspaceId: string; stateVersionId: string }

const stored = new WeakMap<Bench, Map<string, Promise<Stored>>>()

/** A workspace of the small organization, with a state of `outputs` outputs. Created once. */
export function workspaceWith(bench: Bench, outputs: number, withSensitive = false): Promise<Stored> {
  const known = stored.get(bench) ?? new Map<string, Promise<Stored>>()
  stored.set(bench, known)
  const name = `outputs-${outputs}${withSensitive ? '-sensitive' : ''}-${process.pid}`
  const made = known.get(name) ?? store(bench, name, outputs, withSensitive)
  known.set(name, made)
  return made
}

async function store(bench: Bench, name: string, outputs: number, withSensitive: boolean): Promise<Stored> {
  const { small } = bench.world
  const { token } = small.owner
  const workspaceId = await createWorkspace(bench.purser, small, name)
  const file = smallState(1, outputs, withSensitive)
  return { workspaceId, stateVersionId: await upload(bench.purser, workspaceId, token, file) }
}

async function current(bench: Bench, outputs: number, token: string): Promise<Asked> {
  // Some outputs are sensitive, as in practice. This list shows them as null.
  const { workspaceId } = await workspaceWith(bench, outputs, true)
  return { path: `/workspaces/${workspaceId}/current-state-version-outputs`, token }
}

async function page(bench: Bench, outputs: number, number: number): Promise<Asked> {
  const { stateVersionId } = await workspaceWith(bench, outputs)
  const query = `page%5Bnumber%5D=${number}&page%5Bsize%5D=${PAGE}`
  return { path: `/state-versions/${stateVersionId}/outputs?${query}`, token: bench.world.small.owner.token }
}

const owner = (bench: Bench) => bench.world.small.owner.token
const member = (bench: Bench) => bench.world.small.member.token

/** Plain members read lists of current outputs only. */
async function giveAccess({ purser, world: { small } }: Bench, workspaceId: string): Promise<void> {
  const team = { type: 'teams', id: small.memberTeams[1]?.id }
  await purser.must('POST', '/team-workspaces', small.owner.token, {
    data: {
      type: 'team-workspaces',
      attributes: { access: 'custom', 'state-versions': 'read-outputs' },
      relationships: { workspace: { data: { type: 'workspaces', id: workspaceId } }, team: { data: team } },
    },
  })
}

const readings: Reading[] = [
  {
    id: 'show-output',
    what: 'show an output',
    ask: async (bench) => {
      const { workspaceId } = await workspaceWith(bench, 20)
      const [id] = await outputIds(bench.purser, workspaceId, owner(bench))
      return { path: `/state-version-outputs/${id}`, token: owner(bench) }
    },
    atLeast: 0.85,
    aim: 1,
  },
  {
    id: 'member-show-output',
    what: 'member with access: show an output',
    ask: async (bench) => {
      // One of its own: rows about hidden objects need the others without access.
      const { workspaceId } = await workspaceWith(bench, 21)
      const [id] = await outputIds(bench.purser, workspaceId, owner(bench))
      await giveAccess(bench, workspaceId)
      return { path: `/state-version-outputs/${id}`, token: member(bench) }
    },
    atLeast: 0.8,
    aim: 0.85,
  },
  {
    id: 'current-20',
    what: 'current outputs, 20',
    ask: (bench) => current(bench, 20, owner(bench)),
    atLeast: 0.85,
    aim: 1,
  },
  {
    id: 'current-1000',
    what: 'current outputs, 1,000',
    ask: (bench) => current(bench, 1_000, owner(bench)),
    atLeast: 0.85,
    aim: 1,
  },
  {
    id: 'outputs-first-page',
    what: 'first page of 10,000 outputs',
    ask: (bench) => page(bench, MANY, 1),
    short: (bench) => page(bench, PAGE, 1),
    atLeast: 0.8,
    aim: 1,
  },
  {
    id: 'outputs-last-page',
    what: 'last page of 10,000 outputs',
    ask: (bench) => page(bench, MANY, MANY / PAGE),
    atLeast: 0.7,
    aim: 0.9,
  },
  {
    id: 'member-current-20',
    what: 'plain member: current outputs, 20',
    ask: (bench) => current(bench, 20, member(bench)),
    atLeast: 0.8,
    aim: 0.85,
  },
]

export const outputRows: Row[] = readings.map(comparedRow)

const UPLOADS = 7

/** How long uploads of a state take until its outputs are readable, in milliseconds. Each goes to a new workspace. */
export async function uploadTimes(bench: Bench, outputs: number, times: number): Promise<number[]> {
  const { small } = bench.world
  const measured: number[] = []
  for (let count = 0; count < times; count += 1) {
    const name = `upload-${outputs}-${count}-${Math.round(performance.now())}`
    const workspaceId = await createWorkspace(bench.purser, small, name)
    const file = smallState(1, outputs)
    const start = performance.now()
    await upload(bench.purser, workspaceId, small.owner.token, file)
    measured.push(performance.now() - start)
  }
  return measured
}

/** Uploads a large state to a new server while 16 clients read. */
export async function uploadLarge(bench: Bench, megabytes: number) {
  await bench.restart()
  const { small } = bench.world
  const { token } = small.owner
  const name = `large-${process.pid}-${megabytes}-${Math.round(performance.now())}`
  const workspaceId = await createWorkspace(bench.purser, small, name)
  const file = largeState(1, megabytes)
  const requests = [wire('GET', `/teams/${small.teams[3]?.id}`, token)]
  await bench.run({ requests, durationMs: 1_000 })
  await bench.purser.startDelay()
  const reading = bench.run({ requests })
  const start = performance.now()
  try {
    await upload(bench.purser, workspaceId, token, file)
  } finally {
    await bench.stopLoad()
  }
  const milliseconds = performance.now() - start
  const { latencies, answers, seconds } = await reading
  const delay = await bench.purser.delay()
  const { peakRss } = await bench.purser.usage()
  return { milliseconds, p99: latencies[0]?.p99 ?? Number.NaN, perSecond: answers / seconds, delay, peakRss }
}

export const uploadRows: Row[] = [
  {
    id: 'upload-10000',
    what: 'upload of 10,000 outputs until readable',
    run: async (bench) => {
      const times = (await uploadTimes(bench, MANY, UPLOADS + 2)).slice(2)
      return {
        figures: [
          {
            what: 'upload of 10,000 outputs until readable',
            value: median(times),
            unit: 'ms',
            atLeast: 200,
            aim: 100,
            better: 'less',
            details: `${times.map((time) => time.toFixed(0)).join(', ')} ms`,
          },
        ],
      }
    },
  },
  {
    id: 'upload-200mb',
    what: 'upload of a 200 MB state while 16 clients read',
    run: async (bench) => {
      const { milliseconds, p99, perSecond, delay, peakRss } = await uploadLarge(bench, 200)
      const what = '200 MB state uploaded while 16 clients read'
      const details = `took ${(milliseconds / 1000).toFixed(1)} s beside ${Math.round(perSecond)} reads a second`
      const late = `p99 ${delay.p99.toFixed(1)}, longest ${delay.max.toFixed(1)} ms`
      return {
        figures: [
          {
            what: `${what}: their p99`,
            value: p99,
            unit: 'ms',
            atLeast: 20,
            aim: 5,
            better: 'less',
            details,
          },
          {
            what: `${what}: event-loop delay p99.9`,
            value: delay.p999,
            unit: 'ms',
            atLeast: 20,
            aim: 5,
            better: 'less',
            details: late,
          },
          {
            what: `${what}: peak memory of the server`,
            value: peakRss,
            unit: 'MB',
            atLeast: 400,
            aim: 250,
            better: 'less',
            details: '',
          },
        ],
      }
    },
  },
]
