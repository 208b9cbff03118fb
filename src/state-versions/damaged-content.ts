import { AppError } from '../core/errors.ts'
import type { Database } from '../database/database.ts'
import { SealError } from './state-crypto.ts'
import { findStateVersion, isContentDeleted, type StateVersionRow } from './state-version-store.ts'

/** What is stored of a state version is not what was written: some of it is lost, altered or exchanged. */
export class DamagedContentError extends Error {
  readonly reason: string

  constructor(what: string, stateVersionId: string, reason: string, options?: ErrorOptions) {
    super(`the ${what} of ${stateVersionId} are damaged: ${reason}`, options)
    this.reason = reason
  }
}

/** The content was deleted while it was read. */
export class ContentDeletedError extends AppError {
  constructor() {
    super('not-found')
  }
}

/**
 * What to throw for content that could not be read in several transactions: it may have been deleted between two of them,
 * which is no damage.
 */
export async function readingError(
  database: Database,
  { id, status }: StateVersionRow,
  what: string,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof SealError)) return error
  const now = await database.read((tx) => findStateVersion(tx, id))
  const isGone =
    now === undefined || (now.status !== status && (now.status === 'discarded' || isContentDeleted(now)))
  return isGone
    ? new ContentDeletedError()
    : new DamagedContentError(what, id, error.message, { cause: error })
}
