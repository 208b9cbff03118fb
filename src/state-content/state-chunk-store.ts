import type { Transaction } from '../database/database.ts'
import { forUpdate } from '../database/portable.ts'
import { prepared } from '../database/prepared.ts'
import { inSlices } from '../database/slices.ts'
import type { SealedChunk } from './seal-pass.ts'

/** What was uploaded: the state file itself, or its JSON form (`tofu show -json`). */
export type ContentKind = 'state' | 'json-state'

/** One upload of one content. Several uploads may be tried; one of them becomes the content. */
export type UploadAddress = { stateVersionId: string; kind: ContentKind; uploadId: string }

const MAX_ROWS_A_STATEMENT = 50

export async function insertChunks(
  tx: Transaction,
  { stateVersionId, kind, uploadId }: UploadAddress,
  chunks: readonly SealedChunk[],
): Promise<void> {
  const rows = chunks.map(({ number, sealed }) => ({
    state_version_id: stateVersionId,
    upload_id: uploadId,
    kind,
    number,
    sealed,
  }))
  const insert = (some: Readonly<typeof rows>) => tx.db.insertInto('state_chunks').values(some).execute()
  await inSlices(rows, insert, MAX_ROWS_A_STATEMENT)
}

const chunkQuery = prepared<UploadAddress & { number: number }>()((db, param) =>
  db
    .selectFrom('state_chunks')
    .where('state_version_id', '=', param('stateVersionId'))
    .where('kind', '=', param('kind'))
    .where('upload_id', '=', param('uploadId'))
    .where('number', '=', param('number'))
    .select('sealed'),
)

/** Undefined after the last chunk. */
export async function findChunk(
  tx: Transaction,
  address: UploadAddress,
  number: number,
): Promise<Uint8Array | undefined> {
  return (await tx.first(chunkQuery, { ...address, number }))?.sealed
}

const chunkCount = prepared<UploadAddress>()((db, param) =>
  db
    .selectFrom('state_chunks')
    .where('state_version_id', '=', param('stateVersionId'))
    .where('kind', '=', param('kind'))
    .where('upload_id', '=', param('uploadId'))
    .select((eb) => eb.fn.countAll<number>().as('count')),
)

export async function countChunks(tx: Transaction, address: UploadAddress): Promise<number> {
  return (await tx.first(chunkCount, address))?.count ?? 0
}

/** Deletes the first chunks of an upload, at most `limit`. Returns how many. */
export async function deleteChunks(
  tx: Transaction,
  { stateVersionId, kind, uploadId }: UploadAddress,
  limit: number,
): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('state_chunks')
    .where('state_version_id', '=', stateVersionId)
    .where('kind', '=', kind)
    .where('upload_id', '=', uploadId)
    .where('number', 'in', (eb) =>
      eb
        .selectFrom('state_chunks')
        .where('state_version_id', '=', stateVersionId)
        .where('kind', '=', kind)
        .where('upload_id', '=', uploadId)
        .select('number')
        .orderBy('number')
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** As `deleteChunks`, but keeps an upload that became the content: a commit can succeed although its answer is lost. */
export async function deleteForgotten(
  tx: Transaction,
  address: UploadAddress,
  limit: number,
): Promise<number> {
  const counted = await tx.db
    .selectFrom('state_versions')
    .where('id', '=', address.stateVersionId)
    .select(address.kind === 'state' ? 'upload_id as id' : 'json_upload_id as id')
    // PostgreSQL may still be committing it: wait for the row's lock.
    .$call(forUpdate(tx))
    .executeTakeFirst()
  return counted?.id === address.uploadId ? 0 : deleteChunks(tx, address, limit)
}
