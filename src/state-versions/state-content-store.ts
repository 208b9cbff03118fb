import type { Transaction } from '../database/database.ts'
import { forUpdate } from '../database/portable.ts'
import { newDataKey, wrapDataKey } from './state-crypto.ts'
import { updateStateVersion, type StateVersionRow } from './state-version-store.ts'

/**
 * Deletes the content for good: its key at once, after which nobody can read the chunks and outputs that still lie there.
 * They are swept. Whatever else is known of the version stays.
 */
export async function deleteContent(tx: Transaction, id: string, secretKey: Uint8Array): Promise<void> {
  await updateStateVersion(tx, id, {
    status: 'backing_data_permanently_deleted',
    soft_deleted_at: null,
    // One that opens nothing, so that whoever goes over all keys finds one in every row.
    wrapped_key: wrapDataKey(secretKey, id, newDataKey()),
    resources_processed: 1,
    outputs_count: 0,
    given_outputs_count: null,
    upload_id: null,
    json_upload_id: null,
    json_md5: null,
    lease_until: null,
    last_failure: null,
  })
}

/** Versions whose content was deleted softly before a time. Nobody else changes them while this transaction lasts. */
export function findSoftDeletedBefore(
  tx: Transaction,
  at: string,
  limit: number,
): Promise<StateVersionRow[]> {
  return (
    tx.db
      .selectFrom('state_versions')
      .where('status', '=', 'backing_data_soft_deleted')
      .where('soft_deleted_at', '<', at)
      .selectAll()
      .orderBy('id')
      .limit(limit)
      // PostgreSQL looks at them again once it has the rows: one that was restored meanwhile is not among them.
      .$call(forUpdate(tx))
      .execute()
  )
}
