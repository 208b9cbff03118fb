import { createHash } from 'node:crypto'
import { accountIdOf, accountOf, type Actor } from '../access/actor.ts'
import { insertAuditEvents, type AuditEvent } from '../audit/audit-store.ts'
import { timestamp } from '../core/clock.ts'
import { AppError, conflict, invalid, notFound } from '../core/errors.ts'
import { existing } from '../core/existing.ts'
import { parseId, randomBase58 } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { checkDeclaredLength, readChunks } from '../http/body.ts'
import type { Answer, Call } from '../http/call.ts'
import type { RunnerDeps } from '../http/deps.ts'
import type { RawRoute } from '../http/raw-route.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { findWorkspace } from '../workspaces/workspace-store.ts'
import { addJsonState, finalizeStateVersion, type FinalizeNotes } from './finalize.ts'
import { requireFit, requireRoom, whileRoom } from '../state-content/state-bytes.ts'
import type { ContentKind, UploadAddress } from '../state-content/state-chunk-store.ts'
import { unwrapDataKey } from '../state-versions/state-crypto.ts'
import { StateError } from '../state-file/state-error.ts'
import type { PassResult } from '../state-content/seal-pass.ts'
import type { StoredUpload } from '../state-content/states.ts'
import {
  findStateVersion,
  isContentDeleted,
  lockStateVersion,
  type StateVersionRow,
} from '../state-versions/state-version-store.ts'
import { writingCreator } from './upload-rights.ts'
import { hasExpired, isUploadSignature } from '../state-versions/upload-urls.ts'

/** One request to upload the content of a state version. */
type Request = {
  readonly kind: ContentKind
  readonly call: Call
  /** Read at the beginning: the client may have closed the connection once it has sent everything. */
  readonly from: string | null
  readonly deps: RunnerDeps
}

const accepted: Answer = { status: 200, headers: { 'cache-control': 'no-store' } }

function uploadRoute(kind: ContentKind, summary: string): RawRoute {
  return {
    method: 'PUT',
    path: `/uploads/:signature/state-versions/:state_version_id/${kind}`,
    summary,
    open: 'the signature in its path is the right to upload',
    answer: (call, deps) => upload({ kind, call, from: call.address, deps }),
  }
}

/** The version of a valid, unexpired upload URL, and its creator, who may still write. Otherwise 404. */
async function findUpload(
  tx: Transaction,
  { kind, call, deps }: Request,
): Promise<{ row: StateVersionRow; creator: Actor }> {
  const id = parseId('stateVersion', call.params.state_version_id ?? '')
  const { secretKey } = deps.config
  if (id === undefined || !isUploadSignature(secretKey, id, kind, call.params.signature ?? ''))
    throw notFound()
  const row = await findStateVersion(tx, id)
  if (row === undefined || hasExpired(row.created_at, deps.clock.now())) throw notFound()
  const organization = await findOrganization(tx, row.organization_id)
  if (organization === undefined || organization.deleted_at !== null) throw notFound()
  const creator = await writingCreator(tx, row, deps)
  if (creator === undefined) throw notFound()
  call.account = accountIdOf(creator)
  return { row, creator }
}

/** Whether this content has already arrived. Throws if it is not accepted any more. */
async function checkOpen(
  tx: Transaction,
  kind: ContentKind,
  row: StateVersionRow,
): Promise<'open' | 'arrived'> {
  if (row.status === 'discarded') throw conflict('this state version was discarded')
  if (isContentDeleted(row)) throw conflict('the content of this state version was deleted')
  const hasArrived = kind === 'state' ? row.status === 'finalized' : row.json_upload_id !== null
  if (hasArrived) return 'arrived'
  const workspace = await findWorkspace(tx, row.workspace_id)
  if (workspace?.locked_by_id !== row.lock_holder_id) {
    throw conflict('the lock of the workspace has changed hands since this state version was created')
  }
  return 'open'
}

