import { AppError } from '../core/errors.ts'

/** What a sender must bring in the long run: a line of 1 Mbit/s brings eight times as much. */
export const MIN_BYTES_PER_SECOND = 16 * 1024
const LEAST_LOOK_MS = 50

/**
 * Watches the pace of one sender. They may send nothing for so many milliseconds in all, and earn time back with every
 * byte, but never more than they had at first: so neither a sender who stops nor one who trickles stays for long.
 */
export class Pace {
  readonly #mostMs: number
  readonly #tooSlow: (error: AppError) => void
  #leftMs: number
  /** Since when the sender is waited for; undefined while the server itself is not ready for more. */
  #since: number | undefined = performance.now()
  #timer: NodeJS.Timeout

  constructor(mostMs: number, tooSlow: (error: AppError) => void) {
    this.#mostMs = mostMs
    this.#leftMs = mostMs
    this.#tooSlow = tooSlow
    this.#timer = this.#look()
  }

  got(bytes: number): void {
    this.#count()
    this.#leftMs = Math.min(this.#mostMs, this.#leftMs + (bytes / MIN_BYTES_PER_SECOND) * 1000)
  }

  /** The server needs time: it does not count against the sender. */
  hold(): void {
    this.#count()
    this.#since = undefined
  }

  goOn(): void {
    this.#since = performance.now()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #count(): void {
    if (this.#since === undefined) return
    const now = performance.now()
    this.#leftMs -= now - this.#since
    this.#since = now
  }

  /** One timer for all of it, however many bytes arrive: it looks again when the time may have run out. */
  #look(): NodeJS.Timeout {
    return setTimeout(
      () => {
        this.#count()
        if (this.#leftMs > 0) {
          this.#timer = this.#look()
          return
        }
        const detail = `the body arrived too slowly: less than ${MIN_BYTES_PER_SECOND} bytes a second`
        this.#tooSlow(new AppError('too-slow', [{ detail }]))
      },
      Math.max(this.#leftMs, LEAST_LOOK_MS),
    )
  }
}
