import type { Logger } from 'pino'
import { codeOf } from '../core/error-fields.ts'
import { AppError } from '../core/errors.ts'
import { OperatorError } from '../core/operator-error.ts'
import { afterPatience } from '../core/patience.ts'
import { SparseLog } from '../core/sparse-log.ts'
import { databaseUnavailable } from './unavailable.ts'

/** A result of a probe is reused for this long, so an answer of /readyz is at most FRESH_MS + DEADLINE_MS old. */
const FRESH_MS = 250
const DEADLINE_MS = 1_000
const LOOK_AGAIN_MS = 250

/**
 * Commits a small write, and throws the reason if that fails. The signal means that the caller does not wait any more.
 */
type Probe = (signal: AbortSignal) => Promise<void>

type Reactions = {
  readonly onBack: () => unknown
  readonly outcomeOf: (error: unknown) => unknown
}

/**
 * Whether the database can be read and written. The engine reports any error that the database may have caused with
 * `suspect`. A probe then decides, and repeats until the database is back. It logs only changes: two lines an outage, and a
 * third one if it turns out that the operator has to repair something.
 */
export class Availability {
  readonly #probe: Probe
  readonly #onBack: () => unknown
  readonly #outcomeOf: (error: unknown) => unknown
  readonly #lines = new SparseLog()
  #log: Logger | undefined
  #away: { since: number; cause: unknown; isNamed: boolean } | undefined
  #suspected: unknown
  #looking: Promise<void> | undefined
  #lookedAt = -Infinity
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  /** @param outcomeOf gives the error for callers in place of the driver's */
  constructor(
    probe: Probe,
    { onBack = () => {}, outcomeOf = (error: unknown) => error }: Partial<Reactions> = {},
  ) {
    this.#probe = probe
    this.#onBack = onBack
    this.#outcomeOf = outcomeOf
  }

  reportTo(log: Logger): void {
    this.#log = log
  }

  /** Whether the newest probe failed. There are probes while /readyz is asked, and after errors. */
  get isAway(): boolean {
    return this.#away !== undefined
  }

  /** Reports an error that the database may have caused. Costs nothing during a known outage. */
  suspect(cause: unknown): void {
    if (this.#away !== undefined) return
    this.#suspected ??= cause
    this.#lookIn(Math.max(0, this.#lookedAt + LOOK_AGAIN_MS - performance.now()))
  }

  /** Logs a failure that says nothing about the database itself. */
  warn(error: unknown, message: string): void {
    this.#lines.warn(this.#log, { error }, message, `${message} ${codeOf(error) ?? ''}`)
  }

  /** Logs what an operator may look for after an outage. */
  note(message: string): void {
    this.#log?.warn(message)
  }

  /** For /readyz: throws 503 unless a probe has succeeded just now. Takes at most a second. */
  async check(): Promise<void> {
    if (performance.now() - this.#lookedAt > FRESH_MS) await this.#look()
    if (this.#away === undefined) return
    const { cause } = this.#away
    const outcome = this.#outcomeOf(cause)
    throw outcome instanceof AppError ? outcome : databaseUnavailable(cause)
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
    this.#looking ??= this.#lookNow().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #lookNow(): Promise<void> {
    const suspected = this.#suspected
    this.#suspected = undefined
    const cause = await withDeadline(this.#probe).then(
      () => undefined,
      (error: unknown) => error,
    )
    this.#found(cause, suspected)
    // A probe says nothing about an error that was reported while it ran.
    if (this.#suspected !== undefined) this.#lookIn(LOOK_AGAIN_MS)
  }

  #found(cause: unknown, suspected: unknown): void {
    this.#lookedAt = performance.now()
    if (cause !== undefined) {
      // What an operator has to repair is named, even if the outage began with something else.
      const isNamed = this.#away?.isNamed === true || cause instanceof OperatorError
      if (this.#away === undefined || isNamed !== this.#away.isNamed) {
        this.#log?.error({ error: cause }, 'the database is away: requests are answered 503 until it is back')
      }
      this.#away = { since: this.#away?.since ?? this.#lookedAt, cause, isNamed }
      this.#lookIn(LOOK_AGAIN_MS)
    } else if (this.#away !== undefined) {
      const seconds = Math.ceil((this.#lookedAt - this.#away.since) / 1000)
      this.#away = undefined
      this.#log?.warn({ seconds }, 'the database is back')
      this.#onBack()
    } else if (suspected !== undefined) {
      this.warn(suspected, 'the database failed some requests; it can be read and written')
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