async function upload(request: Request): Promise<Answer> {
  const { kind, call, deps } = request
  // An upload has no token. Reads for one version take turns with those of others, like the reads of one account.
  const reader = { account: call.params.state_version_id, withoutToken: true }
  const { row, creator, status } = await deps.database.read(async (tx) => {
    const found = await findUpload(tx, request)
    checkDeclaredLength(call.headers, deps.config.maxStateBytes)
    const status = await checkOpen(tx, kind, found.row)
    if (status === 'open') await requireRoom({ tx, deps }, found.row.organization_id)
    return { ...found, status }
  }, reader)
  deps.writeRates.count(accountOf(creator))
  if (status === 'arrived') return repeat(kind === 'state' ? row.md5 : row.json_md5, request)
  const dataKey = unwrapDataKey(deps.config.secretKey, row.id, row.wrapped_key)
  const address: StoredUpload = {
    kind,
    stateVersionId: row.id,
    uploadId: randomBase58(16),
    dataKey,
    chunks: 'stored',
    inlineOutputBytes: deps.config.inlineStateBytes,
  }
  let hasArrived = false
  try {
    const holders =
      row.created_by_id === null ? [row.organization_id] : [row.created_by_id, row.organization_id]
    const result = await deps.states.receive(
      address,
      (push) => readBody(request, whileRoom(deps, row.organization_id, push)),
      holders,
    )
    hasArrived = true
    const writer = { organizationId: row.organization_id, account: accountOf(creator) }
    await deps.database.write((tx) => finish(tx, address, result, request), writer)
  } catch (error) {
    if (hasArrived) deps.states.forget(address)
    if (error instanceof StateError) throw invalid(error.message)
    throw error
  }
  return accepted
}

/** Makes an arrived upload the content, in one small transaction, which has the lock of the organization. */
async function finish(
  tx: Transaction,
  address: UploadAddress,
  result: PassResult,
  request: Request,
): Promise<void> {
  const { kind, call, from, deps } = request
  const { uploadId } = address
  const found = await findUpload(tx, request)
  const { creator } = found
  // The sweep discards versions without the lock of the organization.
  const row = existing(await lockStateVersion(tx, found.row.id))
  const at = timestamp(deps.clock.now())
  if ((await checkOpen(tx, kind, row)) === 'arrived') {
    // The same upload was sent twice at the same time, and the other one was faster.
    if ((kind === 'state' ? row.md5 : row.json_md5) !== result.md5) throw otherBytes()
    tx.afterCommit(() => deps.states.forget(address))
    return
  }
  // After the check of the lock: without it no bytes are accepted, whatever they are.
  if (kind === 'state' && result.md5 !== row.md5) {
    throw invalid(`the MD5 hash of the state is ${result.md5}, not ${row.md5} as announced`)
  }
  let notes: FinalizeNotes = {}
  if (kind === 'json-state') await addJsonState(tx, row.id, uploadId, result)
  else ({ notes } = await finalizeStateVersion({ tx, deps }, row, uploadId, result, at))
  await requireFit({ tx, deps }, row.organization_id)
  const event: AuditEvent = {
    action: kind === 'state' ? 'state-version.finalize' : 'state-version.add-json-state',
    organizationId: row.organization_id,
    resourceType: 'state-versions',
    resourceId: row.id,
    details: { serial: row.serial, size: result.size, 'workspace-id': row.workspace_id, ...notes },
  }
  // A request to the URL acts as the creator, who got the URL. No token was used.
  const { kind: actorKind, userId, name } = creator
  const actor = { kind: actorKind, userId, name }
  insertAuditEvents(tx, { at, requestId: call.requestId, address: from, actor, key: deps.auditKey }, [event])
}

/** Reads the body in chunks, up to the limit. */
function readBody(
  { call, deps: { config } }: Request,
  take: (bytes: Buffer) => Promise<void> | void,
): Promise<void> {
  const limit = config.maxStateBytes
  let size = 0
  return readChunks(call.stream, config, (bytes) => {
    size += bytes.length
    if (size > limit) throw new AppError('too-large', `a state may have at most ${limit} bytes`)
    return take(bytes)
  })
}

/** A repeated upload of the same bytes is accepted any number of times; other bytes are refused. */
async function repeat(md5: string | null, request: Request): Promise<Answer> {
  const hash = createHash('md5')
  await readBody(request, (bytes) => void hash.update(bytes))
  if (hash.digest('hex') !== md5) throw otherBytes()
  return accepted
}

function otherBytes(): AppError {
  return conflict('this state version has other content already')
}

export const stateUploadRoutes: readonly RawRoute[] = [
  uploadRoute('state', 'Upload a state'),
  uploadRoute('json-state', 'Upload what `tofu show -json` makes of a state'),
]
