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
import {
  findStateVersion,
  lockStateVersion,
  updateStateVersion,
  type StateVersionRow,
} from '../state-versions/state-version-store.ts'

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

type ContentAction = {
  readonly name: 'soft_delete' | 'restore' | 'permanently_delete'
  readonly summary: string
  readonly from: StateVersionRow['status']
  readonly to: StateVersionRow['status']
  /** Begins the text that refuses any other status than `from`. */
  readonly refusal: string
  /** Throws 400 if the action is impossible. */
  readonly change: (context: Changing, stateVersion: StateVersionRow) => Promise<unknown>
}

function contentAction({ name, summary, from, to, refusal, change }: ContentAction): Route {
  return write(stateVersionPlace, `/actions/${name}_backing_data`, {
    method: 'POST',
    status: 200,
    permission: 'state-content:manage',
    summary,
    answers: 'state-versions',
    accepts: contentBody,
    keepsAccess: true,
    body: (bytes, { address }) => parseResource(bytes, contentBody, address?.id),
    act: async (context) => {
      // The sweep deletes content without the lock of the organization.
      const stateVersion = existing(await lockStateVersion(context.tx, context.resource.stateVersion.id))
      if (stateVersion.status === to) return unchanged(stateVersion)
      if (stateVersion.status !== from) throw badRequest(`${refusal} ${stateVersion.status}`)
      await change(context, stateVersion)
      const details = { serial: stateVersion.serial, 'workspace-id': stateVersion.workspace_id }
      return done(stateVersion, { action: `state-version.${name.replace('_', '-')}-content`, details })
    },
    document: async (context) => {
      const result = existing(await findStateVersion(context.tx, context.result.id))
      return stateVersionDocument({ ...context, result })
    },
  })
}

export const stateContentRoutes: readonly Route[] = [
  contentAction({
    name: 'soft_delete',
    summary: 'Delete the content of a state version, so that it can be restored',
    from: 'finalized',
    to: 'backing_data_soft_deleted',
    refusal: 'only a finalized state version has content to delete, and this one is',
    change: async ({ tx, resource: { workspace }, now }, stateVersion) => {
      if (workspace.current_state_version_id === stateVersion.id) {
        throw badRequest('the content of the current state version cannot be deleted')
      }
      if (stateVersion.is_intermediate === 1) {
        throw badRequest(
          'the content of a snapshot that may yet become the current state version cannot be deleted',
        )
      }
      const changes = { status: 'backing_data_soft_deleted', soft_deleted_at: now } as const
      await updateStateVersion(tx, stateVersion.id, changes)
    },
  }),

  contentAction({
    name: 'restore',
    summary: 'Restore the content of a state version that was deleted softly',
    from: 'backing_data_soft_deleted',
    to: 'finalized',
    refusal: 'only content that was deleted softly can be restored, and this is',
    change: ({ tx }, { id }) => updateStateVersion(tx, id, { status: 'finalized', soft_deleted_at: null }),
  }),

  contentAction({
    name: 'permanently_delete',
    summary: 'Delete the content of a state version for good',
    from: 'backing_data_soft_deleted',
    to: 'backing_data_permanently_deleted',
    refusal: 'only content that was deleted softly can be deleted for good, and this is',
    change: async ({ tx, deps }, { id }) => {
      await deleteContent(tx, id, deps.config.secretKey)
      tx.afterCommit(() => deps.states.sweep(id))
    },
  }),
]
