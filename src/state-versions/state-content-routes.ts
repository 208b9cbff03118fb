import { Type } from 'typebox'
import { timestamp } from '../core/clock.ts'
import { existing } from '../core/existing.ts'
import { AppError } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import { ok, type Call } from '../http/call.ts'
import { writeRoute, type Acting, type Route } from '../http/route.ts'
import { parseResource } from '../jsonapi/body.ts'
import { document, type Fragment } from '../jsonapi/document.ts'
import { deleteContent } from './state-content-store.ts'
import { loadStateVersion, type LoadedStateVersion } from './state-version-access.ts'
import { stateVersionFragments } from './state-version-document.ts'
import { findStateVersion, updateStateVersion } from './state-version-store.ts'

/** Lenient because go-tfe sends no body at all. */
const contentBody = {
  type: 'state-versions',
  isLenient: true,
  attributes: {
    'delete-older-than-n-days': Type.Null({
      explain: 'is the same for all states of a server: PURSER_DELETED_STATE_DAYS',
    }),
  },
} as const

type Changing = Acting<unknown, LoadedStateVersion, unknown>

/** `change` returns false if there is nothing to do, and throws 400 if the action is impossible. */
function contentAction(
  action: 'soft_delete' | 'restore' | 'permanently_delete',
  summary: string,
  change: (context: Changing) => Promise<boolean>,
): Route {
  return writeRoute({
    method: 'POST',
    path: `/state-versions/:state_version_id/actions/${action}_backing_data`,
    permission: 'state-content:manage',
    summary,
    answers: 'state-versions',
    status: 200,
    accepts: contentBody,
    address: (call: Call) => {
      const id = parseId('stateVersion', call.params.state_version_id as string)
      return id === undefined ? undefined : { id }
    },
    load: (context) => loadStateVersion(context, context.address.id, findStateVersion),
    body: (bytes, { id }) => parseResource(bytes, contentBody, id),
    act: async (context) => {
      const { tx, deps, actor, standing, resource, call } = context
      const { stateVersion } = resource
      if (await change(context)) {
        context.audit({
          action: `state-version.${action.replace('_', '-')}-content`,
          organizationId: stateVersion.organization_id,
          resourceType: 'state-versions',
          resourceId: stateVersion.id,
          details: { serial: stateVersion.serial, 'workspace-id': stateVersion.workspace_id },
        })
      } else {
        context.unchanged()
      }
      const row = existing(await findStateVersion(tx, stateVersion.id))
      const viewer = { actor, standing, target: resource.target }
      const addresses = { origin: call.origin, secretKey: deps.config.secretKey }
      const [text] = await stateVersionFragments(tx, [row], viewer, addresses)
      return ok(document(text as Fragment))
    },
  })
}

function refuse(detail: string): AppError {
  return new AppError('bad-request', [{ detail }])
}

const softDelete = contentAction(
  'soft_delete',
  'Delete the content of a state version, so that it can be restored',
  async ({ tx, deps, resource }) => {
    const { stateVersion, workspace } = resource
    if (stateVersion.status === 'backing_data_soft_deleted') return false
    if (stateVersion.status !== 'finalized') {
      throw refuse(
        `only a finalized state version has content to delete, and this one is ${stateVersion.status}`,
      )
    }
    if (workspace.current_state_version_id === stateVersion.id) {
      throw refuse('the content of the current state version cannot be deleted')
    }
    if (stateVersion.is_intermediate === 1) {
      throw refuse(
        'the content of a snapshot that may yet become the current state version cannot be deleted',
      )
    }
    await updateStateVersion(tx, stateVersion.id, {
      status: 'backing_data_soft_deleted',
      soft_deleted_at: timestamp(deps.clock.now()),
    })
    return true
  },
)

const restore = contentAction(
  'restore',
  'Restore the content of a state version that was deleted softly',
  async ({ tx, resource: { stateVersion } }) => {
    if (stateVersion.status === 'finalized') return false
    if (stateVersion.status !== 'backing_data_soft_deleted') {
      throw refuse(`only content that was deleted softly can be restored, and this is ${stateVersion.status}`)
    }
    await updateStateVersion(tx, stateVersion.id, { status: 'finalized', soft_deleted_at: null })
    return true
  },
)

const permanentlyDelete = contentAction(
  'permanently_delete',
  'Delete the content of a state version for good',
  async ({ tx, deps, resource: { stateVersion } }) => {
    if (stateVersion.status === 'backing_data_permanently_deleted') return false
    if (stateVersion.status !== 'backing_data_soft_deleted') {
      throw refuse(
        `only content that was deleted softly can be deleted for good, and this is ${stateVersion.status}`,
      )
    }
    await deleteContent(tx, stateVersion.id, deps.config.secretKey)
    tx.afterCommit(() => deps.states.sweep(stateVersion.id))
    return true
  },
)

export const stateContentRoutes: readonly Route[] = [softDelete, restore, permanentlyDelete]
