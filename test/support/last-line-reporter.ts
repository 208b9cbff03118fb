import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node'

/** Ends the output with the plain line `N passed, M failed`, whatever the run printed before. */
export class LastLineReporter implements Reporter {
  readonly #leftOut: readonly string[]
  #isPart = false

  /** @param leftOut names of the test files that this run leaves out */
  constructor(leftOut: readonly string[]) {
    this.#leftOut = leftOut
  }

  onInit(vitest: Vitest): void {
    this.#isPart = vitest.config.testNamePattern !== undefined
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    let passed = 0
    // An error outside of tests counts as a failure, too: an unhandled rejection, or a file that does not load.
    let failed = errors.length
    for (const testModule of modules) {
      failed += testModule.errors().length
      for (const test of testModule.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed++
        // A skipped test counts as failed, unless the run selects tests by name.
        else if (state !== 'skipped' || !this.#isPart) failed++
      }
    }
    // On exit, because the other reporters still write their summaries.
    process.once('exit', () => {
      if (this.#leftOut.length > 0) {
        process.stdout.write(
          `left out: ${this.#leftOut.join(', ')}; npm run test:postgres runs all test files
`,
        )
      }
      process.stdout.write(`${passed} passed, ${failed} failed\n`)
    })
  }
}
