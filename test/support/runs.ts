export const isLong = process.env['PURSER_TEST_LONG'] === '1'

/** The number of runs of a property: a sample in `npm test`, all with PURSER_TEST_LONG=1. */
export function runs(sample: number, long: number): { numRuns: number } {
  return { numRuns: isLong ? long : sample }
}

/** In milliseconds. In the long mode a test may take longer than usual. */
export const longTimeout = isLong ? 3_600_000 : 60_000
