import type { Kysely } from 'kysely'
import type { Availability } from './availability.ts'
import type { LastWork } from './before-commit.ts'
import type { Engine } from './portable.ts'
import type { PreparedQuery, Values } from './prepared.ts'
import type { Tables } from './tables.ts'

/** Is notified of queries that were not run because their rows are cached. */
export interface Sparing {
  spare<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): void
}

/**
 * A transaction. Inside it, await only its own queries: on SQLite a read (unless it is slow) lasts one turn of the
 * event loop, and a write holds the only write lock.
 */
export interface Transaction extends Partial<Sparing> {
  readonly engine: Engine
  readonly mode: 'read' | 'write'
  /**
   * How many writes of the same organization run before this one in the same transaction, unseen by it, of any kind: to be
   * added to what a limit counts. If such a write fails, it runs again alone.
   */
  readonly beside?: number
  /**
   * How many inserts run beside each other in this transaction, if all are of the same organization and no other write
   * follows. Only the first one knows. It may lock what is otherwise locked last.
   */
  readonly together?: number
  /** Whether its statements keep all other requests waiting. True for an ordinary read on SQLite. */
  readonly isBlocking?: boolean
  /** Kysely on the connection of this transaction. */
  readonly db: Kysely<Tables>
  /** Runs a prepared query. For hot paths, because it is compiled only once. */
  all<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V, sparing?: Sparing): Promise<Row[]>
  first<V extends Values, Row>(
    query: PreparedQuery<V, Row>,
    values: V,
    sparing?: Sparing,
  ): Promise<Row | undefined>
  /**
   * Runs a query only for its cost, even if its rows are cached. On SQLite it runs with empty texts for all values, so it is
   * for queries by ids and names, not for those with lists in JSON or with a limit.
   */
  repeat<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<void>
  /**
   * Runs a statement of a write whose result nobody needs. PostgreSQL does not wait for it; if it fails, the transaction
   * fails at its end.
   */
  send<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<void>
  /**
   * Runs `work` before the commit, once for the items of all writes that share the transaction. For rows that stay locked
   * until then: to be locked last.
   */
  beforeCommit<Item>(work: LastWork<Item>, items: readonly Item[]): void
  /**
   * Says that the work only reads from now on. PostgreSQL then does what is left before the commit beside these reads, if no
   * other write shares the transaction.
   */
  noMoreChanges?(): void
  /** Calls `work` once this write is committed, and never if it is rolled back. `work` must not throw. */
  afterCommit(work: () => void): void
}

export type TransactionOptions = {
  /**
   * The organization that is written. Its writes wait for each other, and hold no connection while they wait. PostgreSQL
   * locks its row first, so that what a write has read stays true until it commits.
   */
  organizationId?: string
  /** No deadlines, for unbounded work such as an upgrade. Requests and background jobs have deadlines. */
  isLong?: boolean
  /** Names the token or session that a request reads with. It is a hash: it stays in memory, and the secret must not. */
  caller?: string
  /**
   * Whose read or write it is. Accounts take turns; on PostgreSQL with their writes only if these are in no organization. The
   * server's own have none.
   */
  account?: string
  /** The read of a request without a token, whose signed URL gives the right. `account` names the URL's object. */
  withoutToken?: boolean
  /**
   * Names the request. PostgreSQL runs the statements of an earlier read of the same caller and name as one. A write does
   * that for what its request read first.
   */
  name?: string
  /** Names requests that begin with the same statements. PostgreSQL runs these statements as one. */
  like?: string
  /**
   * The write inserts one object and takes nothing from anybody. So others of its kind do not change what it may do, but for
   * limits and names.
   * Those that wait run together on PostgreSQL. See `Transaction.beside`.
   */
  isOneInsert?: boolean
  /** The write is rolled back at its end. It shares no transaction, because other writes would be rolled back with it. */
  isRolledBack?: boolean
  /**
   * For a read with many statements, or with statements on many rows. On SQLite it runs in a thread of its own. `account`, or
   * else the organization, has one such read at a time.
   */
  isSlow?: boolean
}

/** What runs in a transaction. On PostgreSQL it may run several times. */
export type Work<T> = (tx: Transaction) => Promise<T>

/** How busy the database is in this process. */
export type Load = {
  /** Requests that wait for a transaction. */
  readonly waiting: number
  /** Connections for transactions, on PostgreSQL. */
  readonly connections?: { readonly used: number; readonly idle: number }
}

export interface Database {
  readonly engine: Engine
  readonly load: Load
  /** Whether it can be read and written; used by /readyz. */
  readonly availability: Availability
  /** Set by the server, and called before the event loop is blocked for the time of a commit: on SQLite only. */
  beforeBlocking?: () => void
  /** Reads one consistent snapshot of committed data, including this process's earlier writes. */
  read<T>(work: Work<T>, options?: TransactionOptions): Promise<T>
  /**
   * Resolves once the commit is on the disk. If `work` throws, everything it wrote is rolled back. Throws 503
   * (`databaseUnavailable`) if the database is the cause.
   */
  write<T>(work: Work<T>, options?: TransactionOptions): Promise<T>
  close(): Promise<void>
}

export type DatabaseOptions = {
  /** SQLite: whether a commit waits for the disk (default). If not, a later commit that waits makes it durable too. */
  isDurable?: boolean
  /** SQLite: after how many milliseconds a slow read ends with 503. */
  slowReadMs?: number
  /** PostgreSQL: maximum number of connections. */
  connections?: number
}

/** Throws if a transaction is used after its end: it would write into another one. */
export function assertOpen(isOpen: boolean): void {
  if (!isOpen) throw new Error('this transaction has ended')
}
