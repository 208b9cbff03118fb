import { reachOf } from '../access/granted-places-store.ts'
import { done } from '../http/outcome.ts'
import { list } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { tagResource } from '../tags/tag-document.ts'
import { listTagsOfWorkspace } from '../tags/tag-store.ts'
import { namesOfTags, parseTags, tagItem } from '../tags/tags.ts'
import { countWorkspaces } from './workspace-list-store.ts'
import { workspacePlace } from './workspace-place.ts'
import { addTags, removeTags } from './workspace-tag-store.ts'
import { limitTags, tagsToAdd } from './workspace-tags.ts'

/** Adding a tag that is there and removing one that is not are no errors. */
export const workspaceTagRoutes: readonly Route[] = [
  list(workspacePlace, '/relationships/tags', {
    permission: 'workspace:read',
    summary: 'List the tags of a workspace',
    answers: 'tags',
    document: async (context) => {
      const { tx, resource, page, paging } = context
      const { organization, workspace } = resource
      await context.willLookAt(() => countWorkspaces(tx, organization.id))
      const reach = reachOf('workspace:read', context)
      const { tags, total } = await listTagsOfWorkspace(tx, reach, workspace, page)
      const fragments = tags.map((tag) => tagResource.fragment({ tag, organizationName: organization.name }))
      return listDocument(fragments, paging(total))
    },
  }),

  write(workspacePlace, '/relationships/tags', {
    method: 'POST',
    status: 204,
    permission: 'workspace:manage',
    summary: 'Add tags to a workspace',
    accepts: { items: tagItem },
    keepsAccess: true,
    body: parseTags,
    act: async (context) => {
      const { tx, deps, resource, body } = context
      const { organization, workspace } = resource
      const tags = await tagsToAdd(context, organization.id, body, '/data')
      await addTags(tx, workspace, tags)
      await limitTags(tx, deps, workspace.id)
      return done(workspace, { action: 'workspace.tag', details: { name: workspace.name, tags } })
    },
  }),

  write(workspacePlace, '/relationships/tags', {
    method: 'DELETE',
    status: 204,
    permission: 'workspace:manage',
    summary: 'Remove tags from a workspace',
    accepts: { items: tagItem },
    keepsAccess: true,
    body: parseTags,
    act: async (context) => {
      const { organization, workspace } = context.resource
      const found = await namesOfTags(context, organization.id, context.body)
      const tags = found.filter((name) => name !== undefined)
      await removeTags(context.tx, workspace, tags)
      return done(workspace, { action: 'workspace.untag', details: { name: workspace.name, tags } })
    },
  }),
]
