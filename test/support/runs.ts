export const isLong = process.env['PURSER_TEST_LONG'] === '1'

/** Runs of a property: a sample in `npm test`, all of them with PURSER_TEST_LONG=1. */
export function runs(sample: number, long: number): { numRuns: number } {
  return { numRuns: isLong ? long : sample }
}

/** A test that may take longer than usual in the long mode, in milliseconds. */
export const longTimeout = isLong ? 3_600_000 : 60_000
