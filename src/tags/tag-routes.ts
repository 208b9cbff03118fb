import { reachOf } from '../access/granted-places-store.ts'
import { AppError } from '../core/errors.ts'
import { NO_ID, parseId } from '../core/ids.ts'
import { noContent, ok, type Call } from '../http/call.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { parseIdentifiers } from '../jsonapi/body.ts'
import { listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import {
  loadOrganization,
  loadOrganizationWithGrants,
  organizationOfPath,
} from '../organizations/organization-of-path.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { addTags } from '../workspaces/workspace-tag-store.ts'
import { limitTags } from '../workspaces/workspace-tags.ts'
import { namedWorkspaces } from '../workspaces/workspaces.ts'
import { tagFragment } from './tag-document.ts'
import { deleteTags, findTag, findVisibleTags, listVisibleTags } from './tag-store.ts'
import { MAX_TAGS_IN_A_REQUEST, refuseUnknown } from './tags.ts'

const MAX_WORKSPACES_IN_A_REQUEST = 1000

const organizationAddress = (call: Call) => {
  const name = organizationOfPath(call)
  return name === undefined ? undefined : { name }
}

const filters = ['q', 'filter[exclude][taggable][id]'] as const

const listTags = readRoute({
  path: '/organizations/:organization_name/tags',
  permission: 'workspace:read',
  summary: 'List the tags of an organization',
  query: {
    q: 'Part of the name, without case',
    'filter[exclude][taggable][id]': 'Tags that this workspace does not have',
  },
  answers: 'tags',
  isList: true,
  address: (call) => {
    const { query } = call
    const page = query.page()
    const address = organizationAddress(call)
    const filter = { q: query.text('q'), notOf: query.id('workspace', 'filter[exclude][taggable][id]') }
    return address === undefined ? undefined : { ...address, page, filter, links: query.withoutPage(filters) }
  },
  load: (context) => loadOrganizationWithGrants(context, context.address.name),
  document: async (context) => {
    const { tx, address, resource, call } = context
    const { id, name } = resource.organization
    const { page, filter, links } = address
    const reach = reachOf('workspace:read', context)
    const { tags, total } = await listVisibleTags(tx, id, reach, filter, page)
    const fragments = tags.map((tag) => tagFragment(name, tag))
    return ok(listDocument(fragments, pagingOf(call.path, links, page, total)))
  },
})

const removeTags = writeRoute({
  method: 'DELETE',
  path: '/organizations/:organization_name/tags',
  permission: 'workspace:manage',
  summary: 'Delete tags, from every workspace too',
  status: 204,
  accepts: { identifiers: 'tags' },
  address: organizationAddress,
  // Grants do not count here: a tag may also be on workspaces that the caller has no grant on.
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  body: (bytes) => parseIdentifiers(bytes, 'tags', MAX_TAGS_IN_A_REQUEST),
  act: async ({ tx, resource, body, audit, unchanged }) => {
    const { organization } = resource
    const ids = [...new Set(body)].flatMap((id) => parseId('tag', id) ?? [])
    const tags = await findVisibleTags(tx, organization.id, 'everything', ids)
    if (tags.length === 0) {
      unchanged()
      return noContent
    }
    await deleteTags(
      tx,
      tags.map(({ id }) => id),
    )
    audit({
      action: 'tag.delete',
      organizationId: organization.id,
      resourceType: 'organizations',
      resourceId: organization.id,
      details: { tags: tags.map(({ name }) => name) },
    })
    return noContent
  },
})

const addWorkspaces = writeRoute({
  method: 'POST',
  path: '/tags/:tag_id/relationships/workspaces',
  permission: 'workspace:manage',
  summary: 'Add a tag to workspaces',
  status: 204,
  accepts: { identifiers: 'workspaces' },
  address: ({ params }) => {
    const id = parseId('tag', params.tag_id as string)
    return id === undefined ? undefined : { id }
  },
  load: async ({ tx, address }) => {
    const tag = await findTag(tx, address.id)
    const organization = await findOrganization(tx, tag?.organization_id ?? NO_ID)
    return tag === undefined || organization === undefined ? undefined : { tag, organization, target: {} }
  },
  body: (bytes) => parseIdentifiers(bytes, 'workspaces', MAX_WORKSPACES_IN_A_REQUEST),
  act: async (context) => {
    const { tx, deps, resource, body, audit } = context
    const { tag, organization } = resource
    if (body.length === 0) throw new AppError('invalid', [{ detail: 'data is empty', pointer: '/data' }])
    const workspaces = await namedWorkspaces(context, organization, body, 'workspace:manage')
    const places = body.map((_, place) => ({ place }))
    refuseUnknown(places, workspaces, 'must be a workspace of the organization')
    for (const workspace of workspaces) {
      if (workspace === undefined) continue
      await addTags(tx, organization.id, workspace.id, [tag.name])
      await limitTags(tx, deps, workspace.id)
    }
    audit({
      action: 'tag.add-workspaces',
      organizationId: organization.id,
      resourceType: 'tags',
      resourceId: tag.id,
      details: { name: tag.name, workspaces: body },
    })
    return noContent
  },
})

export const tagRoutes: readonly Route[] = [listTags, removeTags, addWorkspaces]
