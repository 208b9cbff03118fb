import type { Work } from './database.ts'
import { UnknownOutcomeError } from './postgres-errors.ts'
import type { NamedRead } from './postgres-replay.ts'

/** A write that waits. The transaction of an earlier write may take it along. */
export class SharedWrite {
  readonly organizationId: string
  readonly work: Work<unknown>
  readonly named: NamedRead | undefined
  /** See TransactionOptions. Such writes run side by side in a transaction. */
  readonly isOneInsert: boolean
  /** Whether it ran in a transaction that others shared. If that was undone, it runs alone. */
  hasRun = false
  /** Whether a transaction has taken it along. */
  isTaken = false
  /** Returns or throws what the write did. Undefined: nothing was done, and the write has to run alone. */
  readonly settled: Promise<(() => unknown) | undefined>
  readonly settle: (outcome: (() => unknown) | undefined) => void

  constructor(
    organizationId: string,
    work: Work<unknown>,
    { named, isOneInsert }: Pick<SharedWrite, 'named' | 'isOneInsert'>,
  ) {
    this.organizationId = organizationId
    this.work = work
    this.named = named
    this.isOneInsert = isOneInsert
    const { promise, resolve } = Promise.withResolvers<(() => unknown) | undefined>()
    this.settled = promise
    this.settle = resolve
  }
}

/** Settles writes whose transaction failed. One of them may be the cause, so each has to run alone. */
export function settleFailed(writes: Iterable<SharedWrite>, error: unknown): void {
  const outcome = () => {
    throw error
  }
  for (const write of writes) write.settle(error instanceof UnknownOutcomeError ? outcome : undefined)
}
