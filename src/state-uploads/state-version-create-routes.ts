import type { AuditEvent } from '../audit/audit-store.ts'
import { AppError } from '../core/errors.ts'
import { existing } from '../core/existing.ts'
import { doneAll, unchanged } from '../http/outcome.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { workspacePlace } from '../workspaces/workspace-place.ts'
import {
  deleteOldStateVersions,
  findNewestStateVersion,
  hasOldStateVersions,
} from '../state-versions/current-state-version-store.ts'
import { addJsonState, finalizeStateVersion, type FinalizeNotes } from './finalize.ts'
import { insertChunks } from '../state-content/state-chunk-store.ts'
import { requireFit, requireRoom } from '../state-content/state-bytes.ts'
import { insertPending, prepareStateVersion, storeGivenOutputs } from './state-version-create.ts'
import { stateVersionDocument } from '../state-versions/state-version-document.ts'
import {
  discardPendingStateVersions,
  findBySerial,
  findStateVersion,
  type StateVersionRow,
} from '../state-versions/state-version-store.ts'
import { judgeNewStateVersion, newStateVersionBody } from '../state-versions/state-versions.ts'
import { checkLock } from './upload-lock.ts'

export const stateVersionCreateRoutes: readonly Route[] = [
  write(workspacePlace, '/state-versions', {
    method: 'POST',
    status: 201,
    permission: 'state-version:create',
    summary: 'Create a state version',
    answers: 'state-versions',
    refuses: [409, 412],
    accepts: newStateVersionBody,
    isLarge: true,
    keepsAccess: true,
    // Check the lock before the body: a caller without it gets 409 whatever the body contains.
    beforeBody: async (context) => {
      await checkLock(context, context.resource)
      await requireRoom(context, context.resource.organization.id)
    },
    body: (bytes) => bytes,
    prepare: prepareStateVersion,
    act: async (context) => {
      const { tx, deps, resource, prepared, now } = context
      const { workspace } = resource
      const { given, stateVersionId: id, uploadId, jsonState, state } = prepared
      await checkLock(context, resource)
      // Sent together: on PostgreSQL the organization is locked for each round trip.
      const [newest, ofSerial] = await Promise.all([
        findNewestStateVersion(tx, workspace),
        findBySerial(tx, workspace.id, given),
      ])
      const same = judgeNewStateVersion(given, ofSerial, newest)
      if (same !== undefined && (same.status !== 'pending' || state === undefined)) return unchanged(same)
      if (same === undefined ? prepared.isCompletion : same.id !== id) {
        // After `prepare` read, another request created it, so our chunks are sealed with another key, or it was discarded.
        throw new AppError('unavailable', 'the same state version is being created; try again')
      }
      const about = {
        organizationId: workspace.organization_id,
        resourceType: 'state-versions',
        resourceId: id,
      }
      const events: AuditEvent[] = []
      if (same === undefined) {
        await discardPendingStateVersions(tx, workspace.id)
        await insertPending(context, prepared, now)
        const forced = given.force ? { force: true } : {}
        const details = { serial: given.serial, 'workspace-id': workspace.id, ...forced }
        events.push({ ...about, action: 'state-version.create', details })
      }
      let givenOutputsCount = same?.given_outputs_count ?? null
      if (prepared.givenOutputs !== undefined && givenOutputsCount === null) {
        givenOutputsCount = await storeGivenOutputs(tx, id, prepared.givenOutputs)
      }
      if (jsonState !== undefined) {
        await insertChunks(tx, { stateVersionId: id, kind: 'json-state', uploadId }, jsonState.chunks)
        await addJsonState(tx, id, uploadId, jsonState.result)
      }
      let row: StateVersionRow | undefined
      let notes: FinalizeNotes = {}
      const kept = deps.config.stateVersionsKept
      if (state === undefined) {
        if (await hasOldStateVersions(tx, workspace.id, kept))
          notes = await deleteOldStateVersions(tx, workspace.id, kept)
      } else {
        await insertChunks(tx, { stateVersionId: id, kind: 'state', uploadId }, state.chunks)
        const facts = {
          id,
          workspace_id: workspace.id,
          is_intermediate: same?.is_intermediate ?? (given.isIntermediate ? 1 : 0),
          given_outputs_count: givenOutputsCount,
        } as const
        const outcome = await finalizeStateVersion(context, facts, uploadId, state.result, now)
        row = outcome.finalized
        notes = outcome.notes
        const details = { serial: given.serial, size: state.result.size, 'workspace-id': workspace.id }
        events.push({ ...about, action: 'state-version.finalize', details })
      }
      await requireFit(context, workspace.organization_id)
      const last = existing(events.pop())
      events.push({ ...last, details: { ...last.details, ...notes } })
      const [first, ...others] = events
      return doneAll(row ?? existing(await findStateVersion(tx, id)), [existing(first), ...others])
    },
    document: stateVersionDocument,
  }),
]
