import { timeAfter, timestamp } from '../core/clock.ts'
import { AppError, conflict, notFound } from '../core/errors.ts'
import { existing } from '../core/existing.ts'
import { randomBase58 } from '../core/ids.ts'
import { isOlder, sharedTime } from '../database/shared-clock.ts'
import { logRepeated } from '../database/unavailable.ts'
import { holdersOf } from '../core/bytes-in-flight.ts'
import type { Deps } from '../http/deps.ts'
import type { Decided } from '../http/route.ts'
import { lockOrganization } from '../organizations/organization-store.ts'
import { findWorkspace } from '../workspaces/workspace-store.ts'
import type { LoadedWorkspace } from '../workspaces/workspaces.ts'
import { ContentDeletedError } from '../state-versions/damaged-content.ts'
import { newDataKey } from '../state-versions/state-crypto.ts'
import type { PassResult } from '../state-content/seal-pass.ts'
import { requireSerialPlace, requireSource, serialAfter, withSerial } from './state-rollback.ts'
import { findHighestSerial, isRollingBack, renewRollback } from './state-rollback-store.ts'
import {
  findStateVersion,
  insertStateVersion,
  type StateVersionRow,
} from '../state-versions/state-version-store.ts'
import { sourceOf } from '../state-content/states.ts'
import { newVersion, type Caller } from './state-version-create.ts'
import { checkLock } from './upload-lock.ts'

const LEASE_MS = 60_000
const RENEW_MS = 20_000

/** What was written before the transaction that finalizes it. Until then the version has status `discarded`. */
type Written = {
  sourceId: string
  id: string
  serial: number
  lease: string
  uploadId: string
  state: PassResult
  json: PassResult | undefined
}

/** Writes the content of the older version as a new version, before the transaction of the rollback. */
export async function prepareRollback(sourceId: string, caller: Caller): Promise<Written> {
  const { deps, resource } = caller
  const source = await deps.database.read(async (tx) => {
    const found = await findStateVersion(tx, sourceId)
    requireSource(resource.workspace.id, found)
    await checkLock({ ...caller, tx }, resource)
    return found
  })
  try {
    const { header } = await deps.states.examine(source, holdersOf(caller.actor, resource.organization))
    const place = requireSerialPlace(existing(header))
    return await writeCopy(source, place, caller)
  } catch (error) {
    if (error instanceof ContentDeletedError) {
      requireSource(resource.workspace.id, await deps.database.read((tx) => findStateVersion(tx, sourceId)))
    }
    throw error
  }
}

type Rolling = Decided<unknown, LoadedWorkspace> & { readonly prepared: Written }

/**
 * The conditions at the start of the rollback must still hold at its end; otherwise the written version is given up.
 */
export async function checkStillWanted(context: Rolling): Promise<void> {
  const { tx, deps, resource, prepared } = context
  const { workspace } = resource
  try {
    requireSource(workspace.id, await findStateVersion(tx, prepared.sourceId))
    await checkLock(context, resource)
    const isOurs = await renewRollback(tx, prepared.id, prepared.lease, null)
    if (!isOurs || serialAfter(await findHighestSerial(tx, workspace.id)) !== prepared.serial) {
      throw conflict('the state has changed since this rollback began; try it again')
    }
  } catch (error) {
    if (error instanceof AppError) giveUp(deps, prepared.id, prepared.lease)
    throw error
  }
}

/** Ends the lease, so that the content is swept. If this fails, the lease runs out after a minute. */
function giveUp({ database, log }: Deps, id: string, lease: string): void {
  database
    .write((tx) => renewRollback(tx, id, lease, null))
    .catch((error: unknown) => logRepeated(log, error, 'a broken rollback is left to the sweep'))
}

/** Writes the content as a new version, which stays `discarded` until everything is stored. */
async function writeCopy(
  source: StateVersionRow,
  place: { start: number; end: number },
  caller: Caller,
): Promise<Written> {
  const { deps, actor, resource } = caller
  const { database, states } = deps
  const id = deps.newId('stateVersion')
  const dataKey = newDataKey()
  const uploadId = randomBase58(16)
  const begun = await beginCopy(source, caller, id, dataKey)
  const { serial } = begun
  let { lease } = begun
  let renewedAt = deps.clock.now()
  /** Passes content on and renews the lease at intervals. */
  async function* held(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const bytes of content) {
      yield bytes
      if (!isOlder(renewedAt, RENEW_MS, deps.clock)) continue
      lease = await database.write(async (tx) => {
        const next = timeAfter(await sharedTime(tx, deps.clock), LEASE_MS)
        if (await renewRollback(tx, id, lease, next)) return next
        throw conflict('the state version was given up; try it again')
      })
      renewedAt = deps.clock.now()
    }
  }
  const upload = {
    stateVersionId: id,
    uploadId,
    dataKey,
    chunks: 'stored',
    inlineOutputBytes: deps.config.inlineStateBytes,
  } as const
  try {
    const holders = holdersOf(actor, resource.organization)
    const content = withSerial(held(states.content(source, 'state')), place, serial)
    const state = await states.receive({ ...upload, kind: 'state' }, sourceOf(content), holders)
    const json =
      source.json_upload_id === null
        ? undefined
        : await states.receive(
            { ...upload, kind: 'json-state' },
            sourceOf(held(states.content(source, 'json-state'))),
            holders,
          )
    return { sourceId: source.id, id, serial, lease, uploadId, state, json }
  } catch (error) {
    giveUp(deps, id, lease)
    throw error
  }
}

/** Inserts the new version without its content, unless another rollback of the workspace is being written. */
function beginCopy(
  source: StateVersionRow,
  caller: Caller,
  id: string,
  dataKey: Uint8Array,
): Promise<{ serial: number; lease: string }> {
  const { database, clock } = caller.deps
  return database.write(async (tx) => {
    await lockOrganization(tx, source.organization_id)
    // The workspace may have been deleted since the permission was checked.
    if ((await findWorkspace(tx, source.workspace_id)) === undefined) throw notFound()
    const now = await sharedTime(tx, clock)
    if (await isRollingBack(tx, source.workspace_id, timestamp(now))) {
      throw conflict('another rollback of this workspace is under way')
    }
    const serial = serialAfter(await findHighestSerial(tx, source.workspace_id))
    const lease = timeAfter(now, LEASE_MS)
    await insertStateVersion(tx, {
      ...newVersion(caller, id, dataKey),
      serial,
      // There is no content yet.
      md5: '',
      lineage: source.lineage,
      status: 'discarded',
      is_intermediate: 0,
      rollback_of_id: source.id,
      lease_until: lease,
      created_at: timestamp(clock.now()),
    })
    return { serial, lease }
  })
}
