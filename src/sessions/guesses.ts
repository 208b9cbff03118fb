import { AppError, TooManyAttempts } from '../core/errors.ts'

/** Wrong passwords for one account from one address before a pause, and from one address for all accounts. */
const FREE_FOR_ACCOUNT = 5
const FREE_FROM_ADDRESS = 50
const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 300_000
/** The wrong passwords for an account are forgotten after this time without another one. */
const FORGET_AFTER_MS = 900_000
/** One wrong password from an address is forgotten each time this has passed: many people may share an address. */
const FORGET_ONE_MS = 60_000
const MAX_KEPT = 20_000

/** `since`: from when on the next one is forgotten, whatever comes meanwhile. */
type Count = { wrong: number; last: number; since: number }

type Guesser = { readonly account: string; readonly address: string; readonly now: Date }

/**
 * Slows down guessing of passwords. Counts by account and address together, so that nobody can lock an account for its
 * owner, who is somewhere else. Each process counts for itself.
 */
export class Guesses {
  /** Least recently counted first. */
  readonly #counts = new Map<string, Count>()

  /**
   * Runs an attempt, and returns its result; false and undefined mean that the password was wrong. It counts as wrong
   * before the password is checked, so that many at once are no more than many in turn. If it was not checked, because
   * the server is busy or the database is away, it does not count. Throws 429 while a pause lasts.
   */
  async attempt<T>({ account, address, now: at }: Guesser, check: () => Promise<T>): Promise<T> {
    const pair = JSON.stringify([account, address])
    const now = at.getTime()
    const lastOfPair = this.#find(pair, now)?.last ?? 0
    const lastOfAddress = this.#find(address, now)?.last ?? 0
    this.#begin(pair, address, now)
    try {
      const result = await check()
      if (result !== false && result !== undefined) {
        this.#takeBack(address, now, lastOfAddress)
        this.#counts.delete(pair)
      }
      return result
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'unauthorized')) {
        this.#takeBack(address, now, lastOfAddress)
        this.#takeBack(pair, now, lastOfPair)
      }
      throw error
    }
  }

  #begin(pair: string, address: string, now: number): void {
    const wait = Math.max(
      waitMs(this.#ofAccount(pair, now), FREE_FOR_ACCOUNT, now),
      waitMs(this.#ofAddress(address, now), FREE_FROM_ADDRESS, now),
    )
    if (wait > 0) {
      const seconds = Math.ceil(wait / 1_000)
      throw new TooManyAttempts(`too many wrong passwords; try again in ${seconds} seconds`, seconds)
    }
    this.#add(pair, this.#ofAccount(pair, now), now)
    this.#add(address, this.#ofAddress(address, now), now)
  }

  /** Undoes what an attempt at `now` has counted. A pause is not begun again by somebody who knew the password. */
  #takeBack(key: string, now: number, lastBefore: number): void {
    const found = this.#counts.get(key)
    if (found === undefined) return
    found.wrong = Math.max(0, found.wrong - 1)
    if (found.last === now) found.last = lastBefore
  }

  #ofAccount(pair: string, now: number): Count {
    const found = this.#find(pair, now)
    return found === undefined || now - found.last > FORGET_AFTER_MS
      ? { wrong: 0, last: 0, since: now }
      : found
  }

  #ofAddress(address: string, now: number): Count {
    const { wrong, last, since } = this.#find(address, now) ?? { wrong: 0, last: 0, since: now }
    const forgotten = Math.floor((now - since) / FORGET_ONE_MS)
    if (forgotten >= wrong) return { wrong: 0, last, since: now }
    return { wrong: wrong - forgotten, last, since: since + forgotten * FORGET_ONE_MS }
  }

  /** If the clock was set back since, a pause begins anew: its end may be years ahead. */
  #find(key: string, now: number): Count | undefined {
    const found = this.#counts.get(key)
    if (found !== undefined) {
      found.last = Math.min(found.last, now)
      found.since = Math.min(found.since, now)
    }
    return found
  }

  #add(key: string, { wrong, since }: Count, now: number): void {
    this.#counts.delete(key)
    this.#counts.set(key, { wrong: wrong + 1, last: now, since })
    for (const [oldest] of this.#counts) {
      if (this.#counts.size <= MAX_KEPT) break
      this.#counts.delete(oldest)
    }
  }
}

function waitMs({ wrong, last }: Count, free: number, now: number): number {
  if (wrong < free) return 0
  return last + Math.min(FIRST_PAUSE_MS * 2 ** (wrong - free), LONGEST_PAUSE_MS) - now
}
