import { hash } from 'node:crypto'
import { AppError, TooManyAttempts } from '../core/errors.ts'
import { networksAround } from '../core/networks.ts'
import type { Asker } from '../users/password.ts'
import { AttemptCounts, type Counted, type CountRule } from './attempt-counts.ts'

const MINUTE_MS = 60_000

const ofOne: CountRule = { free: 5, longestPauseMs: 5 * MINUTE_MS, forgetAllAfterMs: 15 * MINUTE_MS }
/** By width of the network: /64 or an IPv4 address, /56, /48. */
const ofAccountInNetwork = [ofOne, { ...ofOne, free: 10 }, { ...ofOne, free: 15 }]
/** Its pauses are shorter than those of a network, so that one network alone cannot keep an account closed for all others. */
const ofAccount: CountRule = { ...ofOne, free: 20, longestPauseMs: MINUTE_MS }
/** One is forgotten after the other: many people may share a network. By width, as above. */
const ofNetwork = [50, 100, 200].map((free): CountRule => ({
  free,
  longestPauseMs: 5 * MINUTE_MS,
  forgetOneEachMs: MINUTE_MS,
}))
const ofRight: CountRule = { free: 20, forgetOneEachMs: 15_000 }

/** A slow-down of wrong passwords that has just begun, and the attempt that began it. */
export type Throttle = {
  /** What is slowed down: a device, unknown clients of one network for one account, all unknown clients for it, or a network. */
  readonly of: 'device' | 'account-in-network' | 'account' | 'network'
  /** As the attempt named it: the id of a user, or any text that somebody typed. */
  readonly account: string
  /** `192.0.2.7`, `2001:db8:0:0`, or of a wider network `2001:db8:0/48`. */
  readonly network: string
  /** The address of the client whose attempt began it. */
  readonly from: string | null
}

/** `isOwn`: a right password shows that nobody else made these guesses, so they are forgotten. */
type CountedGuess = Counted & Pick<Throttle, 'of' | 'network'> & { readonly isOwn: boolean }

type Guesser = Asker & { readonly now: Date; readonly from?: string | null }

/**
 * Slows down guessing of passwords, and rations right ones. The wrong passwords of a known device count for it alone.
 * Those of unknown clients count for the account and for their networks, in which a stranger cannot slow down a device.
 * Each process counts for itself.
 */
export class Guesses {
  readonly #counts = new AttemptCounts()
  /** Apart, because names times networks would push them out. */
  readonly #ofAccounts = new AttemptCounts()
  /** Set by who wants to know. */
  onThrottle: (begun: Throttle) => void = () => {}

  /**
   * Runs an attempt, and returns its result; false and undefined mean that the password was wrong. It counts as wrong
   * before the password is checked, so that many at once are no more than many in turn. If it was not checked, because
   * the server is busy or the database is away, it does not count. Throws 429 while a pause lasts.
   */
  async attempt<T>(guesser: Guesser, check: () => Promise<T>): Promise<T> {
    const now = guesser.now.getTime()
    const guesses = guessesOf(guesser)
    const right = rightOf(guesser)
    this.#checkWait([...guesses, right], now)
    const begun = guesses.map((guess) => ({ ...guess, takeBack: this.#countsOf(guess).add(guess, now) }))
    const takeBack = () => begun.forEach((each) => each.takeBack())
    let result: T
    try {
      result = await check()
    } catch (error) {
      if (isWrong(error)) this.#tell(guesser, guesses)
      else takeBack()
      throw error
    }
    if (result === false || result === undefined) this.#tell(guesser, guesses)
    else {
      takeBack()
      for (const guess of guesses) if (guess.isOwn) this.#counts.forget(guess)
      this.#counts.add(right, now)
    }
    return result
  }

  /** Runs what needs a hash and cannot be guessed. Each time counts like a right password, unless the server was busy. */
  async ration<T>(guesser: Guesser, work: () => Promise<T>): Promise<T> {
    const right = rightOf(guesser)
    this.#checkWait([right], guesser.now.getTime())
    const takeBack = this.#counts.add(right, guesser.now.getTime())
    try {
      return await work()
    } catch (error) {
      takeBack()
      throw error
    }
  }

  #countsOf({ rule }: Counted): AttemptCounts {
    return rule === ofAccount ? this.#ofAccounts : this.#counts
  }

  #checkWait(counted: readonly Counted[], now: number): void {
    const wait = Math.max(...counted.map((each) => this.#countsOf(each).waitMs(each, now)))
    if (wait <= 0) return
    const seconds = Math.ceil(wait / 1_000)
    // The same text for wrong and right passwords: it must not tell that somebody has signed in.
    throw new TooManyAttempts(`too many attempts with a password; try again in ${seconds} seconds`, seconds)
  }

  #tell({ account, from = null }: Guesser, guesses: readonly CountedGuess[]): void {
    for (const { of, network, ...counted } of guesses) {
      if (this.#countsOf(counted).hasBegun(counted)) this.onThrottle({ of, account, network, from })
    }
  }
}

/** What a wrong password counts for. */
function guessesOf({ account, address, device }: Guesser): CountedGuess[] {
  if (device !== undefined) {
    return [{ of: 'device', key: keyOf('device', device), rule: ofOne, network: address, isOwn: true }]
  }
  const ofAll = { of: 'account', key: keyOf('account', account), rule: ofAccount, network: address } as const
  const byWidth = networksAround(address).flatMap((network, width): CountedGuess[] => {
    const own = { key: keyOf('own', account, network), rule: ofAccountInNetwork[width] ?? ofOne }
    const shared = { key: keyOf('network', network), rule: ofNetwork[width] ?? ofOne }
    return [
      { of: 'account-in-network', ...own, network, isOwn: true },
      { of: 'network', ...shared, network, isOwn: false },
    ]
  })
  return [...byWidth, { ...ofAll, isOwn: false }]
}

function rightOf({ account }: Guesser): Counted {
  return { key: keyOf('right', account), rule: ofRight }
}

/** Some people type their password as their user name, so the map has no such texts. */
function keyOf(...parts: string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64')
}

function isWrong(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unauthorized'
}
