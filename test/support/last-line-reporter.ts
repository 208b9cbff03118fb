import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node'

/** Ends the output with the plain line `N passed, M failed`, whatever else the run had to say. */
export class LastLineReporter implements Reporter {
  #isPart = false

  onInit(vitest: Vitest): void {
    this.#isPart = vitest.config.testNamePattern !== undefined
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    let passed = 0
    // An error outside of tests (a rejection nobody handled, a file that does not load) is a failure too.
    let failed = errors.length
    for (const testModule of modules) {
      failed += testModule.errors().length
      for (const test of testModule.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed++
        // Nothing may be skipped, unless by asking for some tests only.
        else if (state !== 'skipped' || !this.#isPart) failed++
      }
    }
    // On exit, since the other reporters still write their summaries.
    process.once('exit', () => process.stdout.write(`${passed} passed, ${failed} failed\n`))
  }
}
