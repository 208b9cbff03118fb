import { Type } from 'typebox'
import { existing } from '../core/existing.ts'
import { badRequest } from '../core/errors.ts'
import { done, unchanged } from '../http/outcome.ts'
import type { Route } from '../http/route.ts'
import { write, type Acting } from '../http/write-route.ts'
import { parseResource } from '../jsonapi/body.ts'
import { deleteContent } from './state-content-store.ts'
import { stateVersionDocument } from '../state-versions/state-version-document.ts'
import { stateVersionPlace, type LoadedStateVersion } from '../state-versions/state-version-place.ts'
import { findStateVersion, updateStateVersion } from '../state-versions/state-version-store.ts'

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

type Changing = Acting<unknown, LoadedStateVersion>

/** `change` returns false if there is nothing to do, and throws 400 if the action is impossible. */
function contentAction(
  action: 'soft_delete' | 'restore' | 'permanently_delete',
  summary: string,
  change: (context: Changing) => Promise<boolean>,
): Route {
  return write(stateVersionPlace, `/actions/${action}_backing_data`, {
    method: 'POST',
    status: 200,
    permission: 'state-content:manage',
    summary,
    answers: 'state-versions',
    accepts: contentBody,
    keepsAccess: true,
    body: (bytes, { address }) => parseResource(bytes, contentBody, address?.id),
    act: async (context) => {
      const { stateVersion } = context.resource
      if (!(await change(context))) return unchanged(stateVersion)
      const details = { serial: stateVersion.serial, 'workspace-id': stateVersion.workspace_id }
      return done(stateVersion, {
        action: `state-version.${action.replace('_', '-')}-content`,
        details,
      })
    },
    document: async (context) => {
      const result = existing(await findStateVersion(context.tx, context.result.id))
      return stateVersionDocument({ ...context, result })
    },
  })
}

export const stateContentRoutes: readonly Route[] = [
  contentAction(
    'soft_delete',
    'Delete the content of a state version, so that it can be restored',
    async ({ tx, resource, now }) => {
      const { stateVersion, workspace } = resource
      if (stateVersion.status === 'backing_data_soft_deleted') return false
      if (stateVersion.status !== 'finalized') {
        throw badRequest(
          `only a finalized state version has content to delete, and this one is ${stateVersion.status}`,
        )
      }
      if (workspace.current_state_version_id === stateVersion.id) {
        throw badRequest('the content of the current state version cannot be deleted')
      }
      if (stateVersion.is_intermediate === 1) {
        throw badRequest(
          'the content of a snapshot that may yet become the current state version cannot be deleted',
        )
      }
      await updateStateVersion(tx, stateVersion.id, {
        status: 'backing_data_soft_deleted',
        soft_deleted_at: now,
      })
      return true
    },
  ),

  contentAction(
    'restore',
    'Restore the content of a state version that was deleted softly',
    async ({ tx, resource: { stateVersion } }) => {
      if (stateVersion.status === 'finalized') return false
      if (stateVersion.status !== 'backing_data_soft_deleted') {
        throw badRequest(
          `only content that was deleted softly can be restored, and this is ${stateVersion.status}`,
        )
      }
      await updateStateVersion(tx, stateVersion.id, { status: 'finalized', soft_deleted_at: null })
      return true
    },
  ),

  contentAction(
    'permanently_delete',
    'Delete the content of a state version for good',
    async ({ tx, deps, resource: { stateVersion } }) => {
      if (stateVersion.status === 'backing_data_permanently_deleted') return false
      if (stateVersion.status !== 'backing_data_soft_deleted') {
        throw badRequest(
          `only content that was deleted softly can be deleted for good, and this is ${stateVersion.status}`,
        )
      }
      await deleteContent(tx, stateVersion.id, deps.config.secretKey)
      tx.afterCommit(() => deps.states.sweep(stateVersion.id))
      return true
    },
  ),
]
