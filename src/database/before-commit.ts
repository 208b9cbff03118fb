import type { Transaction } from './database.ts'

/** The last work of a transaction, for what all writes that share it have added. It registers nothing for later. */
export type LastWork<Item> = (tx: Transaction, items: readonly Item[]) => Promise<void>

/** What is left to do before a commit. */
export class BeforeCommit {
  readonly #works = new Map<LastWork<never>, never[]>()

  add<Item>(work: LastWork<Item>, items: readonly Item[]): void {
    const known = this.#works.get(work)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only their own work gets them
    const own = items as readonly never[]
    if (known === undefined) this.#works.set(work, [...own])
    else known.push(...own)
  }

  addAll(other: BeforeCommit): void {
    for (const [work, items] of other.#works) this.add(work, items)
  }

  get isEmpty(): boolean {
    return this.#works.size === 0
  }

  async run(tx: Transaction): Promise<void> {
    for (const [work, items] of this.#works) await work(tx, items)
  }
}
