import { median, type Row } from './bench.ts'
import { wire } from './purser.ts'

const CLIENTS = 8
const ROUNDS = 3
const ROUND_MS = 2_500
const QUICK_MS = 1_000
/** More than a round can use, so that each name is used once. */
const MOST_A_ROUND = 20_000

let round = 0

export const writeRows: Row[] = [
  {
    id: 'create-team',
    what: 'team creates, 8 clients, durable',
    run: async (bench) => {
      const { small, middle } = bench.world
      const organization = middle[0] ?? small
      const rounds: { perSecond: number; p99: number; cpu: number }[] = []
      for (let count = 0; count <= ROUNDS; count += 1) {
        round += 1
        const requests = Array.from({ length: MOST_A_ROUND }, (_, number) =>
          wire('POST', `/organizations/${organization.name}/teams`, organization.owner.token, {
            data: { type: 'teams', attributes: { name: `created-${process.pid}-${round}-${number}` } },
          }),
        )
        const before = await bench.purser.usage()
        const durationMs = bench.isQuick ? QUICK_MS : ROUND_MS
        const result = await bench.run({ requests, connections: CLIENTS, durationMs, count: MOST_A_ROUND })
        const after = await bench.purser.usage()
        rounds.push({
          perSecond: result.answers / result.seconds,
          p99: result.latencies[0]?.p99 ?? Number.NaN,
          cpu: (after.cpu - before.cpu) / result.answers,
        })
      }
      // The first round is the warm-up.
      const measured = rounds.slice(1)
      return {
        figures: [
          {
            what: 'team creates, 8 keep-alive clients, durable',
            value: median(measured.map(({ perSecond }) => perSecond)),
            unit: 'a second',
            atLeast: 2_000,
            aim: 4_500,
            better: 'more',
            details: `CPU ${median(measured.map(({ cpu }) => cpu)).toFixed(0)} µs a request; p99 ${median(measured.map(({ p99 }) => p99)).toFixed(1)} ms`,
          },
        ],
      }
    },
  },
]
