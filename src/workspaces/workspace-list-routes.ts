import { reachOf } from '../access/granted-places-store.ts'
import { AppError } from '../core/errors.ts'
import { keptPage } from '../http/kept-page.ts'
import { readRoute, type Route } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import type { Query } from '../jsonapi/query.ts'
import { loadOrganizationWithGrants, organizationOfPath } from '../organizations/organization-of-path.ts'
import { taggedFilterOf } from '../tag-bindings/tag-bindings.ts'
import { workspaceFragments } from './workspace-document.ts'
import { includeHelp, includesOf } from './workspace-includes.ts'
import {
  listVisibleWorkspaces,
  workspacesVersion,
  workspaceSorts,
  type WorkspaceSort,
} from './workspace-list-store.ts'
import { choice, commaSeparated, flag } from '../jsonapi/parameters.ts'

const filters = [
  'search[name]',
  'search[wildcard-name]',
  'search[tags]',
  'search[exclude-tags]',
  'filter[project][id]',
  'filter[tag-union]',
  'filter[tag-value-default-null]',
  'filter[current-run][status]',
  'sort',
  'include',
] as const

function sortOf(query: Query): WorkspaceSort {
  const sort = query.text('sort') ?? 'name'
  if ((workspaceSorts as readonly string[]).includes(sort)) return sort as WorkspaceSort
  const detail = `sort must be ${workspaceSorts.join(' or ')}`
  throw new AppError('invalid-query', [{ detail, parameter: 'sort' }])
}

const listWorkspaces = readRoute({
  path: '/organizations/:organization_name/workspaces',
  permission: 'workspace:read',
  summary: 'List workspaces',
  query: {
    'search[name]': 'Part of the name, without case',
    'search[wildcard-name]': 'The name, without case, with * at its ends for anything',
    'search[tags]': commaSeparated('Workspaces with all of these tags, separated by commas'),
    'search[exclude-tags]': commaSeparated('Workspaces without any of these tags, separated by commas'),
    'filter[project][id]': 'Workspaces of this project alone',
    'filter[tagged][0][key]': 'Workspaces with this key-value tag in effect; several: [1] and so on',
    'filter[tagged][0][value]': 'The value of that tag; any, if it is not given',
    'filter[tag-union]': flag('true: one of several filter[tagged] is enough'),
    'filter[tag-value-default-null]': flag(
      'true: a filter[tagged] without a value means the tag without a value',
    ),
    'filter[current-run][status]': 'Workspaces with such a run: none, since nothing runs here',
    sort: choice('The order of the list', ...workspaceSorts),
    ...includeHelp,
  },
  answers: 'workspaces',
  isList: true,
  address: (call) => {
    const { query } = call
    const include = includesOf(query)
    const page = query.page()
    const sort = sortOf(query)
    const tagged = taggedFilterOf(query)
    const name = organizationOfPath(call)
    const filter = {
      name: query.text('search[name]'),
      wildcardName: query.text('search[wildcard-name]'),
      tags: query.list('search[tags]'),
      withoutTags: query.list('search[exclude-tags]'),
      projectId: query.id('project', 'filter[project][id]'),
      tagged: query.flag('filter[tag-value-default-null]')
        ? tagged.filters.map(({ key, value = '' }) => ({ key, value }))
        : tagged.filters,
      isTagUnion: query.flag('filter[tag-union]'),
      hasRun: query.has('filter[current-run][status]'),
    }
    const links = query.withoutPage([...filters, ...tagged.names])
    return name === undefined ? undefined : { name, include, page, sort, filter, links }
  },
  load: (context) => loadOrganizationWithGrants(context, context.address.name),
  document: async (context) => {
    const { tx, address, resource, call } = context
    const { organization } = resource
    const { filter, sort, page, include, links } = address
    const isWhole = links.every(([parameter]) => parameter === 'sort' || parameter === 'include')
    const versions = isWhole ? await workspacesVersion(tx, organization.id) : undefined
    const isKept = versions !== undefined && links.length === 0
    const name = isKept ? `workspaces ${versions.version}` : undefined
    return keptPage(context, organization, name, page, async () => {
      const reach = reachOf('workspace:read', context)
      const known = reach === 'everything' ? versions?.count : undefined
      const { workspaces, total } = await listVisibleWorkspaces(tx, organization.id, reach, filter, page, {
        sort,
        known,
      })
      const { data, included, later } = await workspaceFragments(context, organization, workspaces, include)
      return later.bodyOf(listDocument(data, pagingOf(call.path, links, page, total), included))
    })
  },
})

export const workspaceListRoutes: readonly Route[] = [listWorkspaces]
