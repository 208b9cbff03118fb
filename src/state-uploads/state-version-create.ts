import { accountOf } from '../access/actor.ts'
import { invalid } from '../core/errors.ts'
import { randomBase58 } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { holdersOf } from '../core/bytes-in-flight.ts'
import type { Decided } from '../http/route.ts'
import { lockHolder } from '../workspaces/workspace-locks.ts'
import type { LoadedWorkspace } from '../workspaces/workspaces.ts'
import { insertOutputBlocks } from '../outputs/output-block-store.ts'
import { readNewStateVersion, type NewStateVersion } from './new-state-version.ts'
import { OUTPUT_KEY_LENGTH } from '../outputs/output-ids.ts'
import { newDataKey, unwrapDataKey, wrapDataKey } from '../state-versions/state-crypto.ts'
import { StateError } from '../state-file/state-error.ts'
import type { Passed, Upload } from '../state-content/seal-pass.ts'
import {
  findBySerial,
  insertStateVersion,
  updateStateVersion,
} from '../state-versions/state-version-store.ts'

/** The body, validated and sealed before the transaction, because this work must not hold the write lock. */
type Prepared = {
  given: NewStateVersion
  stateVersionId: string
  /** There was a pending version with this id. */
  isCompletion: boolean
  dataKey: Uint8Array
  uploadId: string
  state: Passed | undefined
  jsonState: Passed | undefined
  givenOutputs: Passed | undefined
}

export type Caller = Omit<Decided<unknown, LoadedWorkspace>, 'tx'>

/** Validates and seals the content of a request's body. */
export async function prepareStateVersion(bytes: Buffer, caller: Caller): Promise<Prepared> {
  const { resource, deps } = caller
  const given = await readNewStateVersion(bytes)
  // A pending version that this request completes already has an id and a key.
  const account = accountOf(caller.actor)
  const bySerial = (tx: Transaction) => findBySerial(tx, resource.workspace.id, given)
  const same = await deps.database.read(bySerial, { account })
  const isCompletion = same !== undefined && same.status === 'pending' && same.md5 === given.md5
  const stateVersionId = isCompletion ? same.id : deps.newId('stateVersion')
  const { secretKey } = deps.config
  const dataKey = isCompletion ? unwrapDataKey(secretKey, same.id, same.wrapped_key) : newDataKey()
  const uploadId = randomBase58(16)
  const { inlineStateBytes, maxBodyBytes } = deps.config
  const upload = { stateVersionId, uploadId, dataKey, chunks: 'returned' } as const
  const holders = holdersOf(caller.actor, resource.organization)
  const pass = async (kind: Upload['kind']): Promise<Passed | undefined> => {
    const content = given.content[kind]
    if (content === undefined) return undefined
    // Given outputs are not in the state, so a background job could not read them later: store them at once.
    const inlineOutputBytes = kind === 'json-state-outputs' ? maxBodyBytes : inlineStateBytes
    try {
      return await deps.states.pass({ ...upload, kind, inlineOutputBytes }, content, holders)
    } catch (error) {
      if (!(error instanceof StateError)) throw error
      throw invalid(`${kind}: ${error.message}`, `/data/attributes/${kind}`)
    }
  }
  const state = await pass('state')
  if (state !== undefined && state.result.md5 !== given.md5) {
    throw invalid('md5 is not the MD5 hash of the state', '/data/attributes/md5')
  }
  return {
    given,
    stateVersionId,
    isCompletion,
    dataKey,
    uploadId,
    state,
    jsonState: await pass('json-state'),
    givenOutputs: await pass('json-state-outputs'),
  }
}

/** The columns of a new version that do not depend on its content. */
export function newVersion(
  { deps, actor, resource: { workspace } }: Caller,
  id: string,
  dataKey: Uint8Array,
) {
  const creator = lockHolder(actor)
  return {
    id,
    workspace_id: workspace.id,
    organization_id: workspace.organization_id,
    output_key: randomBase58(OUTPUT_KEY_LENGTH),
    wrapped_key: wrapDataKey(deps.config.secretKey, id, dataKey),
    created_by_id: creator.locked_by_id,
    created_by_kind: creator.locked_by_kind,
    lock_holder_id: workspace.locked_by_id,
  }
}

export async function insertPending(
  context: Decided<unknown, LoadedWorkspace>,
  { given, stateVersionId, dataKey }: Prepared,
  now: string,
): Promise<void> {
  await insertStateVersion(context.tx, {
    ...newVersion(context, stateVersionId, dataKey),
    serial: given.serial,
    md5: given.md5,
    lineage: given.lineage,
    status: 'pending',
    is_intermediate: given.isIntermediate ? 1 : 0,
    rollback_of_id: null,
    lease_until: null,
    created_at: now,
  })
}

/**
 * Stored as output blocks at once; finalizing deletes them if the state turns out not to be encrypted. Returns their number.
 */
export async function storeGivenOutputs(tx: Transaction, id: string, { result }: Passed): Promise<number> {
  await insertOutputBlocks(tx, id, result.outputs?.blocks ?? [])
  const count = result.outputs?.count ?? 0
  await updateStateVersion(tx, id, { given_outputs_count: count })
  return count
}
