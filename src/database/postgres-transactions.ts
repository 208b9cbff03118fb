import { beginText, type Kind, type PostgresConnection } from './postgres-connection.ts'
import { DeadlineError, isAway, isStaleStatement } from './postgres-errors.ts'
import type { PostgresPool } from './postgres-pool.ts'
import { commit, finish } from './postgres-transaction.ts'

/** Longer than the statement timeouts, so that normally the server ends a slow transaction first. */
const DEADLINE_MS = 30_000
const LONG_DEADLINE_MS = 3_600_000

/** Begins transactions and ends them. */
export class PostgresTransactions {
  readonly #pool: PostgresPool

  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  /** @param sendBehind sends the first statements, in the same message as the beginning */
  async run<T, Behind>(
    kind: Kind,
    sendBehind: (connection: PostgresConnection) => Promise<Behind>,
    work: (connection: PostgresConnection, behind: Behind) => Promise<T>,
  ): Promise<T> {
    const { connection, behind } = await this.#pool.begin(beginText(kind), (begun) => {
      begun.beginTransaction()
      return sendBehind(begun)
    })
    const { client } = connection
    const deadline = setTimeout(
      () => client.cut(new DeadlineError('a transaction took too long')),
      kind.isLong === true ? LONG_DEADLINE_MS : DEADLINE_MS,
    )
    try {
      const value = await work(connection, await behind)
      if (kind.mode === 'write') await finish(connection)
      await (kind.mode === 'read' ? connection.query('commit') : commit(connection))
      connection.endTransaction()
      client.release()
      return value
    } catch (thrown) {
      // After a statement has failed, the ones behind it fail with an error that says less.
      const error = (await connection.failureOfSent()) ?? thrown
      connection.endTransaction()
      if (isStaleStatement(error)) this.#pool.cutIdle()
      if (isAway(error) || isStaleStatement(error)) client.release(true)
      else {
        await connection.query('rollback').then(
          () => client.release(),
          (broken: Error) => client.release(broken),
        )
      }
      throw error
    } finally {
      clearTimeout(deadline)
    }
  }
}
