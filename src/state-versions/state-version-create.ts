import { timestamp } from '../core/clock.ts'
import { existing } from '../core/existing.ts'
import { AppError, conflict } from '../core/errors.ts'
import { parseId, randomBase58 } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { created } from '../http/call.ts'
import { holdersOf } from '../http/bytes-in-flight.ts'
import { writeRoute, type Acting, type Route, type Viewer } from '../http/route.ts'
import { document, type Fragment } from '../jsonapi/document.ts'
import { loadWorkspace, type LoadedWorkspace } from '../workspaces/workspaces.ts'
import { lockHolder, lockHolderText } from '../workspaces/workspace-locks.ts'
import { deleteOldStateVersions, findNewestStateVersion } from './current-state-version-store.ts'
import { addJsonState, finalizeStateVersion } from './finalize.ts'
import { insertOutputBlocks } from './output-block-store.ts'
import type { Base64Content } from './base64-content.ts'
import { readNewStateVersion, type NewStateVersion } from './new-state-version.ts'
import { OUTPUT_KEY_LENGTH } from './output-ids.ts'
import { insertChunks, type ContentKind } from './state-chunk-store.ts'
import { newDataKey, unwrapDataKey, wrapDataKey } from './state-crypto.ts'
import { StateError } from './state-error.ts'
import type { PassResult, SealedChunk, Upload } from './state-pass.ts'
import { stateVersionFragments } from './state-version-document.ts'
import {
  discardPendingStateVersions,
  findBySerial,
  findStateVersion,
  insertStateVersion,
  updateStateVersion,
  type StateVersionRow,
} from './state-version-store.ts'
import { judgeNewStateVersion, newStateVersionBody, refuseContent, requireMd5 } from './state-versions.ts'

type Passed = { chunks: SealedChunk[]; result: PassResult }

/** The body, validated and sealed before the transaction, because this work must not hold the write lock. */
type Prepared = {
  given: NewStateVersion
  stateVersionId: string
  dataKey: Uint8Array
  uploadId: string
  state: Passed | undefined
  jsonState: Passed | undefined
  givenOutputs: Passed | undefined
}

const createVersion = writeRoute({
  method: 'POST',
  path: '/workspaces/:workspace_id/state-versions',
  permission: 'state-version:create',
  summary: 'Create a state version',
  answers: 'state-versions',
  status: 201,
  refuses: [409, 412],
  accepts: newStateVersionBody,
  isLarge: true,
  address: (call) => {
    const id = parseId('workspace', call.params.workspace_id as string)
    return id === undefined ? undefined : { id }
  },
  load: (context) => loadWorkspace(context, { workspaceId: context.address.id }),
  // Check the lock before the body: a caller without it gets 409 whatever the body contains.
  beforeBody: (context) => checkLock(context, context.resource),
  body: (bytes) => bytes,
  prepare: async (bytes, caller): Promise<Prepared> => {
    const { resource, deps } = caller
    const given = await readNewStateVersion(bytes)
    // A pending version that this request completes already has an id and a key.
    const same = await deps.database.read((tx) => findBySerial(tx, resource.workspace.id, given.serial))
    const isCompletion = same?.status === 'pending' && same.md5 === given.md5
    const stateVersionId = isCompletion ? same.id : deps.newId('stateVersion')
    const { secretKey } = deps.config
    const dataKey = isCompletion ? unwrapDataKey(secretKey, same.id, same.wrapped_key) : newDataKey()
    const uploadId = randomBase58(16)
    const { inlineStateBytes, maxBodyBytes } = deps.config
    const pass = (kind: Upload['kind']) => {
      // Given outputs are not in the state, so a background job could not read them later: store them at once.
      const inlineOutputBytes = kind === 'json-state-outputs' ? maxBodyBytes : inlineStateBytes
      return passContent(
        { kind, stateVersionId, uploadId, dataKey, chunks: 'returned', inlineOutputBytes },
        given.content[kind],
        caller,
      )
    }
    const state = await pass('state')
    if (state !== undefined) requireMd5(given.md5, state.result.md5)
    return {
      given,
      stateVersionId,
      dataKey,
      uploadId,
      state,
      jsonState: await pass('json-state'),
      givenOutputs: await pass('json-state-outputs'),
    }
  },
  act: async (context) => {
    const { tx, deps, resource, prepared, audit } = context
    const { workspace } = resource
    const { given } = prepared
    await checkLock(context, resource)
    const newest = await findNewestStateVersion(tx, workspace)
    const same = judgeNewStateVersion(given, await findBySerial(tx, workspace.id, given.serial), newest)
    const event = { organizationId: workspace.organization_id, resourceType: 'state-versions' }
    if (same !== undefined && (same.status !== 'pending' || prepared.state === undefined)) {
      context.unchanged()
      return created(await versionDocument(context, same))
    }
    if (same !== undefined && same.id !== prepared.stateVersionId) {
      // Another request created it after `prepare` read, so our chunks are sealed with another key.
      throw new AppError('unavailable', [{ detail: 'the same state version is being created; try again' }])
    }
    const id = prepared.stateVersionId
    if (same === undefined) {
      await discardPendingStateVersions(tx, workspace.id)
      await insertPending(context, prepared)
      audit({
        ...event,
        action: 'state-version.create',
        resourceId: id,
        details: { serial: given.serial, 'workspace-id': workspace.id },
      })
    }
    if (prepared.givenOutputs !== undefined && (same?.given_outputs_count ?? null) === null) {
      await storeGivenOutputs(tx, id, prepared.givenOutputs)
    }
    if (prepared.jsonState !== undefined) {
      await storeChunks(tx, prepared, 'json-state', prepared.jsonState)
      await addJsonState(tx, id, prepared.uploadId, prepared.jsonState.result)
    }
    if (prepared.state !== undefined) {
      await storeChunks(tx, prepared, 'state', prepared.state)
      const row = existing(await findStateVersion(tx, id))
      const isUnprocessed = await finalizeStateVersion(
        tx,
        row,
        prepared.uploadId,
        prepared.state.result,
        timestamp(deps.clock.now()),
      )
      audit({
        ...event,
        action: 'state-version.finalize',
        resourceId: id,
        details: {
          serial: given.serial,
          size: prepared.state.result.size,
          'workspace-id': workspace.id,
        },
      })
      if (isUnprocessed) tx.afterCommit(() => deps.states.wake())
    }
    await deleteOldStateVersions(tx, workspace.id, deps.config.stateVersionsKept)
    return created(await versionDocument(context, existing(await findStateVersion(tx, id))))
  },
})

