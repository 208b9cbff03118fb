import { noContent, ok } from '../http/call.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { reachOf } from '../access/granted-places-store.ts'
import { tagFragment } from '../tags/tag-document.ts'
import { listVisibleTags } from '../tags/tag-store.ts'
import { namesOfTags, parseTags, tagItem, type NamedTag } from '../tags/tags.ts'
import type { Viewer } from '../http/route.ts'
import { removeTags } from './workspace-tag-store.ts'
import { tagWorkspace } from './workspace-tags.ts'
import { loadWorkspace, workspaceOfPath, workspacePageOfPath, type LoadedWorkspace } from './workspaces.ts'

const path = '/workspaces/:workspace_id/relationships/tags'

const listTags = readRoute({
  path,
  permission: 'workspace:read',
  summary: 'List the tags of a workspace',
  answers: 'tags',
  isList: true,
  address: workspacePageOfPath,
  load: (context) => loadWorkspace(context, context.address.workspace),
  document: async (context) => {
    const { tx, resource, address, call } = context
    const { organization, workspace } = resource
    const reach = reachOf('workspace:read', context)
    const filter = { of: workspace.id }
    const { tags, total } = await listVisibleTags(tx, organization.id, reach, filter, address.page)
    const fragments = tags.map((tag) => tagFragment(organization.name, tag))
    return ok(listDocument(fragments, pagingOf(call.path, [], address.page, total)))
  },
})

type Change = (
  viewer: Viewer,
  resource: LoadedWorkspace,
  tags: readonly NamedTag[],
) => Promise<readonly string[]>

const add: Change = (viewer, { organization, workspace }, tags) =>
  tagWorkspace(viewer, organization.id, workspace.id, tags)

const remove: Change = async (viewer, { organization, workspace }, tags) => {
  const found = await namesOfTags(viewer, organization.id, tags)
  const names = found.filter((name) => name !== undefined)
  await removeTags(viewer.tx, organization.id, workspace.id, names)
  return names
}

const changes = [
  { method: 'POST', action: 'workspace.tag', summary: 'Add tags to a workspace', change: add },
  { method: 'DELETE', action: 'workspace.untag', summary: 'Remove tags from a workspace', change: remove },
] as const

/** Adding an existing tag or removing a missing one is no error. */
const changeTags = changes.map(({ method, action, summary, change }) =>
  writeRoute({
    method,
    path,
    permission: 'workspace:manage',
    summary,
    status: 204,
    accepts: { items: tagItem },
    address: workspaceOfPath,
    load: (context) => loadWorkspace(context, context.address),
    body: (bytes) => parseTags(bytes),
    act: async (context) => {
      const { resource, body, audit } = context
      const { organization, workspace } = resource
      const tags = await change(context, resource, body)
      audit({
        action,
        organizationId: organization.id,
        resourceType: 'workspaces',
        resourceId: workspace.id,
        details: { name: workspace.name, tags },
      })
      return noContent
    },
  }),
)

export const workspaceTagRoutes: readonly Route[] = [listTags, ...changeTags]
