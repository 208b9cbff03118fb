import { reachOf } from '../access/granted-places-store.ts'
import { AppError } from '../core/errors.ts'
import { ok } from '../http/call.ts'
import { readRoute, type Route } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import type { Query } from '../jsonapi/query.ts'
import { loadOrganizationWithGrants, organizationOfPath } from '../organizations/organization-of-path.ts'
import { taggedFilterOf } from '../tag-bindings/tag-bindings.ts'
import { includable, includeHelp, projectFragments } from './project-document.ts'
import { listVisibleProjects } from './project-store.ts'
import { choice, commaSeparated, flag } from '../jsonapi/parameters.ts'

/** Filters for projects with which the caller may do something. Clients use them to offer a choice. */
const rights = {
  'filter[permissions][update]': 'project:manage',
  'filter[permissions][create-workspace]': 'workspace:create',
} as const
const rightNames = Object.keys(rights) as (keyof typeof rights)[]
const filters = ['q', 'filter[names]', 'sort', 'include', ...rightNames] as const

const projectSorts = ['name', '-name'] as const

function sortOf(query: Query): (typeof projectSorts)[number] {
  const sort = query.text('sort') ?? 'name'
  if (sort === 'name' || sort === '-name') return sort
  const detail = `sort must be ${projectSorts.join(' or ')}`
  throw new AppError('invalid-query', [{ detail, parameter: 'sort' }])
}

const listProjects = readRoute({
  path: '/organizations/:organization_name/projects',
  permission: 'project:read',
  summary: 'List projects',
  query: {
    q: 'Part of the name, without case',
    'filter[names]': commaSeparated('Exact names, separated by commas'),
    'filter[permissions][update]': flag('true: only projects that the caller may update'),
    'filter[permissions][create-workspace]': flag(
      'true: only projects in which the caller may create workspaces',
    ),
    'filter[tagged][0][key]': 'Projects with this key-value tag; several: [1] and so on',
    'filter[tagged][0][value]': 'The value of that tag; any, if it is not given',
    sort: choice('The order of the list', ...projectSorts),
    ...includeHelp,
  },
  answers: 'projects',
  isList: true,
  hasPageInMeta: true,
  address: (call) => {
    const { query } = call
    const isBound = query.include(includable).size > 0
    const page = query.page()
    const isDescending = sortOf(query) === '-name'
    const tagged = taggedFilterOf(query)
    const asked = rightNames.filter((parameter) => query.flag(parameter)).map((name) => rights[name])
    const name = organizationOfPath(call)
    const filter = { q: query.text('q'), names: query.list('filter[names]'), tagged: tagged.filters }
    const links = query.withoutPage([...filters, ...tagged.names])
    return name === undefined ? undefined : { name, isBound, page, isDescending, asked, filter, links }
  },
  load: (context) => loadOrganizationWithGrants(context, context.address.name),
  document: async (context) => {
    const { tx, address, resource, call } = context
    const { organization } = resource
    const { filter, asked, isDescending, page, links } = address
    const reach = reachOf('project:read', context)
    const { projects, total } = await listVisibleProjects(
      tx,
      organization.id,
      reach,
      { ...filter, rights: asked.map((right) => ({ right, reach: reachOf(right, context) })) },
      page,
      isDescending,
    )
    const { data, included } = await projectFragments(context, organization, projects, address.isBound)
    const paging = pagingOf(call.path, links, page, total)
    return ok(listDocument(data, { ...paging, meta: paging.pagination }, included))
  },
})

export const projectListRoutes: readonly Route[] = [listProjects]