/** Only the holder of the workspace's lock may write state. Throws 409. */
export async function checkLock(viewer: Viewer, { workspace }: LoadedWorkspace): Promise<void> {
  if (workspace.locked_by_id === null) {
    throw conflict('This workspace is not locked and will only accept state uploads when locked')
  }
  if (workspace.locked_by_id !== lockHolder(viewer.actor).locked_by_id) {
    const who = await lockHolderText(viewer, workspace)
    throw conflict(
      `This workspace is locked by ${who} and will only accept state uploads from whoever holds the lock`,
    )
  }
}

async function passContent(
  upload: Upload,
  content: Base64Content | undefined,
  { actor, resource, deps }: Pick<Creating, 'actor' | 'resource' | 'deps'>,
): Promise<Passed | undefined> {
  if (content === undefined) return undefined
  try {
    return await deps.states.pass(upload, content, holdersOf(actor, resource.organization))
  } catch (error) {
    if (error instanceof StateError) throw refuseContent(`${upload.kind}: ${error.message}`, upload.kind)
    throw error
  }
}

type Creating = Acting<unknown, LoadedWorkspace, Buffer>

async function insertPending(context: Creating, prepared: Prepared): Promise<void> {
  const { tx, deps, actor, resource } = context
  const { given, stateVersionId } = prepared
  const creator = lockHolder(actor)
  await insertStateVersion(tx, {
    id: stateVersionId,
    workspace_id: resource.workspace.id,
    organization_id: resource.workspace.organization_id,
    output_key: randomBase58(OUTPUT_KEY_LENGTH),
    serial: given.serial,
    md5: given.md5,
    lineage: given.lineage,
    status: 'pending',
    is_intermediate: given.isIntermediate ? 1 : 0,
    wrapped_key: wrapDataKey(deps.config.secretKey, stateVersionId, prepared.dataKey),
    created_by_id: creator.locked_by_id,
    created_by_kind: creator.locked_by_kind,
    lock_holder_id: resource.workspace.locked_by_id,
    created_at: timestamp(deps.clock.now()),
  })
}

/** Stored as output blocks at once; finalizing deletes them if the state turns out not to be encrypted. */
async function storeGivenOutputs(tx: Transaction, id: string, { result }: Passed): Promise<void> {
  await insertOutputBlocks(tx, id, result.outputs?.blocks ?? [])
  await updateStateVersion(tx, id, { given_outputs_count: result.outputs?.count ?? 0 })
}

function storeChunks(
  tx: Transaction,
  prepared: Prepared,
  kind: ContentKind,
  { chunks }: Passed,
): Promise<void> {
  const { stateVersionId, uploadId } = prepared
  return insertChunks(tx, { stateVersionId, kind, uploadId }, chunks)
}

async function versionDocument(context: Creating, row: StateVersionRow): Promise<string> {
  const { tx, deps, actor, standing, resource, call } = context
  const viewer = { actor, standing, target: resource.target }
  const addresses = { origin: call.origin, secretKey: deps.config.secretKey }
  const [text] = await stateVersionFragments(tx, [row], viewer, addresses)
  return document(text as Fragment)
}

export const stateVersionCreateRoutes: readonly Route[] = [createVersion]
