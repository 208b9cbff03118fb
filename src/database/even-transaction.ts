import type { Kysely } from 'kysely'
import type { LastWork } from './before-commit.ts'
import type { Transaction } from './database.ts'
import type { Engine } from './portable.ts'
import type { PreparedQuery, Values } from './prepared.ts'
import type { Tables } from './tables.ts'

/**
 * Wraps the transaction that a decision reads through, and records the queries that the cache answered. What is cached
 * depends on earlier requests, so the time of a refusal would leak it. Before a refusal `makeUp` runs the skipped
 * queries: every refusal by a route then runs the same queries.
 */
export class EvenTransaction implements Transaction {
  readonly engine: Engine
  readonly mode: 'read' | 'write'
  readonly #tx: Transaction
  readonly #spared: (() => Promise<void>)[] = []

  constructor(tx: Transaction) {
    this.engine = tx.engine
    this.mode = tx.mode
    this.#tx = tx
  }

  get db(): Kysely<Tables> {
    return this.#tx.db
  }

  all<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<Row[]> {
    return this.#tx.all(query, values, this)
  }

  first<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<Row | undefined> {
    return this.#tx.first(query, values, this)
  }

  repeat<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<void> {
    return this.#tx.repeat(query, values)
  }

  send<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<void> {
    return this.#tx.send(query, values)
  }

  beforeCommit<Item>(work: LastWork<Item>, items: readonly Item[]): void {
    this.#tx.beforeCommit(work, items)
  }

  afterCommit(work: () => void): void {
    this.#tx.afterCommit(work)
  }

  spare<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): void {
    this.#spared.push(() => this.#tx.repeat(query, values))
  }

  /** Runs the queries that the cache answered. */
  async makeUp(): Promise<void> {
    for (const repeat of this.#spared) await repeat()
  }
}
