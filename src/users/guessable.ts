/** A longer password is judged by its beginning: the time grows with the length. */
const MAX_JUDGED = 40
/** Somebody who knows how people choose passwords, and may guess a thousand times a day, needs three years for so many. */
const MIN_GUESSES = 1_000_000
/** Words that somebody guesses here before others. */
const ownWords = ['purser', 'terraform', 'opentofu', 'hashicorp']

type Estimate = (password: string) => number
let estimate: Promise<Estimate> | undefined

/**
 * Whether a password is easy to guess: a common one, or one of those with numbers, years, repeats, rows of keys or
 * other letters (`p@ssword2026`). Takes up to some tenths of a second and 16 MB of memory, so it runs in a thread.
 */
export async function isGuessable(password: string): Promise<boolean> {
  estimate ??= loadEstimate()
  const guessesFor = await estimate
  return guessesFor(password.slice(0, MAX_JUDGED)) < MIN_GUESSES
}

async function loadEstimate(): Promise<Estimate> {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs: graphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ])
  const zxcvbn = new ZxcvbnFactory({ dictionary, graphs, maxLength: MAX_JUDGED })
  return (password) => zxcvbn.check(password, ownWords).guesses
}
