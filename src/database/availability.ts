import type { Logger } from 'pino'
import { AppError } from '../core/errors.ts'
import { afterPatience } from '../core/patience.ts'
import { databaseUnavailable } from './unavailable.ts'

/** The answer of /readyz is never older than this and the deadline together. */
const FRESH_MS = 250
const DEADLINE_MS = 1_000
const LOOK_AGAIN_MS = 250

/** Commits a small write; throws the reason why that is not possible. When the signal comes nobody waits for it any more. */
export type Probe = (signal: AbortSignal) => Promise<void>

/**
 * Whether the database can be read and written. An engine reports each error that may be the database's own with
 * `suspect`; a probe then decides, and is repeated until the database is back. Only changes are logged, so that an outage
 * under load is two lines.
 */
export class Availability {
  readonly #probe: Probe
  readonly #onBack: () => void
  #log: Logger | undefined
  #away: { since: number; cause: unknown } | undefined
  #suspected: unknown
  #looking: Promise<void> | undefined
  #lookedAt = -Infinity
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(probe: Probe, onBack: () => void = () => {}) {
    this.#probe = probe
    this.#onBack = onBack
  }

  reportTo(log: Logger): void {
    this.#log = log
  }

  /** Something failed in a way that the database may be the reason of. Costs nothing while an outage is known. */
  suspect(cause: unknown): void {
    if (this.#away !== undefined) return
    this.#suspected ??= cause
    this.#lookIn(Math.max(0, this.#lookedAt + LOOK_AGAIN_MS - performance.now()))
  }

  /** A transaction was ended since it, or another one that it waited for, took too long. The database is well. */
  tooSlow(error: unknown): void {
    this.#log?.warn({ error }, 'a transaction took too long and was undone')
  }

  /** For /readyz: throws 503 unless the database was read and written just now, at the latest after a second. */
  async check(): Promise<void> {
    if (performance.now() - this.#lookedAt > FRESH_MS) await this.#look()
    if (this.#away === undefined) return
    const { cause } = this.#away
    throw cause instanceof AppError ? cause : databaseUnavailable(cause)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #lookIn(ms: number): void {
    if (this.#isClosed) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#look()
    }, ms).unref()
  }

  #look(): Promise<void> {
    this.#looking ??= withDeadline(this.#probe)
      .then(
        () => this.#found(undefined),
        (cause: unknown) => this.#found(cause),
      )
      .finally(() => (this.#looking = undefined))
    return this.#looking
  }

  #found(cause: unknown): void {
    this.#lookedAt = performance.now()
    const suspected = this.#suspected
    this.#suspected = undefined
    if (cause !== undefined) {
      if (this.#away === undefined) {
        this.#log?.error({ error: cause }, 'the database is away: requests are answered 503 until it is back')
      }
      this.#away = { since: this.#away?.since ?? this.#lookedAt, cause }
      this.#lookIn(LOOK_AGAIN_MS)
    } else if (this.#away !== undefined) {
      const seconds = Math.ceil((this.#lookedAt - this.#away.since) / 1000)
      this.#away = undefined
      this.#log?.warn({ seconds }, 'the database is back')
      this.#onBack()
    } else if (suspected !== undefined) {
      this.#log?.warn({ error: suspected }, 'the database failed once; it can be read and written')
    }
  }
}

async function withDeadline(probe: Probe): Promise<void> {
  const controller = new AbortController()
  const { promise: deadline, reject } = Promise.withResolvers<never>()
  const callOff = afterPatience(DEADLINE_MS, () => {
    reject(new Error(`no answer within ${DEADLINE_MS} ms`))
    controller.abort()
  })
  try {
    await Promise.race([probe(controller.signal), deadline])
  } finally {
    callOff()
  }
}
