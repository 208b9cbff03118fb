import { reachOf } from '../access/granted-places-store.ts'
import { invalid } from '../core/errors.ts'
import { noContent, ok } from '../http/call.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { parseIdentifiers } from '../jsonapi/body.ts'
import { listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { refuseUnknown } from '../tags/tags.ts'
import {
  addConsumers,
  countConsumers,
  idsOfVisibleConsumers,
  listVisibleConsumers,
  removeConsumers,
} from './remote-state-consumer-store.ts'
import { workspaceFragments } from './workspace-document.ts'
import { loadWorkspace, namedWorkspaces, workspaceOfPath, workspacePageOfPath } from './workspaces.ts'

const path = '/workspaces/:workspace_id/relationships/remote-state-consumers'
const MAX_IN_A_REQUEST = 1000

const listConsumers = readRoute({
  path,
  permission: 'workspace:read',
  summary: 'List the remote state consumers of a workspace',
  answers: 'workspaces',
  isList: true,
  address: workspacePageOfPath,
  load: (context) => loadWorkspace(context, context.address.workspace),
  document: async (context) => {
    const { tx, resource, address, call } = context
    const { organization, workspace } = resource
    const reach = reachOf('workspace:read', context)
    const { workspaces, total } = await listVisibleConsumers(tx, workspace.id, reach, address.page)
    const { data } = await workspaceFragments(context, organization, workspaces, new Set())
    return ok(listDocument(data, pagingOf(call.path, [], address.page, total)))
  },
})

const changes = [
  { method: 'POST', what: 'add', summary: 'Add remote state consumers to a workspace' },
  { method: 'PATCH', what: 'replace', summary: 'Replace the remote state consumers of a workspace' },
  { method: 'DELETE', what: 'remove', summary: 'Remove remote state consumers from a workspace' },
] as const

/**
 * Adding an existing consumer or removing a missing one is no error. Replacing affects only the consumers that the
 * caller can see, because the caller does not know of others.
 */
const changeConsumers = changes.map(({ method, what, summary }) =>
  writeRoute({
    method,
    path,
    permission: 'workspace:manage',
    summary,
    status: 204,
    accepts: { identifiers: 'workspaces' },
    address: workspaceOfPath,
    load: (context) => loadWorkspace(context, context.address),
    body: (bytes) => parseIdentifiers(bytes, 'workspaces', MAX_IN_A_REQUEST),
    act: async (context) => {
      const { tx, deps, resource, body, audit } = context
      const { organization, workspace } = resource
      const named = await namedWorkspaces(context, organization, body, 'workspace:read')
      const ids = named.flatMap((consumer) => consumer?.id ?? [])
      if (what === 'remove') {
        await removeConsumers(tx, workspace.id, ids)
      } else {
        const places = body.map((_, place) => ({ place }))
        refuseUnknown(places, named, 'must be a workspace of the organization that you can read')
        if (what === 'replace') {
          const reach = reachOf('workspace:read', context)
          const before = await idsOfVisibleConsumers(tx, workspace.id, reach)
          await removeConsumers(
            tx,
            workspace.id,
            before.filter((id) => !ids.includes(id)),
          )
        }
        await addConsumers(tx, workspace.id, ids)
        const { maxRemoteStateConsumers } = deps.config
        if ((await countConsumers(tx, workspace.id)) > maxRemoteStateConsumers) {
          throw invalid(
            `a workspace may have at most ${maxRemoteStateConsumers} remote state consumers`,
            '/data',
          )
        }
      }
      audit({
        action: `workspace.${what}-remote-state-consumers`,
        organizationId: organization.id,
        resourceType: 'workspaces',
        resourceId: workspace.id,
        details: { name: workspace.name, consumers: ids },
      })
      return noContent
    },
  }),
)

export const remoteStateConsumerRoutes: readonly Route[] = [listConsumers, ...changeConsumers]
