import { TooManyAttempts } from '../core/errors.ts'

/** Wrong passwords for one account from one address before a pause, and from one address for all accounts. */
const FREE_FOR_ACCOUNT = 5
const FREE_FROM_ADDRESS = 50
const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 300_000
/** Without another wrong password for so long, all is forgotten. */
const FORGET_AFTER_MS = 900_000
const MAX_KEPT = 20_000

type Count = { wrong: number; last: number }

/**
 * Slows down guessing of passwords. Counts by account and address together, so that nobody can lock an account for its
 * owner, who is somewhere else. Each process counts for itself.
 */
export class Guesses {
  /** Least recently counted first. */
  readonly #counts = new Map<string, Count>()

  /** Throws 429 while a pause lasts. */
  check(account: string, address: string, now: number): void {
    const waits = keysOf(account, address).map(([key, free]) => this.#waitMs(key, free, now))
    const wait = Math.max(...waits)
    if (wait <= 0) return
    const seconds = Math.ceil(wait / 1_000)
    throw new TooManyAttempts(`too many wrong passwords; try again in ${seconds} seconds`, seconds)
  }

  wrong(account: string, address: string, now: number): void {
    for (const [key] of keysOf(account, address)) {
      const { wrong } = this.#find(key, now)
      this.#counts.delete(key)
      this.#counts.set(key, { wrong: wrong + 1, last: now })
    }
    for (const [oldest] of this.#counts) {
      if (this.#counts.size <= MAX_KEPT) break
      this.#counts.delete(oldest)
    }
  }

  right(account: string, address: string): void {
    this.#counts.delete(pairKey(account, address))
  }

  #find(key: string, now: number): Count {
    const found = this.#counts.get(key)
    return found === undefined || now - found.last > FORGET_AFTER_MS ? { wrong: 0, last: 0 } : found
  }

  #waitMs(key: string, free: number, now: number): number {
    const { wrong, last } = this.#find(key, now)
    if (wrong < free) return 0
    return last + Math.min(FIRST_PAUSE_MS * 2 ** (wrong - free), LONGEST_PAUSE_MS) - now
  }
}

function pairKey(account: string, address: string): string {
  return JSON.stringify([account, address])
}

function keysOf(account: string, address: string): [key: string, free: number][] {
  return [
    [pairKey(account, address), FREE_FOR_ACCOUNT],
    [address, FREE_FROM_ADDRESS],
  ]
}
