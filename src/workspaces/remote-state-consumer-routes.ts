import { reachOf } from '../access/granted-places-store.ts'
import { invalid } from '../core/errors.ts'
import { done } from '../http/outcome.ts'
import { list } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { listDocument } from '../jsonapi/document.ts'
import {
  addConsumers,
  countConsumers,
  idsOfVisibleConsumers,
  listVisibleConsumers,
  removeConsumers,
} from './remote-state-consumer-store.ts'
import { workspaceFragments } from './workspace-document.ts'
import { workspacePlace } from './workspace-place.ts'
import { namedWorkspaces, readWorkspaceIds } from './workspaces.ts'

/**
 * Adding an existing consumer or removing a missing one is no error. Replacing affects only the consumers that the
 * caller can see, because the caller does not know of others.
 */
function changingRoute(
  method: 'POST' | 'PATCH' | 'DELETE',
  what: 'add' | 'replace' | 'remove',
  summary: string,
): Route {
  return write(workspacePlace, '/relationships/remote-state-consumers', {
    method,
    status: 204,
    permission: 'workspace:manage',
    summary,
    accepts: { identifiers: 'workspaces' },
    keepsAccess: true,
    body: readWorkspaceIds,
    problems: (context) => {
      const { resource, body, problems } = context
      // Removing what is unknown is no error.
      const unknown = what === 'remove' ? [] : problems
      return namedWorkspaces(context, resource.organization, body.ids, 'workspace:read', unknown)
    },
    act: async (context) => {
      const { tx, deps, resource, checked } = context
      const { workspace } = resource
      const ids = checked.map(({ id }) => id)
      if (what === 'remove') await removeConsumers(tx, workspace.id, ids)
      else {
        if (what === 'replace') {
          const before = await idsOfVisibleConsumers(tx, workspace.id, reachOf('workspace:read', context))
          const gone = before.filter((id) => !ids.includes(id))
          await removeConsumers(tx, workspace.id, gone)
        }
        await addConsumers(tx, workspace.id, ids)
        const { maxRemoteStateConsumers: most } = deps.config
        if ((await countConsumers(tx, workspace.id)) > most) {
          throw invalid(
            `a workspace may have at most ${most} remote state consumers (PURSER_MAX_REMOTE_STATE_CONSUMERS)`,
            '/data',
          )
        }
      }
      return done(workspace, {
        action: `workspace.${what}-remote-state-consumers`,
        details: { name: workspace.name, consumers: ids },
      })
    },
  })
}

export const remoteStateConsumerRoutes: readonly Route[] = [
  list(workspacePlace, '/relationships/remote-state-consumers', {
    permission: 'workspace:read',
    summary: 'List the remote state consumers of a workspace',
    answers: 'workspaces',
    document: async (context) => {
      const { tx, resource, page, paging } = context
      const { organization, workspace } = resource
      const reach = reachOf('workspace:read', context)
      const { rows: workspaces, total } = await listVisibleConsumers(tx, workspace.id, reach, page)
      const { data } = await workspaceFragments(context, organization, workspaces, new Set())
      return listDocument(data, paging(total))
    },
  }),
  changingRoute('POST', 'add', 'Add remote state consumers to a workspace'),
  changingRoute('PATCH', 'replace', 'Replace the remote state consumers of a workspace'),
  changingRoute('DELETE', 'remove', 'Remove remote state consumers from a workspace'),
]
