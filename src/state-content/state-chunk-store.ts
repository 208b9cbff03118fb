import { sql } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import { deleteSome, inSlices } from '../database/slices.ts'
import { lockStateVersion, uploadOf } from '../state-versions/state-version-store.ts'
import type { SealedChunk } from './seal-pass.ts'

/** What was uploaded: the state file itself, or its JSON form (`tofu show -json`). */
export type ContentKind = 'state' | 'json-state'

/** One upload of one content. Several uploads may be tried; one of them becomes the content. */
export type UploadAddress = { stateVersionId: string; kind: ContentKind; uploadId: string }

const MAX_ROWS_A_STATEMENT = 50

/** So few are inserted one by one, with a prepared statement. PostgreSQL does not wait for it. */
const FEW_ROWS = 4

const chunkInsertion = prepared<UploadAddress & SealedChunk>()((db, param) =>
  db.insertInto('state_chunks').values({
    state_version_id: param('stateVersionId'),
    upload_id: param('uploadId'),
    kind: param('kind'),
    number: param('number'),
    sealed: param('sealed'),
  }),
)

export async function insertChunks(
  tx: Transaction,
  address: UploadAddress,
  chunks: readonly SealedChunk[],
): Promise<void> {
  if (chunks.length <= FEW_ROWS) {
    for (const { number, sealed } of chunks) await tx.send(chunkInsertion, { ...address, number, sealed })
    return
  }
  const { stateVersionId, kind, uploadId } = address
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

/** Deletes some chunks of an upload, at most `limit`. Returns whether there may be more. */
export function deleteSomeChunks(
  tx: Transaction,
  { stateVersionId, kind, uploadId }: UploadAddress,
  limit: number,
): Promise<boolean> {
  const ofUpload = sql<boolean>`state_version_id = ${stateVersionId} and kind = ${kind} and upload_id = ${uploadId}`
  return deleteSome(tx, 'state_chunks', ofUpload, limit)
}

/** As `deleteSomeChunks`, but keeps an upload that became the content: a commit can succeed although its answer is lost. */
export async function deleteForgotten(
  tx: Transaction,
  address: UploadAddress,
  limit: number,
): Promise<boolean> {
  // PostgreSQL may still be committing it: wait for the row's lock.
  const version = await lockStateVersion(tx, address.stateVersionId)
  const counted = version && uploadOf(version, address.kind)
  return counted !== address.uploadId && deleteSomeChunks(tx, address, limit)
}
