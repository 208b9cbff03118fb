import { existing } from '../core/existing.ts'
import { badRequest, conflict } from '../core/errors.ts'
import { isJsonObject } from '../core/json-object.ts'
import { shortTextSchema } from '../core/names.ts'
import { done } from '../http/outcome.ts'
import type { Route, Viewer } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { otherId, readParsed } from '../jsonapi/body.ts'
import { parseJson } from '../jsonapi/json.ts'
import {
  findNewestStateVersion,
  setCurrentStateVersion,
} from '../state-versions/current-state-version-store.ts'
import { discardPendingStateVersions, hasPendingStateVersion } from '../state-versions/state-version-store.ts'
import { workspaceDocument } from './workspace-document.ts'
import { lockHolder, lockHolderText, type Holder } from './workspace-locks.ts'
import { namedWorkspacePlace, workspacePlace } from './workspace-place.ts'
import { updateWorkspace, type WorkspaceRow } from './workspace-store.ts'

const lockBody = { type: 'workspaces', isLenient: true, attributes: { reason: shortTextSchema } } as const

/** The documentation sends `{"reason": …}`, go-tfe a resource with the attribute. Both may leave it out. */
function readLock(bytes: Uint8Array) {
  const json = bytes.length === 0 ? {} : (parseJson(bytes) ?? {})
  const isBare = isJsonObject(json) && 'reason' in json && !('data' in json)
  return readParsed(isBare ? { data: { attributes: { reason: json.reason } } } : json, lockBody)
}

/** When the lock is released, the newest intermediate state becomes the current state. */
async function settleState({ tx }: Viewer, workspace: WorkspaceRow, now: string): Promise<void> {
  const newest = await findNewestStateVersion(tx, workspace)
  if (newest === undefined || newest.is_intermediate === 0) return
  await setCurrentStateVersion(tx, workspace.id, newest.id, now)
}

type LockAction = {
  action: 'lock' | 'unlock' | 'force-unlock'
  permission: 'workspace:lock' | 'workspace:force-unlock'
  summary: string
  /** Returns who holds the lock afterwards. Throws 409 or 400 if the action is not possible now. */
  change: (viewer: Viewer, workspace: WorkspaceRow) => Promise<Holder>
}

function lockRoute(place: typeof workspacePlace, { action, permission, summary, change }: LockAction): Route {
  return write(place, `/actions/${action}`, {
    method: 'POST',
    status: 200,
    permission,
    summary,
    answers: 'workspaces',
    refuses: [409],
    accepts: lockBody,
    keepsAccess: true,
    body: readLock,
    problems: ({ resource, body, problems }) => {
      problems.push(...otherId(body.id, resource.workspace.id))
    },
    act: async (context) => {
      const { tx, resource, body, now } = context
      const { workspace } = resource
      const holder = await change(context, workspace)
      if (holder.locked_by_id === null) await settleState(context, workspace, now)
      const changed = await updateWorkspace(tx, workspace.id, {
        ...holder,
        lock_reason: holder.locked_by_id === null ? null : (body.attributes.reason ?? null),
      })
      const details = { name: workspace.name, held: workspace.locked_by_id ?? holder.locked_by_id }
      return done(existing(changed), { action: `workspace.${action}`, details })
    },
    document: workspaceDocument,
  })
}

const unlocked: Holder = { locked_by_id: null, locked_by_kind: null }
const NOT_LOCKED = 'the workspace is not locked'

const lock: LockAction = {
  action: 'lock',
  permission: 'workspace:lock',
  summary: 'Lock a workspace',
  change: async (viewer, workspace) => {
    if (workspace.locked_by_id !== null) {
      throw conflict(`the workspace is locked by ${await lockHolderText(viewer, workspace)} already`)
    }
    return lockHolder(viewer.actor)
  },
}

export const workspaceLockRoutes: readonly Route[] = [
  lockRoute(workspacePlace, lock),
  lockRoute(namedWorkspacePlace, { ...lock, summary: 'Lock a workspace by name' }),
  lockRoute(workspacePlace, {
    action: 'unlock',
    permission: 'workspace:lock',
    summary: 'Unlock a workspace',
    change: async (viewer, workspace) => {
      if (workspace.locked_by_id === null) throw conflict(NOT_LOCKED)
      if (workspace.locked_by_id !== lockHolder(viewer.actor).locked_by_id) {
        throw conflict(`the workspace is locked by ${await lockHolderText(viewer, workspace)}`)
      }
      if (await hasPendingStateVersion(viewer.tx, workspace.id)) {
        throw badRequest('latest state version is still pending')
      }
      return unlocked
    },
  }),
  lockRoute(workspacePlace, {
    action: 'force-unlock',
    permission: 'workspace:force-unlock',
    summary: 'Force-unlock a workspace',
    change: async ({ tx }, workspace) => {
      if (workspace.locked_by_id === null) throw conflict(NOT_LOCKED)
      await discardPendingStateVersions(tx, workspace.id)
      return unlocked
    },
  }),
]
