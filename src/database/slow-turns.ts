import { databaseUnavailable } from './unavailable.ts'

const WAITING_OF_ONE = 100
const MAX_WAITING = 1_000
const MAX_WAIT_MS = 10_000

type Waiting = { readonly begin: (end: () => void) => void; readonly fail: (detail: string) => void }

/** Who may begin a slow read. A caller has one turn at a time. Callers who wait have their turns in rotation. */
export class SlowTurns {
  readonly #most: number
  readonly #running = new Set<string>()
  /** The caller with the next turn comes first. */
  readonly #waiting = new Map<string, Waiting[]>()
  #count = 0
  #pauses = 0
  #quiet: (() => void)[] = []

  /** @param most turns at a time */
  constructor(most: number) {
    this.#most = most
  }

  /** Waits for a turn and returns the function that ends it. Throws 503 after a time, or if too many wait. */
  take(caller: string): Promise<() => void> {
    if (this.#isFree(caller)) return Promise.resolve(this.#begin(caller))
    const others = this.#waiting.get(caller) ?? []
    if (this.#count >= MAX_WAITING || others.length >= WAITING_OF_ONE) {
      throw databaseUnavailable(undefined, 'too many requests wait for the database')
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        begin: (end) => {
          clearTimeout(timer)
          resolve(end)
        },
        fail: (detail) => {
          clearTimeout(timer)
          reject(databaseUnavailable(undefined, detail))
        },
      }
      const timer = setTimeout(() => {
        this.#remove(caller, waiting)
        waiting.fail('the database is busy with other requests')
      }, MAX_WAIT_MS)
      this.#waiting.set(caller, [...others, waiting])
      this.#count += 1
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
    const waiting = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    this.#count = 0
    for (const { fail } of waiting) fail('the database is closed')
  }

  #isFree(caller: string): boolean {
    return this.#pauses === 0 && this.#running.size < this.#most && !this.#running.has(caller)
  }

  #begin(caller: string): () => void {
    this.#running.add(caller)
    return () => {
      this.#running.delete(caller)
      this.#moveToEnd(caller)
      if (this.#running.size === 0) for (const resolve of this.#quiet.splice(0)) resolve()
      this.#beginNext()
    }
  }

  /** Others are next, although the caller may have asked before them. */
  #moveToEnd(caller: string): void {
    const waiting = this.#waiting.get(caller)
    if (waiting === undefined) return
    this.#waiting.delete(caller)
    this.#waiting.set(caller, waiting)
  }

  #beginNext(): void {
    for (const [caller, [first, ...others]] of this.#waiting) {
      if (first === undefined || !this.#isFree(caller)) continue
      if (others.length === 0) this.#waiting.delete(caller)
      else this.#waiting.set(caller, others)
      this.#count -= 1
      first.begin(this.#begin(caller))
      return
    }
  }

  #remove(caller: string, waiting: Waiting): void {
    const others = (this.#waiting.get(caller) ?? []).filter((each) => each !== waiting)
    if (others.length === 0) this.#waiting.delete(caller)
    else this.#waiting.set(caller, others)
    this.#count -= 1
  }
}
