import { writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
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

function markdown(head: readonly string[], lines: readonly string[][]): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
  return [head, head.map(() => '---'), ...lines].map((line) => `| ${line.map(cell).join(' | ')} |`).join('\n')
}

export type Run = { date: Date; load: string; seconds: number }

/** Writes docs/performance.md: the machine, the figures of the last full run, and how to repeat it. */
export function writeReport(
  path: string,
  figures: readonly Figure[],
  tables: readonly Table[],
  { date, load, seconds }: Run,
): void {
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
  writeFileSync(
    path,
    `# Performance

Written by \`npm run bench\`; do not edit. It takes some minutes, needs nothing but Node, and exits with 1 when a figure
misses its "at least". \`npm run bench -- --only list-20\` measures one row (\`--only ?\` names them), \`--quick\` fewer
rounds; neither writes this page.

**The floor** is a bare node:http server that hashes the bearer token, makes two indexed node:sqlite reads and sends the
same bytes as the real answer. Server and floor are measured in turns, after a warm-up, by a load generator in a process
of its own with 16 keep-alive connections; a ratio is the median of the rounds' ratios. Where wrk is installed, it measures
both once more, and the lower ratio counts. CPU is user and system time of the
server's process for one request. Data: one SQLite file with organizations of 20 to 100,000 teams of three members each,
writes durable (synchronous=FULL).

${markdown(['machine', ''], machine)}

## Figures

In the column "reached", *aim* means that the aim was reached, *good* that "at least" was, and *MISSED* that neither was.

${markdown(HEAD, figureLines(figures))}

${tables.map(({ title, head, lines }) => `## ${title}\n\n${markdown(head, lines)}`).join('\n\n')}
`.trimEnd() + '\n',
  )
}
