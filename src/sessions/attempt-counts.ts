const FIRST_PAUSE_MS = 5_000
const MAX_KEPT = 50_000

/** When attempts of one kind are slowed down. Either all are forgotten after a time without another one, or one each time. */
export type CountRule = {
  /** Attempts before the first pause. */
  readonly free: number
  /** The first pause takes 5 seconds, and each further one twice as long, up to this. Undefined: until one is forgotten. */
  readonly longestPauseMs?: number
  readonly forgetAllAfterMs?: number
  readonly forgetOneEachMs?: number
}

/** `since`: from when on the next one is forgotten, whatever comes meanwhile. `isTold`: that a slow-down has begun. */
type Count = { attempts: number; last: number; since: number; isTold: boolean }

/** What one attempt counts for. */
export type Counted = { readonly key: string; readonly rule: CountRule }

/** Counts attempts by key. */
export class AttemptCounts {
  /** Least recently counted first. */
  readonly #counts = new Map<string, Count>()

  /** How long the next attempt has to wait. */
  waitMs({ key, rule }: Counted, now: number): number {
    const { attempts, last, since } = this.#now(key, rule, now)
    if (attempts < rule.free) return 0
    if (rule.longestPauseMs === undefined) return since + (rule.forgetOneEachMs ?? 0) - now
    return last + Math.min(FIRST_PAUSE_MS * 2 ** (attempts - rule.free), rule.longestPauseMs) - now
  }

  /** Returns how to take the attempt back. A pause is not begun again by an attempt that was taken back. */
  add({ key, rule }: Counted, now: number): () => void {
    const lastBefore = this.#find(key, now)?.last ?? 0
    const before = this.#now(key, rule, now)
    this.#counts.delete(key)
    this.#counts.set(key, { ...before, attempts: before.attempts + 1, last: now })
    for (const [oldest] of this.#counts) {
      if (this.#counts.size <= MAX_KEPT) break
      this.#counts.delete(oldest)
    }
    return () => {
      const found = this.#counts.get(key)
      if (found === undefined) return
      found.attempts = Math.max(0, found.attempts - 1)
      if (found.last === now) found.last = lastBefore
      // Otherwise attempts that were taken back could push out all others.
      if (found.attempts === 0) this.#counts.delete(key)
    }
  }

  forget({ key }: Counted): void {
    this.#counts.delete(key)
  }

  /** Whether a slow-down has begun that nobody was told of yet. */
  hasBegun({ key, rule }: Counted): boolean {
    const found = this.#counts.get(key)
    if (found === undefined || found.isTold || found.attempts < rule.free) return false
    found.isTold = true
    return true
  }

  #now(key: string, { free, forgetAllAfterMs, forgetOneEachMs }: CountRule, now: number): Count {
    const none = { attempts: 0, last: 0, since: now, isTold: false }
    const found = this.#find(key, now)
    if (found === undefined) return none
    if (forgetAllAfterMs !== undefined) return now - found.last > forgetAllAfterMs ? none : found
    if (forgetOneEachMs === undefined) return found
    const forgotten = Math.floor((now - found.since) / forgetOneEachMs)
    if (forgotten >= found.attempts) return { ...none, last: found.last }
    const attempts = found.attempts - forgotten
    const since = found.since + forgotten * forgetOneEachMs
    return { attempts, last: found.last, since, isTold: found.isTold && attempts >= free }
  }

  /** If the clock was set back since, a pause begins anew: its end may be years ahead. */
  #find(key: string, now: number): Count | undefined {
    const found = this.#counts.get(key)
    if (found !== undefined) {
      found.last = Math.min(found.last, now)
      found.since = Math.min(found.since, now)
    }
    return found
  }
}
