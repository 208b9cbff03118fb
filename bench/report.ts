import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import type { Engine } from '../src/database/portable.ts'
import type { Figure, Table } from './bench.ts'
import { placesText } from './child.ts'

export type Verdict = 'aim' | 'good' | 'MISSED' | ''

export function verdictOf({ value, atLeast, aim, better }: Figure): Verdict {
  const reaches = (wanted: number | undefined) =>
    wanted === undefined || (better === 'more' ? value >= wanted : value <= wanted)
  if (!reaches(atLeast) || Number.isNaN(value)) return 'MISSED'
  if (atLeast === undefined) return ''
  return aim !== undefined && reaches(aim) ? 'aim' : 'good'
}

const number = (value: number | undefined) =>
  value === undefined
    ? ''
    : value.toLocaleString('en', {
        maximumFractionDigits: Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0,
      })

function wanted({ better }: Figure, value: number | undefined): string {
  return value === undefined ? '' : `${better === 'more' ? '≥' : '≤'} ${number(value)}`
}

export function figureLines(figures: readonly Figure[]): string[][] {
  return figures.map((figure) => [
    figure.what,
    Number.isNaN(figure.value) ? 'not measured' : `${number(figure.value)} ${figure.unit}`,
    wanted(figure, figure.atLeast),
    wanted(figure, figure.aim),
    verdictOf(figure),
    figure.details,
  ])
}

const HEAD = ['what', 'measured', 'at least', 'aim', 'reached', 'details']

export function markdown(head: readonly string[], lines: readonly string[][]): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
  return [head, head.map(() => '---'), ...lines].map((line) => `| ${line.map(cell).join(' | ')} |`).join('\n')
}

export type Run = { date: Date; load: string; seconds: number }

export const titles: Record<Engine, string> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

const floors: Record<Engine, string> = {
  sqlite: `The floor makes two indexed node:sqlite reads. Data: one SQLite file, writes durable (synchronous=FULL). The load
generator never sleeps while it waits.`,
  postgres: `The floor makes one named read of a row through a pool of ten connections. Data: a PostgreSQL cluster of its own with the
settings of \`initdb\`, writes durable (fsync). Its processes may use every CPU, so the load generator sleeps while it waits. Creates
are compared with a SQLite server that is measured in the same rounds.`,
}

const begin = (engine: Engine) => `<!-- ${engine} -->`

/**
 * Writes docs/internals/bench.md: the machine, the figures of the last full run on each engine, and how to repeat it. A run
 * replaces the part of its own engine.
 */
export function writeReport(
  path: string,
  engine: Engine,
  figures: readonly Figure[],
  tables: readonly Table[],
  run: Run,
): void {
  writePart(path, HEAD_OF_PAGE, engine, partOf(engine, figures, tables, run))
}

/** Writes a page with a part for each engine. The part of the other engine stays as it is. */
export function writePart(path: string, head: string, engine: Engine, text: string): void {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const part = (of: Engine) => {
    if (of === engine) return text
    const [, rest = ''] = before.split(begin(of))
    return rest.split('<!-- end -->')[0]?.trim() ?? ''
  }
  const parts = (['sqlite', 'postgres'] as const).map(
    (each) => `${begin(each)}\n\n${part(each)}\n\n<!-- end -->`,
  )
  writeFileSync(path, `${head}\n\n${parts.join('\n\n')}\n`)
}

const HEAD_OF_PAGE = `# Bench

Written by \`npm run bench\` for SQLite and \`npm run bench -- --engine postgres\`; do not edit. A run takes some minutes and
exits with 1 when a figure misses its "at least". \`npm run bench -- --only list-20\` measures one row (\`--only ?\` names
them), \`--quick\` fewer rounds; neither writes this page.

**The floor** is a bare node:http server that hashes the bearer token, reads it from the same kind of database, and sends the
same bytes as the real answer. Server and floor are measured in turns, after a warm-up, by a load generator in a process
of its own with 16 keep-alive connections; a ratio is the median of the rounds' ratios. Where wrk is installed, it measures
both once more, and the lower ratio counts. CPU is user and system time of the server's process for one request. Data:
organizations of 20 to 100,000 teams of three members each.

Each row repeats one request, which is the fast case, if its name does not say otherwise: "show one of 2,000 teams" asks for
more teams than a node keeps plans of one caller, and each search has another text.

A ratio may be above 1: the floor writes each answer at once, and Purser writes those of one turn of the event loop together
([ADR 0038](../adr/0038-answers-of-a-turn-are-written-together.md)).

In the column "reached", *aim* means that the aim was reached, *good* that "at least" was, and *MISSED* that neither was.`

function partOf(
  engine: Engine,
  figures: readonly Figure[],
  tables: readonly Table[],
  { date, load, seconds }: Run,
): string {
  const [processor] = cpus()
  const machine = [
    ['Processor', `${processor?.model.trim()}, ${cpus().length} cores`],
    ['Memory', `${Math.round(totalmem() / 1e9)} GB`],
    ['System', `${process.platform} ${process.arch}`],
    ['Node', process.version],
    ['Date', date.toISOString().slice(0, 10)],
    ['Processes', placesText],
    ['Load of the machine before and after', load],
    ['Run took', `${Math.round(seconds)} s`],
  ]
  const growth = tables.map(({ title, head, lines }) => `### ${title}\n\n${markdown(head, lines)}`)
  return [
    `## ${titles[engine]}`,
    floors[engine],
    markdown(['machine', ''], machine),
    markdown(HEAD, figureLines(figures)),
    ...growth,
  ].join('\n\n')
}
