import type { Transaction } from './database.ts'
import type { NamedRead } from './postgres-replay.ts'

/** A write that waits for its turn. The transaction of an earlier write of its organization may take it along. */
export class SharedWrite {
  readonly work: (tx: Transaction) => Promise<unknown>
  readonly named: NamedRead | undefined
  /** Whether a transaction has taken it along. */
  isTaken = false
  readonly #settled = Promise.withResolvers<(() => unknown) | undefined>()

  constructor(work: (tx: Transaction) => Promise<unknown>, named: NamedRead | undefined) {
    this.work = work
    this.named = named
  }

  /** Returns or throws what the write did. Undefined: the transaction was undone, and the write has to run alone. */
  get settled(): Promise<(() => unknown) | undefined> {
    return this.#settled.promise
  }

  settle(outcome: (() => unknown) | undefined): void {
    this.#settled.resolve(outcome)
  }
}
