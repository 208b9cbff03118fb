import { AppError } from '../core/errors.ts'

/** Minimum average rate of a sender. A line of 1 Mbit/s is eight times as fast. */
export const MIN_BYTES_PER_SECOND = 16 * 1024
const LEAST_LOOK_MS = 50

/**
 * Limits how slowly a sender may send. They may be silent for `mostMs` in total. Each byte earns time back, but never
 * above that limit. So neither a sender that stops nor one that trickles can stay for long.
 */
export class Pace {
  readonly #mostMs: number
  readonly #tooSlow: (error: AppError) => void
  #leftMs: number
  /** Since when the server has been waiting for the sender; undefined while the server is not ready for more. */
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

  /** Pauses the clock, because the server is busy; this time does not count against the sender. */
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

  /** A single timer, however many bytes arrive: it checks again when the time may be over. */
  #look(): NodeJS.Timeout {
    return setTimeout(
      () => {
        this.#count()
        if (this.#leftMs > 0) {
          this.#timer = this.#look()
          return
        }
        const detail = `the body arrived too slowly: less than ${MIN_BYTES_PER_SECOND} bytes a second`
        this.#tooSlow(new AppError('too-slow', detail))
      },
      Math.max(this.#leftMs, LEAST_LOOK_MS),
    )
  }
}
