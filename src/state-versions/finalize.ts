import { AppError } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { setCurrentStateVersion } from './current-state-version-store.ts'
import { deleteOutputBlocks, insertOutputBlocks } from './output-block-store.ts'
import type { PassResult } from './state-pass.ts'
import { countChunks, type UploadAddress } from './state-chunk-store.ts'
import { updateStateVersion, type StateVersionRow } from './state-version-store.ts'

/**
 * Makes an uploaded state the workspace's current one, or a snapshot that waits to be it, whole or not at all. Its outputs are readable with it, unless they
 * are so large that they are left to the background.
 *
 * @param uploadId the upload whose chunks are its content
 * @returns whether the background has outputs to process
 */
export async function finalizeStateVersion(
  tx: Transaction,
  stateVersion: StateVersionRow,
  uploadId: string,
  result: PassResult,
  at: string,
): Promise<boolean> {
  const { header, outputs } = result
  const isEncrypted = header?.encrypted === true
  // What nobody but OpenTofu can read has the outputs that came beside it, which lie there already.
  if (!isEncrypted && stateVersion.given_outputs_count !== null) await deleteOutputBlocks(tx, stateVersion.id)
  const blocks = isEncrypted ? [] : (outputs?.blocks ?? null)
  if (blocks !== null) await insertOutputBlocks(tx, stateVersion.id, blocks)
  await updateStateVersion(tx, stateVersion.id, {
    status: 'finalized',
    upload_id: uploadId,
    size: result.size,
    state_format: header?.version ?? null,
    terraform_version: header?.terraformVersion ?? null,
    outputs_count: isEncrypted ? (stateVersion.given_outputs_count ?? 0) : (outputs?.count ?? 0),
    resources_count: header?.resourcesCount ?? null,
    managed_resources_count: header?.managedResourcesCount ?? null,
    resources_processed: blocks === null ? 0 : 1,
    finalized_at: at,
  })
  await requireAllChunks(tx, { stateVersionId: stateVersion.id, kind: 'state', uploadId }, result)
  if (stateVersion.is_intermediate === 0) {
    await setCurrentStateVersion(tx, stateVersion.workspace_id, stateVersion.id, at)
  }
  return blocks === null
}

/** Makes an upload count as what `tofu show -json` makes of a state. */
export async function addJsonState(
  tx: Transaction,
  id: string,
  uploadId: string,
  result: PassResult,
): Promise<void> {
  await updateStateVersion(tx, id, { json_upload_id: uploadId, json_md5: result.md5 })
  await requireAllChunks(tx, { stateVersionId: id, kind: 'json-state', uploadId }, result)
}

/**
 * Nothing is acknowledged of which a part is missing. The version's row has been written in this transaction, so no sweep
 * deletes chunks between this and the commit.
 */
async function requireAllChunks(tx: Transaction, upload: UploadAddress, result: PassResult): Promise<void> {
  if ((await countChunks(tx, upload)) !== result.chunks) {
    throw new AppError('unavailable', [{ detail: 'a part of the state was lost on its way; try it again' }])
  }
}
