// One, two and three nodes on one PostgreSQL, behind a balancer.
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { thousands, type Bench, type Row } from './bench.ts'
import { Child } from './child.ts'
import type { JobResult } from './load.ts'
import { Purser, wire } from './purser.ts'
import { organizationsFor, teamCreates } from './rows-writes.ts'

const MOST_NODES = 3
const CONNECTIONS = 24
const CREATING = 8
const WARM_UP_MS = 2_000
const MEASURED_MS = 3_000
const QUICK_MS = 1_000

type Measured = { result: JobResult; cpu: number }

async function measure(
  bench: Bench,
  nodes: readonly Purser[],
  port: number,
  requests: string[],
  connections: number,
): Promise<Measured> {
  const used = async () => {
    const usages = await Promise.all(nodes.map((node) => node.usage()))
    return usages.reduce((sum, { cpu }) => sum + cpu, 0)
  }
  const before = await used()
  const durationMs = bench.isQuick ? QUICK_MS : MEASURED_MS
  const result = await bench.run({ port, requests, connections, durationMs })
  return { result, cpu: ((await used()) - before) / result.answers }
}

async function linesFor(bench: Bench, nodes: readonly Purser[], balancer: Child): Promise<string[]> {
  const port = await balancer.ask<number>(
    'listen',
    nodes.map((node) => node.port),
  )
  const { small } = bench.world
  const reads = small.teams.slice(1).map(({ id }) => wire('GET', `/teams/${id}`, small.owner.token))
  await bench.run({ port, requests: reads, connections: CONNECTIONS, durationMs: WARM_UP_MS })
  const read = await measure(bench, nodes, port, reads, CONNECTIONS)
  const createIn = async (organizations: number) => {
    const creates = teamCreates(await organizationsFor(bench.engine, bench.world.folder, organizations))
    return measure(bench, nodes, port, creates, CREATING)
  }
  const inOne = await createIn(1)
  const inEight = await createIn(8)
  const cells = ({ result, cpu }: Measured) => [
    `${thousands(result.answers / result.seconds)}/s`,
    `${cpu.toFixed(0)} µs`,
    `${result.latencies[0]?.p99.toFixed(1)} ms`,
  ]
  return [String(nodes.length), ...cells(read), ...cells(inOne), ...cells(inEight)]
}

export const nodeRows: Row[] = [
  {
    id: 'nodes',
    what: 'one, two and three nodes behind a balancer',
    run: async (bench) => {
      if (bench.engine !== 'postgres') return { figures: [] }
      const balancer = new Child(fileURLToPath(new URL('./balancer.ts', import.meta.url)), 'load')
      const nodes = [bench.purser]
      const lines: string[][] = []
      try {
        for (;;) {
          lines.push(await linesFor(bench, nodes, balancer))
          if (nodes.length === MOST_NODES) break
          nodes.push(await Purser.start(bench.engine, bench.world.folder))
        }
      } finally {
        for (const node of nodes.slice(1)) await node.stop()
        await balancer.stop()
      }
      const title = `Nodes behind a balancer, which share ${cpus().length} processors with PostgreSQL and the load generator`
      const head = [
        'nodes',
        'show a team',
        'CPU of nodes',
        'p99',
        `creates in one organization, ${CREATING} clients`,
        'CPU of nodes',
        'p99',
        'in 8 organizations',
        'CPU of nodes',
        'p99',
      ]
      return { figures: [], tables: [{ title, head, lines }] }
    },
  },
]
