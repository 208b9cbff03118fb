import { noContent } from '../http/call.ts'
import { writeRoute, type Route } from '../http/route.ts'
import { addTags, removeTags } from './workspace-tag-store.ts'
import { limitTags, parseTags, tagItem } from './workspace-tags.ts'
import { loadWorkspace, workspaceOfPath } from './workspaces.ts'

const changes = [
  { method: 'POST', action: 'workspace.tag', summary: 'Add tags to a workspace', change: addTags },
  {
    method: 'DELETE',
    action: 'workspace.untag',
    summary: 'Remove tags from a workspace',
    change: removeTags,
  },
] as const

/** Adding one that is there and removing one that is not are no errors. */
export const workspaceTagRoutes: readonly Route[] = changes.map(({ method, action, summary, change }) =>
  writeRoute({
    method,
    path: '/workspaces/:workspace_id/relationships/tags',
    permission: 'workspace:manage',
    summary,
    status: 204,
    accepts: { items: tagItem },
    address: workspaceOfPath,
    load: (context) => loadWorkspace(context, context.address),
    body: (bytes) => parseTags(bytes),
    act: async ({ tx, deps, resource, body, audit }) => {
      const { organization, workspace } = resource
      await change(tx, workspace.id, body)
      await limitTags(tx, deps, workspace.id)
      audit({
        action,
        organizationId: organization.id,
        resourceType: 'workspaces',
        resourceId: workspace.id,
        details: { name: workspace.name, tags: body },
      })
      return noContent
    },
  }),
)
