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
  'fuzz',
  'granted-lists',
  'import-cli',
  'lists-agree',
  'resource-commands',
  'sqlite-disk',
  'sqlite-faults',
  'web/*',
]
/** Tests of what only PostgreSQL has. */
const needPostgres = [
  'changed-servers',
  'failover',
  'outages',
  'outages-under-load',
  'pgbouncer',
  'plans-on-skewed-data',
  'postgres-connections',
  'round-trips',
  'unfit-databases',
]

const { PURSER_TEST_ALL, PURSER_TEST_LONG, PURSER_TEST_POSTGRES_URL } = process.env
const isWhole =
  PURSER_TEST_ALL === '1' ||
  PURSER_TEST_LONG === '1' ||
  process.argv.some((argument) => argument.endsWith('.test.ts'))
const leftOut = [...(isWhole ? [] : slow), ...(PURSER_TEST_POSTGRES_URL === undefined ? needPostgres : [])]

/**
 * Files of the same process share what they import, and what is compiled from it: a process for each file would take
 * twice the time. A file that replaces a module, or adds a migration, needs a process for itself.
 */
const needsOwnProcess = /vi\.mock\(|later-migration/
const alone = globSync('test/**/*.test.ts', { cwd: import.meta.dirname }).filter((file) =>
  needsOwnProcess.test(readFileSync(join(import.meta.dirname, file), 'utf8')),
)
const exclude = leftOut.map((name) => `test/${name}.test.ts`)
const project = (
  name: string,
  isolate: boolean,
  include: string[],
  left: string[],
): TestProjectConfiguration => ({
  extends: true,
  test: { name, isolate, include, exclude: left },
})

// vitest reads the configuration from the default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  test: {
    projects: [
      project('together', false, ['test/**/*.test.ts'], [...exclude, ...alone]),
      project('alone', true, alone, exclude),
    ],
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
