import type { Logger } from 'pino'
import { logRepeated } from './unavailable.ts'

/**
 * Work that a node repeats between requests, such as deleting old rows. Only one run goes on at a time. A run that fails is
 * logged, and the next one tries again.
 */
export class BackgroundLoop {
  readonly #work: () => Promise<void>
  readonly #log: Logger
  readonly #failure: string
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> | undefined
  /** Long work should end early then. */
  isStopping = false

  /** @param failure the log message for a failed run */
  constructor(
    { everyMs, log, failure }: { everyMs: number; log: Logger; failure: string },
    work: () => Promise<void>,
  ) {
    this.#work = work
    this.#log = log
    this.#failure = failure
    this.#timer = setInterval(() => void this.run(), everyMs).unref()
  }

  /** Starts a run, or joins the one that goes on. Resolves at its end, also when it failed. */
  run(): Promise<void> {
    this.#running ??= this.#work()
      .catch((error: unknown) => logRepeated(this.#log, error, this.#failure))
      .finally(() => (this.#running = undefined))
    return this.#running
  }

  /** Starts a run after the one that goes on, which may have begun too early to see everything. */
  async runAnew(): Promise<void> {
    await this.#running
    await this.run()
  }

  /** Ends the repetition. Resolves when no run goes on. */
  async stop(): Promise<void> {
    this.isStopping = true
    clearInterval(this.#timer)
    await this.#running
  }
}
