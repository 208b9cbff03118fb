import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { LastLineReporter } from './test/support/last-line-reporter.ts'

/**
 * Tests that start many processes, wait for faults, or try thousands of cases. `npm test` leaves them out, so that it
 * ends within four minutes; `npm run test:all` and CI run them, and so does a run that names its files.
 */
const slow = [
  'answer-attacks',
  'backup',
  'body-attacks',
  'crash',
  'drain',
  'examined-rows',
  'fuzz',
  'granted-lists',
  'import-cli',
  'lists-agree',
  'resource-commands',
  'sqlite-disk',
  'sqlite-faults',
]

const { PURSER_TEST_ALL, PURSER_TEST_LONG, PURSER_TEST_POSTGRES_URL, PURSER_TEST_REST } = process.env
/** For CI, after `npm test`: runs what that left out, which is slow files, and all other tests on PostgreSQL. */
const isRest = PURSER_TEST_REST === '1'
if (isRest && PURSER_TEST_POSTGRES_URL === undefined) throw new Error('PURSER_TEST_REST needs PostgreSQL')
const isWhole =
  isRest ||
  PURSER_TEST_ALL === '1' ||
  PURSER_TEST_LONG === '1' ||
  process.argv.some((argument) => argument.endsWith('.test.ts'))

const sources = new Map(
  globSync('test/**/*.test.ts', { cwd: import.meta.dirname }).map((file) => [
    file.slice('test/'.length, -'.test.ts'.length),
    readFileSync(join(import.meta.dirname, file), 'utf8'),
  ]),
)
const filesWhere = (holds: (source: string, name: string) => boolean): string[] =>
  [...sources].flatMap(([name, source]) => (holds(source, name) ? [name] : []))

const slowFiles = filesWhere((_, name) => slow.includes(name) || name.startsWith('web/'))
/** What a file declares outside of functions. A file that declares nothing, for want of PostgreSQL, would fail. */
const declaresTests = /^(?:test|describe|onEachEngine|onPostgres)\b.*/gm
const onPostgresOnly = /^(?:onPostgres|describe\.each\(onlyPostgres\))\(/
const needPostgres = filesWhere((source) => {
  const declared = source.match(declaresTests) ?? []
  return declared.length > 0 && declared.every((line) => onPostgresOnly.test(line))
})
const onEngines = /\b(?:onEachEngine|onPostgres|engines|onlyPostgres)\b/
const onBothEngines = filesWhere((source) => onEngines.test(source))
/**
 * Files of the same process share what they import, and what is compiled from it: a process for each file would take
 * twice the time. A file that replaces a module, or adds a migration, needs a process for itself.
 */
const needsOwnProcess = /vi\.mock\(|later-migration/
const alone = filesWhere((source) => needsOwnProcess.test(source))

const leftOut = [
  ...(isWhole ? [] : slowFiles),
  ...(PURSER_TEST_POSTGRES_URL === undefined ? needPostgres : []),
]
const chosen = filesWhere((_, name) => !leftOut.includes(name))
const neverRun = chosen.filter((name) => slowFiles.includes(name) || needPostgres.includes(name))
const runOnSqlite = onBothEngines.filter((name) => !neverRun.includes(name))

function projects(names: readonly string[], engines = ''): TestProjectConfiguration[] {
  const project = (isolate: boolean): TestProjectConfiguration => ({
    extends: true,
    test: {
      name: `${isolate ? 'alone' : 'together'}${engines}`,
      isolate,
      include: names.filter((name) => alone.includes(name) === isolate).map((name) => `test/${name}.test.ts`),
      env: engines === '' ? {} : { PURSER_TEST_ENGINES: engines },
    },
  })
  return [project(false), project(true)]
}

// vitest reads the configuration from the default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  test: {
    projects: isRest ? [...projects(neverRun), ...projects(runOnSqlite, 'postgres')] : projects(chosen),
    globalSetup: ['test/support/build-program.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 180_000,
    // On a busy machine a page needs more than the second that vitest polls for.
    expect: { poll: { timeout: 60_000 } },
    // Databases are made and migrated in hooks, beside other work on few cores.
    hookTimeout: 600_000,
    teardownTimeout: 30_000,
    reporters: ['default', new LastLineReporter(leftOut)],
  },
})
