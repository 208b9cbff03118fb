import { reachOf } from '../access/granted-places-store.ts'
import { parseId } from '../core/ids.ts'
import { done, unchanged } from '../http/outcome.ts'
import { list } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { readIdentifiers } from '../jsonapi/body.ts'
import { listDocument } from '../jsonapi/document.ts'
import { idOf, text } from '../jsonapi/parameters.ts'
import { organizationPlace, organizationWithGrantsPlace } from '../organizations/organization-place.ts'
import { countWorkspaces } from '../workspaces/workspace-list-store.ts'
import { addTags } from '../workspaces/workspace-tag-store.ts'
import { limitTags } from '../workspaces/workspace-tags.ts'
import { namedWorkspaces, readWorkspaceIds } from '../workspaces/workspaces.ts'
import { tagResource } from './tag-document.ts'
import { tagPlace } from './tag-place.ts'
import { deleteTags, findVisibleTags, listVisibleTags } from './tag-store.ts'
import { MAX_TAGS_IN_A_REQUEST } from './tags.ts'

export const tagRoutes: readonly Route[] = [
  list(organizationWithGrantsPlace, '/tags', {
    permission: 'workspace:read',
    summary: 'List the tags of an organization',
    query: {
      q: text('Part of the name, ignoring case'),
      'filter[exclude][taggable][id]': idOf('workspace', 'Tags that this workspace does not have'),
    },
    answers: 'tags',
    document: async (context) => {
      const { tx, resource, query, page, paging } = context
      const { id, name } = resource.organization
      const filter = { q: query.q, notOf: query['filter[exclude][taggable][id]'] }
      await context.willLookAt(() => countWorkspaces(tx, id))
      const reach = reachOf('workspace:read', context)
      const { tags, total } = await listVisibleTags(tx, id, reach, filter, page)
      const fragments = tags.map((tag) => tagResource.fragment({ tag, organizationName: name }))
      return listDocument(fragments, paging(total))
    },
  }),

  // Grants do not count here: a tag may also be on workspaces that the caller has no grant on.
  write(organizationPlace, '/tags', {
    method: 'DELETE',
    status: 204,
    permission: 'workspace:manage',
    summary: 'Delete tags, from every workspace too',
    accepts: { identifiers: 'tags' },
    keepsAccess: true,
    body: (bytes) => readIdentifiers(bytes, 'tags', MAX_TAGS_IN_A_REQUEST),
    act: async ({ tx, resource: { organization }, body }) => {
      const asked = [...new Set(body.ids)].flatMap((id) => parseId('tag', id) ?? [])
      const tags = await findVisibleTags(tx, organization.id, 'everything', asked)
      if (tags.length === 0) return unchanged(organization)
      const ids = tags.map(({ id }) => id)
      await deleteTags(tx, ids)
      return done(organization, { action: 'tag.delete', details: { tags: tags.map(({ name }) => name) } })
    },
  }),

  write(tagPlace, '/relationships/workspaces', {
    method: 'POST',
    status: 204,
    permission: 'workspace:manage',
    summary: 'Add a tag to workspaces',
    accepts: { identifiers: 'workspaces' },
    keepsAccess: true,
    body: readWorkspaceIds,
    problems: (context) => {
      const { resource, body, problems } = context
      if (body.ids.length === 0) problems.push({ detail: 'data is empty', pointer: '/data' })
      return namedWorkspaces(context, resource.organization, body.ids, 'workspace:manage', problems)
    },
    act: async ({ tx, deps, resource, body, checked: workspaces }) => {
      const { tag } = resource
      for (const workspace of workspaces) {
        await addTags(tx, workspace, [tag.name])
        await limitTags(tx, deps, workspace.id)
      }
      return done(tag, { action: 'tag.add-workspaces', details: { name: tag.name, workspaces: body.ids } })
    },
  }),
]
