import type { Refusal } from './refusal.ts'

/** Refusals that wait in memory, those that are alike counted once; of more the oldest are dropped. */
export const MAX_WAITING = 10_000
/** Of one caller; what comes beyond is dropped, lest a script that asks for ever new things leaves no room for others. */
export const MAX_WAITING_OF_CALLER = 2_000
/** Teams that they hold on to, all together: somebody may be in very many. */
const MAX_WAITING_TEAMS = 300_000
/** Ids that are kept of refusals that are alike: the newest. */
export const REQUESTS_KEPT = 20

/** Refusals that are alike: the newest of them, and how many there were. */
export type Waiting = {
  readonly refusal: Refusal
  readonly count: number
  readonly firstAt: Date
  /** Of the newest, oldest first. */
  readonly requests: readonly { readonly id: string; readonly at: Date }[]
}

/** A ring in memory. Adding costs the same for what is missing as for what is forbidden. */
export class WaitingRefusals {
  readonly #byKey = new Map<string, Waiting>()
  readonly #ofCaller = new Map<string, number>()
  #teams = 0
  #dropped = 0

  get size(): number {
    return this.#byKey.size
  }

  add(refusal: Refusal): void {
    const request = { id: refusal.requestId, at: refusal.at }
    this.#merge({ refusal, count: 1, firstAt: refusal.at, requests: [request] })
  }

  /** Takes the oldest out. */
  take(most: number): Waiting[] {
    const taken: Waiting[] = []
    for (const [key, waiting] of this.#byKey) {
      if (taken.length === most) break
      this.#remove(key, waiting)
      taken.push(waiting)
    }
    return taken
  }

  /** Puts back what could not be written, as far as there is room. */
  giveBack(waiting: readonly Waiting[]): void {
    for (const one of waiting) this.#merge(one)
  }

  giveUp(waiting: readonly Waiting[]): void {
    for (const { count } of waiting) this.#dropped += count
  }

  /** How many were dropped since it was asked last. */
  takeDropped(): number {
    const dropped = this.#dropped
    this.#dropped = 0
    return dropped
  }

  #merge(added: Waiting): void {
    const key = keyOf(added.refusal)
    const before = this.#byKey.get(key)
    if (before !== undefined) {
      this.#teams += teamsIn(added.refusal) - teamsIn(before.refusal)
      this.#byKey.set(key, together(before, added))
      return
    }
    const caller = callerOf(added.refusal)
    const ofCaller = this.#ofCaller.get(caller) ?? 0
    if (ofCaller >= MAX_WAITING_OF_CALLER) {
      this.#dropped += added.count
      return
    }
    this.#ofCaller.set(caller, ofCaller + 1)
    this.#byKey.set(key, added)
    this.#teams += teamsIn(added.refusal)
    if (this.#byKey.size > MAX_WAITING || this.#teams > MAX_WAITING_TEAMS) {
      this.giveUp(this.take(Math.ceil(this.#byKey.size / 10)))
    }
  }

  #remove(key: string, { refusal }: Waiting): void {
    this.#byKey.delete(key)
    this.#teams -= teamsIn(refusal)
    const caller = callerOf(refusal)
    const left = (this.#ofCaller.get(caller) ?? 0) - 1
    if (left > 0) this.#ofCaller.set(caller, left)
    else this.#ofCaller.delete(caller)
  }
}

export function together(one: Waiting, other: Waiting): Waiting {
  const [older, newer] = one.refusal.at <= other.refusal.at ? [one, other] : [other, one]
  return {
    refusal: newer.refusal,
    count: older.count + newer.count,
    firstAt: older.firstAt <= newer.firstAt ? older.firstAt : newer.firstAt,
    requests: [...older.requests, ...newer.requests].slice(-REQUESTS_KEPT),
  }
}

/** What is alike is the same caller's, of the same request, for the same reason. */
function keyOf(refusal: Refusal): string {
  const { method, path, named, permission, reason } = refusal
  return `${callerOf(refusal)} ${method} ${path} ${permission ?? ''} ${reason} ${named}`
}

function callerOf({ actor }: Refusal): string {
  return `${actor.kind} ${actor.userId ?? actor.organizationId}`
}

function teamsIn({ found }: Refusal): number {
  return found === undefined ? 0 : found.standing.teamIds.size + (found.target.teamsOfUser?.length ?? 0)
}
