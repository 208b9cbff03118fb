import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** Ends the output with the plain line `N passed, M failed`, whatever else the run had to say. */
export class LastLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    let passed = 0
    // An error outside of tests (a rejection nobody handled, a file that does not load) is a failure too.
    let failed = errors.length
    for (const testModule of modules) {
      failed += testModule.errors().length
      for (const test of testModule.children.allTests()) {
        if (test.result().state === 'passed') passed++
        else failed++
      }
    }
    // On exit, since the other reporters still write their summaries.
    process.once('exit', () => process.stdout.write(`${passed} passed, ${failed} failed\n`))
  }
}
