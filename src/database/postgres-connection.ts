import type { CompiledQuery, Kysely, QueryResult } from 'kysely'
import type { PoolClient, QueryConfig, QueryResult as PostgresResult, QueryResultRow } from 'pg'
import { AlikeStatements } from './alike-statements.ts'
import { BeforeCommit } from './before-commit.ts'
import { kyselyOver } from './connection-driver.ts'
import { rowsOf } from './driver-values.ts'
import {
  GENERIC_PLANS,
  NO_JIT,
  NO_WHOLE_TABLES,
  withoutTimeouts,
  type PostgresClient,
} from './postgres-client.ts'
import { isCause } from './postgres-errors.ts'
import { ReplayedRead } from './postgres-replay.ts'
import type { ReadPlan } from './read-plans.ts'
import { asOne, type ReadAnswer } from './read-statement.ts'
import type { Tables } from './tables.ts'

/** A connection of the pool, and what is known of its transaction. */
export class PostgresConnection {
  readonly client: PoolClient & PostgresClient
  readonly db: Kysely<Tables>
  /** Left to do by the writes of the transaction. */
  beforeCommit = new BeforeCommit()
  readonly alike = new AlikeStatements((statement) => {
    this.client.gather()
    return this.client.query(statement)
  })
  #hasGenericPlans = false
  readonly #sent: Promise<unknown>[] = []

  constructor(client: PoolClient & PostgresClient) {
    this.client = client
    this.db = kyselyOver(async (query) => resultOf(await this.execute(query)), 'postgres')
  }

  query<Row extends QueryResultRow>(config: string | QueryConfig): Promise<PostgresResult<Row>> {
    this.#prepareToSend()
    return this.client.query<Row>(config)
  }

  #prepareToSend(): void {
    this.alike.flush()
    this.client.gather()
  }

  /** Does not wait for a statement. If it fails, the transaction fails at its end. */
  send(sent: Promise<unknown>): void {
    // The failure is thrown by `failureOfSent`.
    sent.catch(() => {})
    this.#sent.push(sent)
  }

  /** The failure that the server reported for a statement of `send`, if it is a cause. Waits for their answers. */
  async failureOfSent(): Promise<Error | undefined> {
    const results = await Promise.allSettled(this.#sent)
    for (const result of results) {
      if (result.status === 'rejected' && isCause(result.reason)) return result.reason
    }
    return undefined
  }

  /** To be called when `beginText` was sent. */
  beginTransaction(): void {
    this.#hasGenericPlans = true
  }

  endTransaction(): void {
    this.beforeCommit = new BeforeCommit()
    this.#hasGenericPlans = false
    this.#sent.length = 0
  }

  #usePlans(areGeneric: boolean): void {
    if (this.#hasGenericPlans === areGeneric) return
    this.#hasGenericPlans = areGeneric
    this.send(this.query(`set local ${areGeneric ? GENERIC_PLANS : 'plan_cache_mode = auto'}`))
  }

  /** Reads what earlier requests read, of plans with the same statement. */
  async readAhead(plans: readonly ReadPlan[]): Promise<(ReplayedRead | undefined)[]> {
    this.#usePlans(true)
    this.#prepareToSend()
    // Creates in one place by one caller have the same plan.
    const distinct = [...new Set(plans)]
    const { rows } = await this.client.query<ReadAnswer>(asOne(distinct.map(({ statement }) => statement)))
    const answers = new Map(rows.map(([place, ...records]) => [distinct[place - 1], records]))
    return plans.map((plan) => {
      const records = answers.get(plan)
      return records && new ReplayedRead(plan, records)
    })
  }

  /** Runs a statement that is not prepared. It is planned for its values, which may be a long list. */
  execute(query: CompiledQuery): Promise<PostgresResult> {
    this.#usePlans(false)
    return this.query({ text: query.sql, values: [...query.parameters] })
  }
}

export const LOCK_ORGANIZATION = {
  name: 'lock organization',
  text: 'select id from organizations where id = $1 for update',
}

export function resultOf<R>({ rows, rowCount }: PostgresResult): QueryResult<R> {
  return { rows: rowsOf<R>(rows), numAffectedRows: BigInt(rowCount ?? 0) }
}

export function changesRows(text: string): boolean {
  return !text.startsWith('select')
}

export function locksRows(text: string): boolean {
  return /for (update|key share)/.test(text)
}

/**
 * A read sees one snapshot. A write runs read committed and takes row locks (see lockOrganization). The timeouts are in
 * the same message as begin: they cost no extra round trip, work through a pooler and end with the transaction.
 * lock_timeout is longer than the idle timeout: a waiter outlasts the lock of a node that lost its network.
 */
const begin = {
  read: 'begin isolation level repeatable read read only',
  write: 'begin isolation level read committed',
} as const
const timeouts = {
  read: `; set local statement_timeout = '20s'; set local idle_in_transaction_session_timeout = '20s'`,
  write: `; set local statement_timeout = '20s'; set local idle_in_transaction_session_timeout = '4s'`,
} as const
const LOCK_TIMEOUT = '6s'

export type Kind = {
  readonly mode: 'read' | 'write'
  /** Without timeouts, also those of the server. */
  readonly isLong?: boolean
  /** For a read: is given when the connection will be free again. Never rejected. */
  readonly onEnding?: (ending: Promise<void>) => void
  /** How long a write waits for a lock. */
  readonly lockTimeout?: string
}

export function beginText({ mode, isLong = false, lockTimeout = LOCK_TIMEOUT }: Kind): string {
  const bounds = isLong ? `; ${withoutTimeouts(true)}` : `; set local ${NO_WHOLE_TABLES}${timeouts[mode]}`
  const lock = isLong || mode === 'read' ? '' : `; set local lock_timeout = '${lockTimeout}'`
  return `${begin[mode]}; set local ${NO_JIT}; set local ${GENERIC_PLANS}${bounds}${lock}`
}
