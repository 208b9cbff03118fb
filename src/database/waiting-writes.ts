import { Rotation } from '../core/rotation.ts'
import type { Work } from './database.ts'
import { Overload } from '../core/errors.ts'

const WAITING_OF_ONE = 250
const MAX_WRITES_A_COMMIT = 64
/** Others wait for the commit, so no write is added to it after this time. */
const MAX_COMMIT_MS = 25

export type WaitingWrite = {
  /** Gives what answers the write after its commit. */
  work: Work<() => void>
  reject: (reason: unknown) => void
}

/** Writes that wait for the only write lock of SQLite. Accounts take turns, so that no account keeps others waiting. */
export class WaitingWrites<T> {
  readonly #waiting = new Rotation<T>()

  get count(): number {
    return this.#waiting.count
  }

  /** Throws 503 if too many writes of the account wait. The server's own writes have no account. */
  add(write: T, account = ''): void {
    if (account !== '' && this.#waiting.countOf(account) >= WAITING_OF_ONE) {
      throw new Overload('database', 'too many requests wait for the database')
    }
    this.#waiting.add(write, account)
  }

  /** Gives the writes of one commit. The time counts from the first one. */
  *ofOneCommit(): Generator<T> {
    let end = Infinity
    for (let count = 0; count < MAX_WRITES_A_COMMIT && performance.now() < end; count += 1) {
      const write = this.#waiting.take()
      if (write === undefined) return
      if (count === 0) end = performance.now() + MAX_COMMIT_MS
      yield write
    }
  }
}
