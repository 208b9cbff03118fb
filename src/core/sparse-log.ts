import type { Logger } from 'pino'

const TELL_EVERY_MS = 60_000

/** Logs what may happen with each request: at most once a minute, with the number of times since the last line. */
export class SparseLog {
  readonly #told = new Map<string, { times: number; at: number }>()

  /** @param kind lines of one kind count together; one of few texts */
  warn(log: Logger | undefined, fields: object, message: string, kind = message): void {
    const told = this.#told.get(kind) ?? { times: 0, at: -Infinity }
    this.#told.set(kind, told)
    told.times += 1
    if (performance.now() - told.at < TELL_EVERY_MS) return
    log?.warn({ ...fields, times: told.times }, message)
    told.times = 0
    told.at = performance.now()
  }
}
