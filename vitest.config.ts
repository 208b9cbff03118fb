import { defineConfig } from 'vitest/config'
import { LastLineReporter } from './test/support/last-line-reporter.ts'

// vitest reads the configuration from the default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 180_000,
    // Databases are made and migrated in hooks, beside other work on few cores.
    hookTimeout: 600_000,
    teardownTimeout: 30_000,
    reporters: ['default', new LastLineReporter()],
  },
})
