import { accountOf, identityOf } from '../access/actor.ts'
import type { Refusal } from './refusal.ts'

/** Maximum of waiting entries; equal refusals share one. Beyond it, callers with the most entries lose their oldest. */
export const MAX_WAITING = 10_000
/** Maximum for one caller. More are dropped, so that a script with many different requests leaves room for others. */
export const MAX_WAITING_OF_CALLER = 2_000
/** Maximum of team references of all entries together, because a caller may be in very many teams. */
const MAX_WAITING_TEAMS = 300_000
/** The weight of an entry itself; each of its team references adds 1. */
const WEIGHT = MAX_WAITING_TEAMS / MAX_WAITING
/** How many request ids an entry keeps: the newest. */
export const REQUESTS_KEPT = 20

/** Equal refusals: the newest one, and their number. */
export type Waiting = {
  readonly refusal: Refusal
  readonly count: number
  readonly firstAt: Date
  /** The newest request ids, oldest first. */
  readonly requests: readonly { readonly id: string; readonly at: Date }[]
}

/** Refusals in memory until they are written. Adding one costs the same for missing and forbidden objects. */
export class WaitingRefusals {
  readonly #byKey = new Map<string, Waiting>()
  readonly #ofCaller = new Map<string, { count: number; teams: number }>()
  #teams = 0
  #dropped = 0

  get size(): number {
    return this.#byKey.size
  }

  add(refusal: Refusal): void {
    const request = { id: refusal.requestId, at: refusal.at }
    this.#merge({ refusal, count: 1, firstAt: refusal.at, requests: [request] })
  }

  /** Removes and returns the oldest entries. */
  take(most: number): Waiting[] {
    const taken: Waiting[] = []
    for (const [key, waiting] of this.#byKey) {
      if (taken.length === most) break
      this.#remove(key, waiting)
      taken.push(waiting)
    }
    return taken
  }

  /** Puts entries back that could not be written, as far as there is room. */
  giveBack(waiting: readonly Waiting[]): void {
    for (const one of waiting) this.#merge(one)
  }

  giveUp(waiting: readonly Waiting[]): void {
    for (const { count } of waiting) this.#dropped += count
  }

  /** Returns how many were dropped since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped
    this.#dropped = 0
    return dropped
  }

  #merge(added: Waiting): void {
    const key = keyOf(added.refusal)
    const caller = accountOf(added.refusal.actor)
    const before = this.#byKey.get(key)
    const ofCaller = this.#ofCaller.get(caller) ?? { count: 0, teams: 0 }
    if (before === undefined && ofCaller.count >= MAX_WAITING_OF_CALLER) {
      this.#dropped += added.count
      return
    }
    const teams = teamsIn(added.refusal) - (before === undefined ? 0 : teamsIn(before.refusal))
    if (before === undefined) ofCaller.count += 1
    ofCaller.teams += teams
    this.#teams += teams
    this.#ofCaller.set(caller, ofCaller)
    this.#byKey.set(key, before === undefined ? added : together(before, added))
    if (this.#byKey.size > MAX_WAITING || this.#teams > MAX_WAITING_TEAMS) this.#makeRoom()
  }

  /** Frees at least a tenth. A caller with no more than an equal share of the rest loses nothing. */
  #makeRoom(): void {
    const weights = [...this.#ofCaller.values()].map(weightOf).toSorted((one, other) => one - other)
    const kept = 0.9 * WEIGHT * MAX_WAITING
    let surplus = weights.reduce((sum, weight) => sum + weight, 0) - kept
    let share = 0
    let room = kept
    for (const [place, weight] of weights.entries()) {
      share = room / (weights.length - place)
      if (weight > share) break
      room -= weight
    }
    for (const [key, waiting] of this.#byKey) {
      if (surplus <= 0) return
      const ofCaller = this.#ofCaller.get(accountOf(waiting.refusal.actor))
      if (ofCaller === undefined || weightOf(ofCaller) <= share) continue
      surplus -= WEIGHT + teamsIn(waiting.refusal)
      this.#remove(key, waiting)
      this.giveUp([waiting])
    }
  }

  #remove(key: string, { refusal }: Waiting): void {
    this.#byKey.delete(key)
    const caller = accountOf(refusal.actor)
    const ofCaller = this.#ofCaller.get(caller)
    if (ofCaller === undefined) return
    const teams = teamsIn(refusal)
    ofCaller.count -= 1
    ofCaller.teams -= teams
    this.#teams -= teams
    if (ofCaller.count === 0) this.#ofCaller.delete(caller)
  }
}

function weightOf({ count, teams }: { count: number; teams: number }): number {
  return count * WEIGHT + teams
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

/** Refusals are equal if caller, request and reason are the same. */
function keyOf(refusal: Refusal): string {
  const { actor, method, path, named, permission, reason } = refusal
  return `${identityOf(actor)} ${method} ${path} ${permission ?? ''} ${reason} ${named}`
}

function teamsIn({ found }: Refusal): number {
  return found === undefined ? 0 : found.standing.teamIds.size + (found.target.teamsOfUser?.length ?? 0)
}
