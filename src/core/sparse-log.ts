import type { Logger } from 'pino'

const TELL_EVERY_MS = 60_000

type Kind = { times: number; tell: () => void; timer?: NodeJS.Timeout | undefined }

/**
 * Logs what may happen with each request: the first time at once, and then at most once a minute, with the number of times
 * since the last line.
 */
export class SparseLog {
  readonly #kinds = new Map<string, Kind>()

  /** @param kind lines of one kind count together; one of few texts */
  warn(log: Logger | undefined, fields: object, message: string, kind = message): void {
    const known: Kind = this.#kinds.get(kind) ?? { times: 0, tell: () => {} }
    this.#kinds.set(kind, known)
    known.times += 1
    known.tell = () => {
      log?.warn({ ...fields, times: known.times }, message)
      known.times = 0
      known.timer = setTimeout(() => {
        known.timer = undefined
        if (known.times > 0) known.tell()
      }, TELL_EVERY_MS).unref()
    }
    if (known.timer === undefined) known.tell()
  }
}
