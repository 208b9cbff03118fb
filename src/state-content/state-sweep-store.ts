import { sql } from 'kysely'
import type { Transaction } from '../database/database.ts'
import type { UploadAddress } from './state-chunk-store.ts'
import { lockStateVersion, updateStateVersion, uploadOf } from '../state-versions/state-version-store.ts'

/** The position of a sweep in the primary key of state_chunks. */
export type SweepPlace = { stateVersionId: string; kind: string; uploadId: string }

/** The next upload after `place`, found by one index step whatever its number of chunks. Undefined at the end. */
export async function nextUpload(tx: Transaction, place: SweepPlace): Promise<UploadAddress | undefined> {
  const key = await tx.db
    .selectFrom('state_chunks')
    .where(
      sql<boolean>`(state_version_id, kind, upload_id) > (${place.stateVersionId}, ${place.kind}, ${place.uploadId})`,
    )
    .select(['state_version_id', 'kind', 'upload_id'])
    .orderBy('state_version_id')
    .orderBy('kind')
    .orderBy('upload_id')
    .limit(1)
    .executeTakeFirst()
  return key && { stateVersionId: key.state_version_id, kind: key.kind, uploadId: key.upload_id }
}

/**
 * Whether nothing needs an upload any more. In a write this stays true until the end of the transaction: it locks the
 * version's row, and clears a lease that has run out, because its owner may be paused and not dead.
 *
 * @param expiry upload URLs of versions created before this time have expired
 */
export async function isLeft(
  tx: Transaction,
  { stateVersionId, kind, uploadId }: UploadAddress,
  now: string,
  expiry: string,
): Promise<boolean> {
  const version = await lockStateVersion(tx, stateVersionId)
  if (version === undefined || version.status === 'backing_data_permanently_deleted') return true
  if (version.status === 'discarded') {
    if (version.lease_until === null) return true
    if (version.lease_until >= now) return false
    if (tx.mode === 'write') await updateStateVersion(tx, stateVersionId, { lease_until: null })
    return true
  }
  const counted = uploadOf(version, kind)
  // No upload has become the content yet, so any may still arrive: also the JSON form of a finalized version.
  return counted === null ? version.created_at < expiry : counted !== uploadId
}

/** The next version after `id` that has output blocks. */
export async function nextBlocks(tx: Transaction, id: string): Promise<string | undefined> {
  const key = await tx.db
    .selectFrom('output_blocks')
    .where('state_version_id', '>', id)
    .select('state_version_id')
    .orderBy('state_version_id')
    .limit(1)
    .executeTakeFirst()
  return key?.state_version_id
}

/** Whether the version of output blocks is missing, discarded or deleted. A write locks its row, so this stays true. */
export async function areBlocksLeft(tx: Transaction, id: string): Promise<boolean> {
  const version = await lockStateVersion(tx, id)
  const isOver = version?.status === 'discarded' || version?.status === 'backing_data_permanently_deleted'
  return version === undefined || isOver
}

/** Discards pending versions whose upload URL has expired. */
export async function discardExpired(tx: Transaction, createdBefore: string, limit: number): Promise<void> {
  await tx.db
    .updateTable('state_versions')
    .set({ status: 'discarded' })
    // After waiting for a row lock, PostgreSQL checks this condition again, but not the subquery below.
    .where('status', '=', 'pending')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('state_versions')
        .where('status', '=', 'pending')
        .where('created_at', '<', createdBefore)
        .select('id')
        .limit(limit),
    )
    .execute()
}
