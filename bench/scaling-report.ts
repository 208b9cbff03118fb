// docs/internals/scaling.md: tables and figures of how latency grows.
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { Engine } from '../src/database/portable.ts'
import { routes } from '../src/app.ts'
import { markdown, titles, writePart } from './report.ts'
import type { Asked } from './scaling-asked.ts'

export type Series = {
  readonly dimension: string
  readonly what: string
  readonly growth: Asked['growth']
  readonly points: { size: number; ms: number }[]
}

/** A cost that grows by less than this power of the size counts as constant. */
const MAX_SLOPE = 0.1

/** The power of the size with which the latency grows: the slope of a line through the points, both axes logarithmic. */
export function slopeOf({ points }: Series): number {
  const logs = points.map(({ size, ms }) => ({ x: Math.log(size), y: Math.log(ms) }))
  const mean = (of: (log: { x: number; y: number }) => number) =>
    logs.reduce((sum, log) => sum + of(log), 0) / logs.length
  const [x, y] = [mean((log) => log.x), mean((log) => log.y)]
  return mean((log) => (log.x - x) * (log.y - y)) / mean((log) => (log.x - x) ** 2)
}

function verdict(series: Series): string {
  if (series.growth === 'answer') return 'larger answer'
  if (series.growth === 'search') return 'searches'
  if (slopeOf(series) <= MAX_SLOPE) return 'constant'
  return series.growth === 'counts' ? 'counts all' : 'GROWS'
}

const HEAD_OF_PAGE = `# Growth, measured

Written by \`npm run scaling\` for SQLite and \`npm run scaling -- --engine postgres\`; do not edit. Each cell is the
median latency of a request over one connection, in milliseconds, with nothing beside it. The slope is the power of the
size with which it grows: 0 is constant, 1 is proportional. A request for a single object or a first page counts as
constant up to ${MAX_SLOPE}. The last column says:

- **constant**: it does not grow.
- **counts all**: the database counts or sorts all rows that the list or the limit has. Their total must be exact, and
  no table keeps it for each filter or each caller. [Why these grow](#why-some-first-pages-grow) has the shares.
- **larger answer**: the answer has more in it: all outputs of a state, all members of a team, all teams of a person.
- **searches**: there is more to look through: a part of a name, or a page in the middle of a list.
- **GROWS**: it should not.

The sizes of a row are measured in turns, so that no change of the machine's speed looks like growth. Three kinds of rows
are measured one size at a time: those with a larger answer, those that search, and all rows by organizations, because
lists of the whole site have them all. A read is sent again and again, so most answers come from documents in memory, once
the database has confirmed the caller, their rights and the versions. An answer that is too large is not kept: see the
current outputs, all. Each write is sent once. \`q\` among teams is measured some seconds after the first search,
which reads and indexes all names. In the table of workspaces, a team of the member has a grant on each single workspace;
in that of projects, on each project. The last table has an organization with as many teams, workspaces, projects and
members at the same time, and the routes that no other table has. Two routes have no row: a change of a password takes the
time of two hashes, whatever else there is, and a login code needs the session of a browser.

## Why some first pages grow

Their answers have the exact number of all rows, so the database counts all of them. It also sorts them if no index has
their order. On 2026-11-28, with 10,000 rows (of the holders on a workspace 1,000), the database took this share of the
time of a request:

| request | SQLite | PostgreSQL |
| --- | --- | --- |
| holders of a project | 0.96 | 0.91 |
| members of a team | 0.94 | 0.88 |
| tags of a workspace, as a member | 0.92 | 0.88 |
| grants of a team | 0.90 | 0.90 |
| show a project, as a member | 0.89 | 0.92 |
| grants on a workspace | 0.87 | 0.88 |
| workspaces, sort=-name, as a member | 0.86 | 0.85 |
| workspaces, search[tags] | 0.84 | 0.70 |
| projects, as a member | 0.84 | 0.87 |
| tokens of all teams | 0.83 | 0.73 |
| members, filter[status] | 0.75 | 0.59 |
| audit events, filter[action] | 0.71 | 0.89 |
| tags | 0.59 | 0.57 |
| tags of a workspace | 0.58 | 0.61 |
| holders on a workspace | 0.55 | 0.28 |
| state versions, first page | 0.47 | 0.51 |
| organizations, as an administrator | 0.40 | 0.41 |
| users, as an administrator | 0.33 | 0.31 |

The rest is mostly what every request takes. Only the holders on a workspace grow in the server, too: it reads every team
with access, because a person counts once, however many of these teams they are in.

\`test/examined-rows.test.ts\` counts the rows that every read examines in an organization with 200,000 teams, 20,000
workspaces and 5,000 members. Reads that grow run in a thread on SQLite, but for two: the first \`q\` among teams after a
start reads all names, 0.5 to 0.7 seconds for 200,000, in slices between other requests; and after a change of access, the
first request of a member sums the grants of their teams, some 15 ms for 20,000. A page of 100 members with
\`include=teams,user\` has all their teams: an answer of 2.2 MB takes 0.3 to 0.4 seconds.

The limits of the [settings](../settings.md) bound what they count: 5,000 members of a team and 1,000 state versions of a
workspace, for example, if nothing else is set.`

