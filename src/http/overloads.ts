import type { Logger } from 'pino'
import { shortages, type Overload, type Shortage } from '../core/errors.ts'
import { SparseLog } from '../core/sparse-log.ts'

/** The requests that were answered 503 because of others. */
export class Overloads {
  readonly #log: Logger
  readonly #lines = new SparseLog()
  readonly #counts = new Map<Shortage, number>(shortages.map((of) => [of, 0]))

  constructor(log: Logger) {
    this.#log = log
  }

  note({ of, message: detail }: Overload): void {
    this.#counts.set(of, (this.#counts.get(of) ?? 0) + 1)
    const message = 'requests were answered 503, because there were too many at once'
    this.#lines.warn(this.#log, { of, detail }, message, of)
  }

  /** How many there were since the start. */
  get counts(): readonly (readonly [Shortage, number])[] {
    return [...this.#counts]
  }
}
