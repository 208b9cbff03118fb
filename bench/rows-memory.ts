// Memory of a new server and after work, and how speed and memory grow.
import { median, thousands, type Bench, type Row } from './bench.ts'
import { wire } from './purser.ts'
import { uploadLarge, uploadTimes, workspaceWith } from './rows-outputs.ts'
import type { Organization } from './seed.ts'

const REQUESTS = 100_000
const SETTLE_MS = 2_000
const GROWTH_MS = 500

export const memoryRows: Row[] = [
  {
    id: 'memory',
    what: 'memory, idle and after 100,000 requests',
    run: async (bench) => {
      await bench.restart()
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
      const idle = await bench.purser.usage()
      const { small, large } = bench.world
      const paths = [
        ...small.teams.map(({ id }) => `/teams/${id}`),
        `/organizations/${small.name}/teams`,
        ...Array.from(
          { length: 100 },
          (_, page) => `/organizations/${large.name}/teams?page%5Bnumber%5D=${page * 40 + 1}`,
        ),
      ]
      const readers = [bench.world.adminToken]
      const requests = paths.flatMap((path) => readers.map((token) => wire('GET', path, token)))
      await bench.run({ requests, count: REQUESTS })
      const after = await bench.purser.usage()
      const figure = { unit: 'MB', better: 'less' } as const
      return {
        figures: [
          {
            ...figure,
            what: 'idle memory',
            value: idle.rss,
            atLeast: 120,
            details: `at most ${idle.peakRss.toFixed(0)} MB`,
          },
          {
            ...figure,
            what: 'memory after 100,000 requests',
            value: after.rss,
            atLeast: 200,
            details: `at most ${after.peakRss.toFixed(0)} MB; single teams, and 101 different pages of 20`,
          },
        ],
      }
    },
  },
]

async function speed(bench: Bench, path: string, token: string): Promise<string[]> {
  const requests = [wire('GET', path, token)]
  await bench.run({ requests, durationMs: GROWTH_MS / 2 })
  const before = await bench.purser.usage()
  const { answers, seconds } = await bench.run({ requests, durationMs: GROWTH_MS })
  const after = await bench.purser.usage()
  return [`${thousands(answers / seconds)}/s`, `${((after.cpu - before.cpu) / answers).toFixed(0)} µs`]
}

function teamList(organization: Organization, page: number): string {
  return `/organizations/${organization.name}/teams?page%5Bnumber%5D=${page}`
}

export const growthRows: Row[] = [
  {
    id: 'growth-teams',
    what: 'growth with teams',
    run: async (bench) => {
      const { small, middle, large, crowded } = bench.world
      const lines: string[][] = []
      for (const organization of [small, ...middle, large, crowded]) {
        const { token } = organization.owner
        const teams = organization.teams.length + 1
        const paths = [
          `/teams/${organization.teams[3]?.id}`,
          teamList(organization, 1),
          teamList(organization, teams / 20),
        ]
        const cells: string[] = []
        for (const path of paths) cells.push(...(await speed(bench, path, token)))
        const { rss } = await bench.purser.usage()
        const members = organization === crowded ? ' of 1,000 members' : ''
        lines.push([`${teams.toLocaleString('en')}${members}`, ...cells, `${rss.toFixed(0)} MB`])
      }
      const head = ['teams', 'show', 'CPU', 'first page', 'CPU', 'last page', 'CPU', 'memory then']
      return {
        figures: [],
        tables: [{ title: 'How reads grow with the teams of an organization', head, lines }],
      }
    },
  },
  {
    id: 'growth-outputs',
    what: 'growth with outputs',
    run: async (bench) => {
      const { token } = bench.world.small.owner
      const lines: string[][] = []
      for (const outputs of [20, 1_000, 10_000]) {
        const { workspaceId, stateVersionId } = await workspaceWith(bench, outputs)
        const currentCells = await speed(
          bench,
          `/workspaces/${workspaceId}/current-state-version-outputs`,
          token,
        )
        const pageCells = await speed(bench, `/state-versions/${stateVersionId}/outputs`, token)
        const times = await uploadTimes(bench, outputs, 3)
        lines.push([
          outputs.toLocaleString('en'),
          ...currentCells,
          ...pageCells,
          `${median(times).toFixed(0)} ms`,
        ])
      }
      const head = ['outputs', 'all current', 'CPU', 'first page', 'CPU', 'upload until readable']
      return { figures: [], tables: [{ title: 'How reads grow with the outputs of a state', head, lines }] }
    },
  },
  {
    id: 'growth-states',
    what: 'growth with the size of states',
    run: async (bench) => {
      const lines: string[][] = []
      for (const megabytes of [1, 20, 200]) {
        const { milliseconds, p99, delay, peakRss } = await uploadLarge(bench, megabytes)
        lines.push([
          `${megabytes} MB`,
          `${milliseconds.toFixed(0)} ms`,
          `${p99.toFixed(1)} ms`,
          `${delay.p999.toFixed(1)} ms`,
          `${peakRss.toFixed(0)} MB`,
        ])
      }
      const head = ['state', 'upload until readable', "readers' p99", 'event-loop delay p99.9', 'peak memory']
      return {
        figures: [],
        tables: [{ title: 'How uploads grow with the state, 16 clients reading', head, lines }],
      }
    },
  },
  {
    id: 'beside-writes',
    what: 'reads beside writes',
    run: async (bench) => {
      const { small } = bench.world
      const { token } = small.owner
      const lines: string[][] = []
      for (const every of [undefined, 10, 1]) {
        const writes = [0, 1].map((number) =>
          wire('PATCH', `/teams/${small.teams[5]?.id}`, token, {
            data: { type: 'teams', attributes: { 'sso-team-id': `sso-${number}` } },
          }),
        )
        const writing =
          every === undefined ? undefined : bench.run({ requests: writes, connections: 1, everyMs: every })
        const show = await speed(bench, `/teams/${small.teams[3]?.id}`, token)
        const list = await speed(bench, teamList(small, 1), token)
        await bench.stopLoad()
        const written = await writing
        const perSecond = written === undefined ? 0 : written.answers / written.seconds
        lines.push([perSecond.toFixed(0), ...show, ...list])
      }
      const head = ['writes a second', 'show', 'CPU', 'list of 20', 'CPU']
      return {
        figures: [],
        tables: [
          {
            title: 'Reads of an organization that is being changed (CPU includes that of the writes)',
            head,
            lines,
          },
        ],
      }
    },
  },
]
