// npm run bench: measures, prints, writes docs/internals/bench.md. Exits with 1 if a figure is worse than its "at least".
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'

import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Bench, type Figure, type Table } from './bench.ts'
import { Child, pinSelf, placesText } from './child.ts'
import { engineOf } from './engine.ts'
import { Purser } from './purser.ts'
import { figureLines, verdictOf, writeReport } from './report.ts'
import { accessRows } from './rows-access.ts'
import { hiddenRows } from './rows-hidden.ts'
import { growthRows, memoryRows } from './rows-memory.ts'
import { nodeRows } from './rows-nodes.ts'
import { outputRows, uploadRows } from './rows-outputs.ts'
import { pageRows } from './rows-pages.ts'
import { readRows } from './rows-reads.ts'
import { searchRows } from './rows-search.ts'
import { writeRows } from './rows-writes.ts'
import { seedOnce } from './seed.ts'
import { wantedOnPostgres } from './wanted-postgres.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    engine: { type: 'string', default: 'sqlite' },
    // Keeps the data in this folder, and reuses the data of an earlier run.
    data: { type: 'string' },
    quick: { type: 'boolean', default: false },
    // Options for the Node of the measured server, such as --cpu-prof.
    node: { type: 'string', multiple: true, default: [] },
  },
})

const rows = [
  ...readRows,
  ...outputRows,
  ...searchRows,
  ...writeRows,
  ...uploadRows,
  ...memoryRows,
  ...hiddenRows,
  ...accessRows,
  ...pageRows,
  ...growthRows,
  ...nodeRows,
]
const wanted = options.only === undefined ? rows : rows.filter(({ id }) => options.only?.includes(id))
if (wanted.length === 0) {
  for (const { id, what } of rows) console.log(`${id.padEnd(20)} ${what}`)
  process.exit(2)
}

const engine = engineOf(options.engine)
const start = performance.now()
const loadBefore = loadText()
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const folder = options.data ?? mkdtempSync(join(tmpdir(), 'purser-bench-'))
const figures: Figure[] = []
const tables: Table[] = []
const children: { stop: () => Promise<void> }[] = []
try {
  console.log(`${placesText}; load of the machine ${loadBefore}`)
  pinSelf()
  const world = await seedOnce(engine, folder)
  console.log(`data made after ${seconds()} s`)
  const load = new Child(here('load.ts'), 'load')
  const floor = new Child(here('floor.ts'), 'server', { args: [engine] })
  children.push(load, floor)
  const floorPort = await floor.ask<number>('listen')
  const purser = await Purser.start(engine, world.folder, options.node)
  const bench = new Bench({ engine, world, purser, load, floor, floorPort, isQuick: options.quick })
  children.push({ stop: () => bench.purser.stop() })
  for (const row of wanted) {
    try {
      const outcome = await row.run(bench)
      const found = engine === 'postgres' ? wantedOnPostgres(row.id, outcome.figures) : outcome.figures
      figures.push(...found)
      tables.push(...(outcome.tables ?? []))
      print(found)
    } catch (error) {
      await bench.stopLoad().catch(() => {})
      const details = error instanceof Error ? error.message : String(error)
      const figure: Figure = { what: row.what, value: Number.NaN, unit: '', better: 'more', details }
      figures.push(figure)
      print([figure])
    }
  }
} finally {
  for (const child of children.toReversed()) await child.stop()
  if (options.data === undefined) rmSync(folder, { recursive: true, force: true })
}

const missed = figures.filter((figure) => verdictOf(figure) === 'MISSED')
for (const table of tables) {
  console.log(`\n${table.title}\n${[table.head, ...table.lines].map((line) => line.join(' · ')).join('\n')}`)
}
console.log(`\n${figures.length - missed.length} reached, ${missed.length} missed, in ${seconds()} s`)
for (const { what } of missed) console.log(`missed: ${what}`)
if (options.only === undefined && !options.quick) {
  const run = { date: new Date(), load: `${loadBefore}; ${loadText()}`, seconds: Number(seconds()) }
  writeReport(here('../docs/internals/bench.md'), engine, figures, tables, run)
}
process.exitCode = missed.length === 0 ? 0 : 1

function print(some: readonly Figure[]): void {
  for (const [what, measured, atLeast, aim, verdict, details] of figureLines(some)) {
    console.log(`${verdict?.padEnd(6)} ${what}: ${measured} (${atLeast}; aim ${aim || 'none'}); ${details}`)
  }
}

function seconds(): string {
  return ((performance.now() - start) / 1000).toFixed(0)
}

function loadText(): string {
  return loadavg()
    .map((value) => value.toFixed(2))
    .join(' ')
}
