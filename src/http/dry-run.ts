import { invalidQuery } from '../core/errors.ts'
import type { Database, Transaction, TransactionOptions } from '../database/database.ts'
import type { Query } from '../jsonapi/query.ts'

const PARAMETER = 'dry-run'
/** Whether a name may be a misspelled `dry-run`: `dry_run`, `dryRun`, `dry--run`, `filter[dry-run]`. */
function isMisspelled(name: string): boolean {
  return name !== PARAMETER && /dryrun/i.test(name.replace(/[^a-z]/gi, ''))
}

/**
 * Whether a write is only a dry run. Throws 400 for any value except true and false, also an empty one, if the
 * parameter is repeated or misspelled, or if the route has no dry run: a request meant as a dry run must never be
 * executed.
 */
export function isDryRun(query: Query, hasDryRun: boolean): boolean {
  for (const name of query.names) {
    // Older clients and proxies use a semicolon between parameters.
    const isHidden = /[;&?]\s*dry[\W_]*run/i.test(query.given(name) ?? '')
    if (isMisspelled(name) || isHidden)
      throw invalidQuery('the parameter is spelled dry-run=true; the request was not executed', name)
  }
  if (query.isRepeated(PARAMETER)) throw invalidQuery('dry-run must be given once', PARAMETER)
  const value = query.given(PARAMETER)
  if (value === undefined || value === 'false') return false
  if (value !== 'true') throw invalidQuery('dry-run must be true or false', PARAMETER)
  if (!hasDryRun) throw invalidQuery('this request has no dry run, and was not executed', PARAMETER)
  return true
}

/**
 * Compares what a dry run changes. `look` runs in the write's transaction, before and after the act. It must read little, because
 * others wait for the write lock. `compare` runs after the rollback, when nobody waits.
 */
export type DryRun<Look = unknown> = {
  readonly look: (tx: Transaction) => Promise<Look>
  /** Returns the document of the changes. */
  readonly compare: (before: Look, after: Look) => Promise<string>
}

/** Runs the whole write, and rolls it back. */
export async function rolledBack(
  database: Database,
  work: (tx: Transaction) => Promise<void>,
  options: TransactionOptions,
): Promise<void> {
  const rollback = new Error('rolled back')
  try {
    await database.write(
      async (tx) => {
        await work(tx)
        throw rollback
      },
      { ...options, isRolledBack: true },
    )
  } catch (error) {
    if (error !== rollback) throw error
  }
}
