import type { Transaction } from '../database/database.ts'
import { forUpdate } from '../database/portable.ts'
import { newDataKey, wrapDataKey } from '../state-versions/state-crypto.ts'
import { updateStateVersion, type StateVersionRow } from '../state-versions/state-version-store.ts'

/**
 * Deletes the content for good by replacing its key, so the remaining chunks and outputs are unreadable at once; they
 * are swept later. The other facts about the version stay.
 */
export async function deleteContent(tx: Transaction, id: string, secretKey: Uint8Array): Promise<void> {
  await updateStateVersion(tx, id, {
    status: 'backing_data_permanently_deleted',
    soft_deleted_at: null,
    // A new key that opens nothing: code that walks over all keys finds a valid one in every row.
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

/** Versions whose content was soft-deleted before a time. Their rows stay locked until the end of this transaction. */
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
      // PostgreSQL checks the condition again after locking a row, so it skips a version restored meanwhile.
      .$call(forUpdate(tx))
      .execute()
  )
}
