import { AppError } from '../core/errors.ts'
import type { Database } from '../database/database.ts'
import { SealError } from './state-crypto.ts'
import { findStateVersion, isContentDeleted, type StateVersionRow } from './state-version-store.ts'

/** The stored content of a state version differs from what was written: a part is missing, altered or exchanged. */
export class DamagedContentError extends Error {
  readonly reason: string

  constructor(what: string, stateVersionId: string, reason: string, options?: ErrorOptions) {
    super(`the ${what} of ${stateVersionId} are damaged: ${reason}`, options)
    this.reason = reason
  }
}

/** The content was deleted during the read. */
export class ContentDeletedError extends AppError {
  constructor() {
    super('not-found')
  }
}

/**
 * Picks the error for content that could not be read. A read takes several transactions, so the content may have been
 * deleted between two of them; that is not damage.
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
