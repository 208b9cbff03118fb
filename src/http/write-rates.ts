import type { Config } from '../config.ts'
import { TooManyAttempts } from '../core/errors.ts'

/** Beyond so many, the account that wrote least recently is forgotten, and may write as fast as a new one. */
const MAX_ACCOUNTS = 10_000

type Bucket = { left: number; filledAt: number }

/**
 * Limits how fast each account writes. Each has a bucket that holds the writes of a minute and is filled all the time, so
 * a burst is permitted after a pause. In memory: each process counts by itself.
 */
export class WriteRates {
  readonly #most: number
  readonly #isLimited: boolean
  /** The account that wrote least recently first. */
  readonly #buckets = new Map<string, Bucket>()

  /** @param isLimited false for a command, which acts for whoever runs the server */
  constructor({ maxWritesPerMinute }: Pick<Config, 'maxWritesPerMinute'>, isLimited: boolean) {
    this.#most = maxWritesPerMinute
    this.#isLimited = isLimited
  }

  /** Counts one write. Throws 429 if the account has none left. */
  count(account: string, now = performance.now()): void {
    if (!this.#isLimited) return
    const bucket = this.#buckets.get(account) ?? { left: this.#most, filledAt: now }
    const perMs = this.#most / 60_000
    bucket.left = Math.min(this.#most, bucket.left + (now - bucket.filledAt) * perMs)
    bucket.filledAt = now
    this.#buckets.delete(account)
    this.#buckets.set(account, bucket)
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > MAX_ACCOUNTS && oldest !== undefined) this.#buckets.delete(oldest)
    if (bucket.left < 1) {
      const detail = `an account may write ${this.#most} times a minute (PURSER_MAX_WRITES_PER_MINUTE); try again after some seconds`
      throw new TooManyAttempts(detail, Math.ceil((1 - bucket.left) / perMs / 1_000))
    }
    bucket.left -= 1
  }
}
