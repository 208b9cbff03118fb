import { defineConfig } from 'vitest/config'
import { LastLineReporter } from './test/support/last-line-reporter.ts'

/**
 * Tests that start many processes, wait for faults, or try thousands of cases. `npm test` leaves them out, so that it
 * ends within four minutes; `npm run test:all` and CI run them, and so does a run that names its files.
 */
const slow = [
  'answer-attacks',
  'backup',
  'body-attacks',
  'cli',
  'crash',
  'drain',
  'even-refusals',
  'fuzz',
  'granted-lists',
  'import',
  'import-cli',
  'large-organization',
  'outages',
  'outages-under-load',
  'resource-commands',
  'serve',
  'serve-refusals',
  'sqlite-disk',
  'sqlite-faults',
]
const isWhole =
  process.env.PURSER_TEST_ALL === '1' ||
  process.env.PURSER_TEST_LONG === '1' ||
  process.argv.some((argument) => argument.endsWith('.test.ts'))
const leftOut = isWhole ? [] : slow.map((name) => `test/${name}.test.ts`)

// vitest reads the configuration from the default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: leftOut,
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 180_000,
    // Databases are made and migrated in hooks, beside other work on few cores.
    hookTimeout: 600_000,
    teardownTimeout: 30_000,
    reporters: ['default', new LastLineReporter(leftOut.length)],
  },
})
