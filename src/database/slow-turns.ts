import { Overload, type AppError } from '../core/errors.ts'
import { databaseUnavailable } from './unavailable.ts'

const WAITING_OF_ONE = 100
const MAX_WAITING = 1_000
const MAX_WAIT_MS = 10_000

type Waiting = {
  readonly caller: string
  readonly begin: (end: () => void) => void
  readonly fail: (error: AppError) => void
}

/** Who may begin a slow read. A caller has one turn at a time. Callers who wait have their turns in rotation. */
export class SlowTurns {
  readonly #most: number
  readonly #running = new Set<string>()
  /** Who is next comes first. */
  #waiting: Waiting[] = []
  #pauses = 0
  #quiet: (() => void)[] = []

  /** @param most turns at a time */
  constructor(most: number) {
    this.#most = most
  }

  /** Waits for a turn and returns the function that ends it. Throws 503 after a time, or if too many wait. */
  take(caller: string): Promise<() => void> {
    if (this.#isFree(caller)) return Promise.resolve(this.#begin(caller))
    const others = this.#waiting.filter((each) => each.caller === caller)
    if (this.#waiting.length >= MAX_WAITING || others.length >= WAITING_OF_ONE) {
      throw new Overload('database', 'too many requests wait for the database')
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        this.#waiting = this.#waiting.filter((each) => each !== waiting)
      }
      const waiting: Waiting = {
        caller,
        begin: (end) => {
          leave()
          resolve(end)
        },
        fail: (error) => {
          leave()
          reject(error)
        },
      }
      const giveUp = () => waiting.fail(new Overload('database', 'the database is busy with other requests'))
      const timer = setTimeout(giveUp, MAX_WAIT_MS)
      this.#waiting.push(waiting)
    })
  }

  /** Waits until all turns have ended, and lets none begin until the returned function is called. */
  async pause(): Promise<() => void> {
    this.#pauses += 1
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#quiet.push(resolve))
    return () => {
      this.#pauses -= 1
      this.#beginNext()
    }
  }

  /** Ends the waiting of all, and lets none begin any more. */
  close(): void {
    this.#pauses = Infinity
    for (const { fail } of this.#waiting) fail(databaseUnavailable(undefined, 'the database is closed'))
  }

  #isFree(caller: string): boolean {
    return this.#pauses === 0 && this.#running.size < this.#most && !this.#running.has(caller)
  }

  #begin(caller: string): () => void {
    this.#running.add(caller)
    return () => {
      this.#running.delete(caller)
      // Others are next, although the caller may have asked before them.
      const isOwn = (each: Waiting) => each.caller === caller
      this.#waiting = [...this.#waiting.filter((each) => !isOwn(each)), ...this.#waiting.filter(isOwn)]
      if (this.#running.size === 0) for (const resolve of this.#quiet.splice(0)) resolve()
      this.#beginNext()
    }
  }

  #beginNext(): void {
    const next = this.#waiting.find(({ caller }) => this.#isFree(caller))
    next?.begin(this.#begin(next.caller))
  }
}