export type Measured = {
  readonly series: readonly Series[]
  /** The largest size. */
  readonly most: number
  /** The first line of each request that was sent. */
  readonly sent: readonly string[]
}

export function writeScaling(docs: string, engine: Engine, measured: Measured): void {
  const { series } = measured
  writePart(join(docs, 'internals/scaling.md'), HEAD_OF_PAGE, engine, partOf(engine, measured))
  for (const [dimension, some] of byDimension(series)) {
    writeFileSync(join(docs, 'internals', fileOf(dimension, engine)), plot(some, dimension))
  }
}

function byDimension(series: readonly Series[]): Map<string, Series[]> {
  return Map.groupBy(series, ({ dimension }) => dimension)
}

const fileOf = (dimension: string, engine: Engine) =>
  `scaling-${dimension.replaceAll(' ', '-')}-${engine}.svg`

function partOf(engine: Engine, { series, most, sent }: Measured): string {
  const [processor] = cpus()
  const where = `${processor?.model.trim()}, ${cpus().length} cores, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}, sizes up to ${most.toLocaleString('en')}.`
  const tables = Array.from(byDimension(series), ([dimension, some]) => {
    const sizes = [...new Set(some.flatMap(({ points }) => points.map(({ size }) => size)))]
    const head = [dimension, ...sizes.map((size) => size.toLocaleString('en')), 'slope', '']
    const lines = some.map((each) => [
      each.what,
      ...sizes.map((size) => cellOf(each.points.find((point) => point.size === size)?.ms)),
      slopeOf(each).toFixed(2),
      verdict(each),
    ])
    return `### By ${dimension}\n\n${markdown(head, lines)}\n\n![Latency by ${dimension}](${fileOf(dimension, engine)})`
  })
  return [`## ${titles[engine]}`, where, ...tables, withoutRow(sent)].join('\n\n')
}

/** The routes that no row has asked. */
function withoutRow(sent: readonly string[]): string {
  const others = routes.filter(({ method, path }) => {
    const line = new RegExp(`^${method} /api/v2${path.replace(/:[a-z_]+/g, '[^/?]+')}[? ]`)
    return !sent.some((each) => line.test(each))
  })
  const names = others.map(({ method, path }) => `\`${method} ${path}\``)
  return `### Without a row\n\n${others.length} of ${routes.length} routes are in no table: ${names.join(', ')}.`
}

const cellOf = (ms: number | undefined) => ms?.toFixed(ms < 10 ? 2 : 1) ?? ''

const [WIDTH, LEAST_HEIGHT, LEFT, TOP, BOTTOM, LEGEND, LINE] = [760, 360, 60, 20, 40, 240, 18]
const colors = '#1b6ac9 #c2410c #15803d #7e22ce #a16207 #be123c #0e7490 #4d4d4d #4f46e5 #b45309'.split(' ')

/** A plot with two logarithmic axes. It needs neither scripts nor fonts, and reads on light and dark pages. */
function plot(series: readonly Series[], dimension: string): string {
  const points = series.flatMap((each) => each.points)
  const height = Math.max(LEAST_HEIGHT, TOP + BOTTOM + series.length * LINE)
  const range = (values: readonly number[]) => [
    Math.floor(Math.log10(Math.min(...values))),
    Math.ceil(Math.log10(Math.max(...values))),
  ]
  const [left = 0, right = 1] = range(points.map(({ size }) => size))
  const [low = 0, high = 1] = range(points.map(({ ms }) => ms))
  const x = (size: number) => LEFT + ((Math.log10(size) - left) / (right - left)) * (WIDTH - LEFT - LEGEND)
  const y = (ms: number) =>
    height - BOTTOM - ((Math.log10(ms) - low) / (high - low)) * (height - TOP - BOTTOM)
  const text = (at: string, content: string) => `<text ${at} fill="#808080">${content}</text>`
  const decades = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, n) => 10 ** (from + n))
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    ...decades(left, right).map((size) =>
      text(`x="${x(size)}" y="${height - BOTTOM + LINE}" text-anchor="middle"`, size.toLocaleString('en')),
    ),
    ...decades(low, high).flatMap((ms) => [
      `<path d="M${LEFT} ${y(ms)}H${WIDTH - LEGEND}" stroke="#808080" stroke-opacity="0.3"/>`,
      text(
        `x="${LEFT - 6}" y="${y(ms) + 4}" text-anchor="end"`,
        `${ms >= 1 ? ms : ms.toFixed(Math.ceil(-Math.log10(ms)))} ms`,
      ),
    ]),
    text(`x="${(LEFT + WIDTH - LEGEND) / 2}" y="${height - 4}" text-anchor="middle"`, dimension),
    ...series.flatMap(({ what, points: some }, place) => {
      const color = colors[place % colors.length]
      const path = some.map(({ size, ms }) => `${x(size).toFixed(1)},${y(ms).toFixed(1)}`).join(' ')
      return [
        `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"${place < colors.length ? '' : ' stroke-dasharray="6 4"'}/>`,
        `<text x="${WIDTH - LEGEND + 12}" y="${TOP + 16 + place * LINE}" fill="${color}">${what}</text>`,
      ]
    }),
    '</svg>',
  ]
  return `${lines.join('\n')}\n`
}
