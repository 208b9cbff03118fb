import type { Kysely } from 'kysely'
import type { Engine } from './portable.ts'
import type { PreparedQuery } from './prepared.ts'
import type { Tables } from './tables.ts'

/**
 * One transaction. In it, await nothing but its own queries: on SQLite a read lives for one turn of the event loop, and
 * a write holds the only write lock.
 */
export interface Transaction {
  readonly engine: Engine
  readonly mode: 'read' | 'write'
  /** Kysely on this transaction's connection. */
  readonly db: Kysely<Tables>
  /** The rows of a query that was compiled once: for hot paths. */
  all<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<Row[]>
  first<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<Row | undefined>
}

export interface Database {
  readonly engine: Engine
  /** A consistent view of what is committed; own earlier writes are in it. */
  read<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Resolves after the commit reached the disk; whatever `work` throws undoes all that it wrote. */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export type DatabaseOptions = {
  /** SQLite: whether a commit waits for the disk (default). Without it, one that does comes later and covers it. */
  isDurable?: boolean
  /** PostgreSQL: connections at the most. */
  connections?: number
}

/** A transaction that is used after its end must not write into somebody else's. */
export function assertOpen(isOpen: boolean): void {
  if (!isOpen) throw new Error('this transaction has ended')
}
