import { timestamp } from '../core/clock.ts'
import { existing } from '../core/existing.ts'
import { AppError, conflict } from '../core/errors.ts'
import { shortTextSchema } from '../core/names.ts'
import { ok } from '../http/call.ts'
import { writeRoute, type Route, type Viewer } from '../http/route.ts'
import { otherId, readResource, refuse } from '../jsonapi/body.ts'
import { parseJson } from '../jsonapi/json.ts'
import {
  findNewestStateVersion,
  setCurrentStateVersion,
} from '../state-versions/current-state-version-store.ts'
import { discardPendingStateVersions, hasPendingStateVersion } from '../state-versions/state-version-store.ts'
import { workspaceDocument } from './workspace-document.ts'
import { lockHolder, lockHolderText, type Holder } from './workspace-locks.ts'
import { findWorkspace, updateWorkspace, type WorkspaceRow } from './workspace-store.ts'
import { loadWorkspace, workspaceOfPath } from './workspaces.ts'

const lockBody = { type: 'workspaces', isLenient: true, attributes: { reason: shortTextSchema } } as const

/** The documentation sends `{"reason": …}`, go-tfe a resource with the attribute. Both may leave it out. */
function readLock(bytes: Uint8Array) {
  const json = bytes.length === 0 ? undefined : parseJson(bytes)
  const isBare = typeof json === 'object' && json !== null && 'reason' in json && !('data' in json)
  const wrapped = isBare
    ? Buffer.from(JSON.stringify({ data: { attributes: { reason: json.reason } } }))
    : bytes
  return readResource(wrapped, lockBody)
}

/** When the lock is released, the newest intermediate state becomes the current state. */
async function settleState({ tx, deps }: Viewer, workspace: WorkspaceRow): Promise<void> {
  const newest = await findNewestStateVersion(tx, workspace)
  if (newest === undefined || newest.is_intermediate === 0) return
  await setCurrentStateVersion(tx, workspace.id, newest.id, timestamp(deps.clock.now()))
}

/** The routes of the three actions differ in the permission and in what happens to the lock. */
function lockAction(
  action: 'lock' | 'unlock' | 'force-unlock',
  path: string,
  permission: 'workspace:lock' | 'workspace:force-unlock',
  change: (viewer: Viewer, workspace: WorkspaceRow) => Promise<Holder>,
): Route {
  return writeRoute({
    method: 'POST',
    path: `${path}/actions/${action}`,
    permission,
    summary: `${{ lock: 'Lock', unlock: 'Unlock', 'force-unlock': 'Force-unlock' }[action]} a workspace${path === byName ? ' by name' : ''}`,
    answers: 'workspaces',
    status: 200,
    refuses: [409],
    accepts: lockBody,
    address: workspaceOfPath,
    load: (context) => loadWorkspace(context, context.address),
    body: readLock,
    act: async (context) => {
      const { tx, resource, body, audit } = context
      const { organization, workspace } = resource
      refuse([...body.problems, ...otherId(body.id, workspace.id)])
      const holder = await change(context, workspace)
      if (holder.locked_by_id === null) await settleState(context, workspace)
      await updateWorkspace(tx, workspace.id, {
        ...holder,
        lock_reason: holder.locked_by_id === null ? null : (body.attributes.reason ?? null),
      })
      audit({
        action: `workspace.${action}`,
        organizationId: organization.id,
        resourceType: 'workspaces',
        resourceId: workspace.id,
        details: { name: workspace.name, held: workspace.locked_by_id ?? holder.locked_by_id },
      })
      const changed = existing(await findWorkspace(tx, workspace.id))
      return ok(await workspaceDocument(context, organization, changed))
    },
  })
}

const unlocked: Holder = { locked_by_id: null, locked_by_kind: null }
const NOT_LOCKED = 'the workspace is not locked'

const byId = '/workspaces/:workspace_id'
const byName = '/organizations/:organization_name/workspaces/:workspace_name'

const lock = [byId, byName].map((path) =>
  lockAction('lock', path, 'workspace:lock', async (viewer, workspace) => {
    if (workspace.locked_by_id !== null) {
      throw conflict(`the workspace is locked by ${await lockHolderText(viewer, workspace)} already`)
    }
    return lockHolder(viewer.actor)
  }),
)

const unlock = lockAction('unlock', byId, 'workspace:lock', async (viewer, workspace) => {
  if (workspace.locked_by_id === null) throw conflict(NOT_LOCKED)
  if (workspace.locked_by_id !== lockHolder(viewer.actor).locked_by_id) {
    throw conflict(`the workspace is locked by ${await lockHolderText(viewer, workspace)}`)
  }
  if (await hasPendingStateVersion(viewer.tx, workspace.id)) {
    throw new AppError('bad-request', [{ detail: 'latest state version is still pending' }])
  }
  return unlocked
})

const forceUnlock = lockAction('force-unlock', byId, 'workspace:force-unlock', async ({ tx }, workspace) => {
  if (workspace.locked_by_id === null) throw conflict(NOT_LOCKED)
  await discardPendingStateVersions(tx, workspace.id)
  return unlocked
})

export const workspaceLockRoutes: readonly Route[] = [...lock, unlock, forceUnlock]
