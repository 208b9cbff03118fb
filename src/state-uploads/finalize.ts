import { AppError } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import {
  deleteOldStateVersions,
  hasOldStateVersions,
  setCurrentStateVersion,
  type RemovedVersions,
} from '../state-versions/current-state-version-store.ts'
import { deleteOutputBlocks, insertOutputBlocks } from '../outputs/output-block-store.ts'
import type { PassResult } from '../state-content/seal-pass.ts'
import { countChunks, type UploadAddress } from '../state-content/state-chunk-store.ts'
import {
  unreadableOutputs,
  updateFinalized,
  updateStateVersion,
  type StateVersionRow,
} from '../state-versions/state-version-store.ts'

/** The facts about a version that finalizing needs. */
type Finalizing = Pick<StateVersionRow, 'id' | 'workspace_id' | 'is_intermediate' | 'given_outputs_count'>

/** What the audit event of a write says beside the version's own facts. */
export type FinalizeNotes = RemovedVersions & { 'outputs-unreadable-reason'?: string }

type Outcome = { readonly finalized: StateVersionRow; readonly notes: FinalizeNotes }

/**
 * Makes an uploaded state the current one of its workspace, or a snapshot that may become current, in one transaction.
 * Small outputs become readable at once; large ones are left to the background job. Deletes versions that are too old.
 *
 * @param uploadId the upload whose chunks hold the content
 */
export async function finalizeStateVersion(
  { tx, deps }: { readonly tx: Transaction; readonly deps: Deps },
  stateVersion: Finalizing,
  uploadId: string,
  result: PassResult,
  at: string,
): Promise<Outcome> {
  const { id, workspace_id: workspaceId } = stateVersion
  const { header, outputs } = result
  const isEncrypted = header?.encrypted === true
  // Outputs of an encrypted state came with the request and are already stored.
  if (!isEncrypted && stateVersion.given_outputs_count !== null) await deleteOutputBlocks(tx, id)
  const blocks = isEncrypted ? [] : (outputs?.blocks ?? null)
  if (blocks !== null) await insertOutputBlocks(tx, id, blocks)
  const finalizing = updateFinalized(tx, {
    id,
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
  const kept = deps.config.stateVersionsKept
  // Sent together: on PostgreSQL the organization is locked for each round trip.
  const [finalized, hasOld] = await Promise.all([
    finalizing,
    hasOldStateVersions(tx, workspaceId, kept),
    requireAllChunks(tx, { stateVersionId: id, kind: 'state', uploadId }, result),
    stateVersion.is_intermediate === 0 ? setCurrentStateVersion(tx, workspaceId, id, at) : undefined,
  ])
  const removed = hasOld ? await deleteOldStateVersions(tx, workspaceId, kept) : {}
  if (blocks === null) tx.afterCommit(() => deps.states.wake())
  const reason = unreadableOutputs(finalized)
  return {
    finalized,
    notes: { ...removed, ...(reason === null ? {} : { 'outputs-unreadable-reason': reason }) },
  }
}

/** Makes an upload the JSON form (`tofu show -json`) of a state version. */
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
 * Refuses to acknowledge an upload with missing chunks. This transaction has already written the version's row, so no
 * sweep can delete chunks before the commit.
 */
async function requireAllChunks(tx: Transaction, upload: UploadAddress, result: PassResult): Promise<void> {
  if ((await countChunks(tx, upload)) !== result.chunks) {
    throw new AppError('unavailable', 'a part of the state was lost before it was stored; upload it again')
  }
}
