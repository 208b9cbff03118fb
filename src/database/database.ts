import type { Kysely } from 'kysely'
import type { Availability } from './availability.ts'
import type { Engine } from './portable.ts'
import type { PreparedQuery } from './prepared.ts'
import type { Tables } from './tables.ts'

/** Is told of queries that need not run, since something keeps their rows. */
export interface Sparing {
  spare<Values extends Record<string, unknown>, Row>(query: PreparedQuery<Values, Row>, values: Values): void
}

/**
 * One transaction. In it, await nothing but its own queries: on SQLite a read lives for one turn of the event loop (but
 * for slow ones), and a write holds the only write lock.
 */
export interface Transaction extends Partial<Sparing> {
  readonly engine: Engine
  readonly mode: 'read' | 'write'
  /** Kysely on this transaction's connection. */
  readonly db: Kysely<Tables>
  /** The rows of a query that was compiled once: for hot paths. */
  all<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
    sparing?: Sparing,
  ): Promise<Row[]>
  first<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
    sparing?: Sparing,
  ): Promise<Row | undefined>
  /** Runs a query for its cost alone, even where its rows are known. */
  repeat<Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<void>
}

export type TransactionOptions = {
  /** Whose data it changes: its writes wait for each other, and keep no connection from others while they wait. */
  organizationId?: string | undefined
  /** For what has no bounds, as an upgrade: without the deadlines that requests and background jobs have. */
  isLong?: boolean
  /** By whose token a request reads: where many wait, each caller has a turn before any has a second one. */
  caller?: string | undefined
  /** For a read of many statements: on SQLite other requests have their turns between them. */
  isSlow?: boolean
}

export interface Database {
  readonly engine: Engine
  /** Whether it can be read and written; what /readyz asks. */
  readonly availability: Availability
  /** A consistent view of what is committed; own earlier writes are in it. */
  read<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /**
   * Resolves after the commit reached the disk; whatever `work` throws undoes all that it wrote. Throws 503
   * (`databaseUnavailable`) where the database is the reason.
   */
  write<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
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
