import { Overload } from '../core/errors.ts'
import type { TransactionOptions } from './database.ts'
import type { SharedWrite } from './shared-write.ts'

/** Two, because writes of one organization run one after another: the second prepares while the first commits. */
const WRITES_OF_ONE = 2
const WAITING_OF_ONE = 250
const MAX_WAITING = 1_000
export const MAX_WAIT_MS = 10_000

/** Connections that the reads of one account must leave free. */
const NOT_FOR_ONE_ACCOUNT = 3

export type Turn = Pick<TransactionOptions, 'organizationId' | 'account' | 'withoutToken'> & {
  mode: 'read' | 'write'
  /** A write that may be taken over, see `takeOver`. */
  shared?: SharedWrite
  /** It is for requests that have a queue of their own. */
  isOfMany?: boolean
}
/** `leave` ends the waiting, with the turn or because the write was taken over. */
type Waiting = { turn: Turn; leave: (hasTurn: boolean) => void }

/** Whose turns count together: an account's reads, an organization's writes, or an account's that are in no organization. */
function ownerOf({ mode, organizationId, account }: Turn): string | undefined {
  return mode === 'read' ? account : (organizationId ?? account)
}

function isSharedOf(turn: Turn, organizationId: string | undefined): boolean {
  return turn.shared !== undefined && turn.organizationId === organizationId
}

/**
 * Decides who may use a connection. Writes may block each other inside the database, so they get only a part of the
 * connections, and one organization gets only two: its other writers wait here and block nobody else. The same holds for
 * an account whose writes are in no organization. The next turn goes to whoever uses the fewest connections. Reads of
 * requests without a token share a small part, because one account can start very many of them under many signed URLs.
 */
export class Turns {
  #connections = 0
  #writes = 0
  #readsOfOne = 0
  #readsWithoutToken = 0
  readonly #used = { read: 0, write: 0 }
  #usedWithoutToken = 0
  /** By owner, apart for reads and writes. */
  readonly #usedBy = { read: new Map<string, number>(), write: new Map<string, number>() }
  /** In order of arrival. */
  readonly #waiting: Waiting[] = []

  constructor(connections: number) {
    this.share(connections)
  }

  /** To be called before the first turn. */
  share(connections: number): void {
    this.#connections = connections
    this.#writes = Math.ceil(connections * 0.6)
    this.#readsOfOne = Math.max(1, connections - NOT_FOR_ONE_ACCOUNT)
    this.#readsWithoutToken = Math.ceil(connections * 0.2)
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Waits for a turn and returns the function that ends it. Throws 503 if too many others are waiting. */
  async take(turn: Turn): Promise<() => void> {
    // If this turn is free, no waiting one can be: they are checked whenever a turn ends.
    if (this.#isFree(turn)) this.#count(turn, 1)
    else if (!(await this.#wait(turn))) return () => {}
    return () => {
      this.#count(turn, -1)
      this.#beginNext()
    }
  }

  /**
   * Ends the wait of an organization's oldest write: it needs no turn, because the caller runs it.
   *
   * @param isWanted undefined is returned if the oldest write is not wanted
   */
  takeOver(
    organizationId: string | undefined,
    isWanted: (write: SharedWrite) => boolean = () => true,
  ): SharedWrite | undefined {
    const oldest = this.#waiting.find(({ turn }) => isSharedOf(turn, organizationId))
    if (oldest?.turn.shared === undefined || !isWanted(oldest.turn.shared)) return undefined
    oldest.turn.shared.isTaken = true
    oldest.leave(false)
    return oldest.turn.shared
  }

  /** Whether `takeOver` would find a write. */
  hasToTakeOver(organizationId: string | undefined): boolean {
    return this.#waiting.some(({ turn }) => isSharedOf(turn, organizationId))
  }

  /** Whether a write of the organization has a turn. */
  isWriting(organizationId: string): boolean {
    return this.#usedBy.write.has(organizationId)
  }

  #isFree(turn: Turn): boolean {
    const { read, write } = this.#used
    if (read + write >= this.#connections) return false
    if (turn.withoutToken && this.#usedWithoutToken >= this.#readsWithoutToken) return false
    if (turn.mode === 'read') return this.#usedByOwner(turn) < this.#readsOfOne
    return write < this.#writes && this.#usedByOwner(turn) < WRITES_OF_ONE
  }

  /** Turns of this mode that its owner uses. */
  #usedByOwner(turn: Turn): number {
    const owner = ownerOf(turn)
    return owner === undefined ? 0 : (this.#usedBy[turn.mode].get(owner) ?? 0)
  }

  #count(turn: Turn, change: 1 | -1): void {
    this.#used[turn.mode] += change
    if (turn.withoutToken) this.#usedWithoutToken += change
    const owner = ownerOf(turn)
    if (owner === undefined) return
    const used = this.#usedByOwner(turn) + change
    if (used === 0) this.#usedBy[turn.mode].delete(owner)
    else this.#usedBy[turn.mode].set(owner, used)
  }

  #beginNext(): void {
    let next: Waiting | undefined
    for (const waiting of this.#waiting) {
      if (!this.#isFree(waiting.turn)) continue
      if (next === undefined || this.#usedByOwner(waiting.turn) < this.#usedByOwner(next.turn)) next = waiting
    }
    if (next === undefined) return
    this.#count(next.turn, 1)
    next.leave(true)
  }

  /** Returns false if the turn was taken over. */
  #wait(turn: Turn): Promise<boolean> {
    const isFull = this.#waiting.length >= MAX_WAITING || this.#waitManyLike(turn)
    if (isFull && turn.isOfMany !== true)
      throw new Overload('database', 'too many requests wait for the database')
    return new Promise((resolve, reject) => {
      const remove = () => {
        clearTimeout(timer)
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
      }
      const waiting: Waiting = {
        turn,
        leave: (hasTurn) => {
          remove()
          resolve(hasTurn)
        },
      }
      const timer = setTimeout(() => {
        remove()
        reject(new Overload('database', 'the database is busy with other requests'))
      }, MAX_WAIT_MS)
      this.#waiting.push(waiting)
    })
  }

  /** Whether many reads of the same account wait, or many writes of the same organization or account. */
  #waitManyLike(turn: Turn): boolean {
    const names = turn.mode === 'read' ? (['account'] as const) : (['organizationId', 'account'] as const)
    return names.some((name) => {
      const isLike = (other: Turn) => other.mode === turn.mode && other[name] === turn[name]
      return (
        turn[name] !== undefined &&
        this.#waiting.filter((waiting) => isLike(waiting.turn)).length >= WAITING_OF_ONE
      )
    })
  }
}
