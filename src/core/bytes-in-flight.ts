import type { Actor } from '../access/actor.ts'
import { Overload } from './errors.ts'

/** Bytes held for one body, upload or answer. */
export type Held = {
  /** Changes the held amount. Throws 503 like `take`, and then the old amount stays. */
  resize(bytes: number): void
  /** Releases all of it. A second call does nothing. */
  release(): void
}

/**
 * One budget for the bytes of all bodies, uploads and answers in this process. A caller may not hold more than they
 * leave free: one caller gets at most half, two get a third each, so there is always room for another one.
 */
export class BytesInFlight {
  readonly limit: number
  #taken = 0
  readonly #heldBy = new Map<string, number>()

  constructor(limit: number) {
    this.limit = limit
  }

  get taken(): number {
    return this.#taken
  }

  /**
   * Takes bytes from the budget. Throws 503 if too few are free.
   *
   * @param holders who the bytes are counted for: see `holdersOf`
   */
  take(bytes: number, holders: readonly string[]): Held {
    let held = 0
    let isReleased = false
    const resize = (to: number) => {
      if (isReleased) return
      if (to > held) this.#check(to - held, holders)
      this.#add(to - held, holders)
      held = to
    }
    resize(bytes)
    return {
      resize,
      release: () => {
        resize(0)
        isReleased = true
      },
    }
  }

  #check(more: number, holders: readonly string[]): void {
    const free = this.limit - this.#taken - more
    const isFull = free < 0 || holders.some((holder) => (this.#heldBy.get(holder) ?? 0) + more > free)
    if (!isFull) return
    const detail = 'the server is busy with other large bodies, uploads or answers; try again in a moment'
    throw new Overload('memory', detail)
  }

  #add(bytes: number, holders: readonly string[]): void {
    this.#taken += bytes
    for (const holder of holders) {
      const held = (this.#heldBy.get(holder) ?? 0) + bytes
      if (held === 0) this.#heldBy.delete(holder)
      else this.#heldBy.set(holder, held)
    }
  }
}

/** The caller, and the organization of the request. */
export function holdersOf(actor: Actor, organization: { readonly id: string } | undefined): string[] {
  const caller = actor.userId ?? actor.organizationId ?? actor.tokenId
  return organization === undefined || organization.id === caller ? [caller] : [caller, organization.id]
}
