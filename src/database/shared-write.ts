import type { Work } from './database.ts'
import { UnknownOutcomeError } from './postgres-errors.ts'
import type { NamedRead } from './postgres-replay.ts'

/** A write that waits. The transaction of an earlier write may take it along. */
export class SharedWrite {
  readonly organizationId: string
  readonly work: Work<unknown>
  readonly named: NamedRead | undefined
  /** Whether a transaction has taken it along. */
  isTaken = false
  readonly #settled = Promise.withResolvers<(() => unknown) | undefined>()

  constructor(organizationId: string, work: Work<unknown>, named: NamedRead | undefined) {
    this.organizationId = organizationId
    this.work = work
    this.named = named
  }

  /** Returns or throws what the write did. Undefined: nothing was done, and the write has to run alone. */
  get settled(): Promise<(() => unknown) | undefined> {
    return this.#settled.promise
  }

  settle(outcome: (() => unknown) | undefined): void {
    this.#settled.resolve(outcome)
  }
}

/** Settles writes whose transaction failed. One of them may be the cause, so each has to run alone. */
export function settleFailed(writes: Iterable<SharedWrite>, error: unknown): void {
  const outcome = () => {
    throw error
  }
  for (const write of writes) write.settle(error instanceof UnknownOutcomeError ? outcome : undefined)
}
