import type { Logger } from 'pino'

const TELL_EVERY_MS = 60_000

type Kind = { times: number; tell: () => void; timer?: NodeJS.Timeout | undefined }

/** Kinds whose lines are told apart at a time. What comes beyond is one kind. */
const MAX_KINDS = 10_000
const OTHERS = '\u0000'

/**
 * Logs what may happen with each request: the first time at once, and then at most once a minute, with the number of times
 * since the last line.
 */
export class SparseLog {
  /** Those of the last minute. */
  readonly #kinds = new Map<string, Kind>()

  /** @param kind lines of one kind count together */
  warn(log: Logger | undefined, fields: object, message: string, kind = message): void {
    const name = this.#kinds.has(kind) || this.#kinds.size < MAX_KINDS ? kind : OTHERS
    const known: Kind = this.#kinds.get(name) ?? { times: 0, tell: () => {} }
    this.#kinds.set(name, known)
    known.times += 1
    known.tell = () => {
      log?.warn({ ...fields, times: known.times }, message)
      known.times = 0
      known.timer = setTimeout(() => {
        known.timer = undefined
        if (known.times > 0) known.tell()
        else this.#kinds.delete(name)
      }, TELL_EVERY_MS).unref()
    }
    if (known.timer === undefined) known.tell()
  }
}
