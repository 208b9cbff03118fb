import { sql } from 'kysely'
import type { Transaction } from '../database/database.ts'
import type { UploadAddress } from './state-chunk-store.ts'

/** Where a sweep stands in the keys of state_chunks. */
export type SweepPlace = { stateVersionId: string; kind: string; uploadId: string }

/** A stored upload, and whether its version still counts on it. */
export type SweptUpload = UploadAddress & { isLeft: boolean }

/**
 * The next upload after `place`: one step over the key, however many chunks it has. Undefined at the end.
 *
 * @param expiry upload URLs of versions that were created before this have expired
 * @param now a discarded version whose lease is longer is being written
 */
export async function nextUpload(
  tx: Transaction,
  place: SweepPlace,
  expiry: string,
  now: string,
): Promise<SweptUpload | undefined> {
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
  if (key === undefined) return undefined
  const version = await tx.db
    .selectFrom('state_versions')
    .where('id', '=', key.state_version_id)
    .select(['status', 'upload_id', 'json_upload_id', 'created_at', 'lease_until'])
    .executeTakeFirst()
  const counted = key.kind === 'state' ? version?.upload_id : version?.json_upload_id
  return {
    stateVersionId: key.state_version_id,
    kind: key.kind,
    uploadId: key.upload_id,
    // As long as none counts, any may be arriving right now: of a finalized version too, what `tofu show -json` says of it.
    isLeft:
      version === undefined ||
      version.status === 'backing_data_permanently_deleted' ||
      (version.status === 'discarded' && (version.lease_until ?? '') < now) ||
      (counted === null ? version.created_at < expiry : counted !== key.upload_id),
  }
}

/** Deletes some of an upload's chunks; how many. */
export async function deleteSomeChunks(
  tx: Transaction,
  upload: UploadAddress,
  limit: number,
): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('state_chunks')
    .where('state_version_id', '=', upload.stateVersionId)
    .where('kind', '=', upload.kind)
    .where('upload_id', '=', upload.uploadId)
    .where('number', 'in', (eb) =>
      eb
        .selectFrom('state_chunks')
        .where('state_version_id', '=', upload.stateVersionId)
        .where('kind', '=', upload.kind)
        .where('upload_id', '=', upload.uploadId)
        .select('number')
        .orderBy('number')
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** The next version after `id` that has output blocks, and whether it is gone or given up. */
export async function nextBlocks(
  tx: Transaction,
  id: string,
): Promise<{ id: string; isLeft: boolean } | undefined> {
  const key = await tx.db
    .selectFrom('output_blocks')
    .where('state_version_id', '>', id)
    .select('state_version_id')
    .orderBy('state_version_id')
    .limit(1)
    .executeTakeFirst()
  if (key === undefined) return undefined
  const version = await tx.db
    .selectFrom('state_versions')
    .where('id', '=', key.state_version_id)
    .select('status')
    .executeTakeFirst()
  const isOver = version?.status === 'discarded' || version?.status === 'backing_data_permanently_deleted'
  return { id: key.state_version_id, isLeft: version === undefined || isOver }
}

/** Gives up uploads whose URL has expired. */
export async function discardExpired(tx: Transaction, createdBefore: string, limit: number): Promise<void> {
  await tx.db
    .updateTable('state_versions')
    .set({ status: 'discarded' })
    // PostgreSQL looks at this again when it had to wait for a row, and not at what is in the list below.
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
