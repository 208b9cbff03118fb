/** PURSER_TEST_LONG=1: the proofs at full length (docs/testing.md has the commands); otherwise a sample of each. */
export const isLong = process.env.PURSER_TEST_LONG === '1'
