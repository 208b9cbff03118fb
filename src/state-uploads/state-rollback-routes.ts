import { done } from '../http/outcome.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { workspacePlace } from '../workspaces/workspace-place.ts'
import { requireFit, requireRoom } from '../state-content/state-bytes.ts'
import { addJsonState, finalizeStateVersion } from './finalize.ts'
import { parseRollback, rollbackBody } from './state-rollback.ts'
import { checkStillWanted, prepareRollback } from './state-rollback-write.ts'
import { stateVersionDocument } from '../state-versions/state-version-document.ts'
import { discardPendingStateVersions, updateStateVersion } from '../state-versions/state-version-store.ts'

export const stateRollbackRoutes: readonly Route[] = [
  write(workspacePlace, '/state-versions', {
    method: 'PATCH',
    status: 201,
    permission: 'state-version:create',
    summary: 'Roll back to an older state version',
    answers: 'state-versions',
    refuses: [409],
    accepts: rollbackBody,
    keepsAccess: true,
    body: parseRollback,
    beforeBody: (context) => requireRoom(context, context.resource.organization.id),
    prepare: prepareRollback,
    act: async (context) => {
      const { tx, resource, prepared, now } = context
      const { workspace } = resource
      const { sourceId, id, uploadId, state, json, serial } = prepared
      await checkStillWanted(context)
      await discardPendingStateVersions(tx, workspace.id)
      const row = await updateStateVersion(tx, id, { md5: state.md5 })
      if (json !== undefined) await addJsonState(tx, id, uploadId, json)
      const { finalized, notes } = await finalizeStateVersion(context, row, uploadId, state, now)
      await requireFit(context, workspace.organization_id)
      const details = { serial, size: state.size, 'workspace-id': workspace.id, to: sourceId, ...notes }
      return done(finalized, { action: 'state-version.rollback', details })
    },
    document: stateVersionDocument,
  }),
]
