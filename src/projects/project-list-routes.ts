import { reachOf } from '../access/granted-places-store.ts'
import { keysOf } from '../core/keys.ts'
import { rowsBefore } from '../database/window.ts'
import { list } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { choice, commaSeparated, flag, text } from '../jsonapi/parameters.ts'
import { organizationWithGrantsPlace } from '../organizations/organization-place.ts'
import { taggedFilter } from '../tag-bindings/tag-bindings.ts'
import { countWorkspaces } from '../workspaces/workspace-list-store.ts'
import { include, projectFragments } from './project-document.ts'
import { countProjects, listVisibleProjects } from './project-store.ts'

/** Filters for projects with which the caller may do something. Clients use them to offer a choice. */
const rights = {
  'filter[permissions][update]': 'project:manage',
  'filter[permissions][create-workspace]': 'workspace:create',
} as const
const rightNames = keysOf(rights)

export const projectListRoutes: readonly Route[] = [
  list(organizationWithGrantsPlace, '/projects', {
    permission: 'project:read',
    summary: 'List projects',
    answers: 'projects',
    isPolled: true,
    hasPageInMeta: true,
    query: {
      q: text('Part of the name, ignoring case'),
      'filter[names]': commaSeparated('Exact names, separated by commas'),
      'filter[permissions][update]': flag('true: only projects that the caller may update'),
      'filter[permissions][create-workspace]': flag(
        'true: only projects in which the caller may create workspaces',
      ),
      ...taggedFilter('Projects with this key-value tag'),
      sort: choice('The order of the list', 'name', '-name'),
      ...include,
    },
    document: async (context) => {
      const { tx, query, page, links, resource } = context
      const { organization } = resource
      const asked = rightNames.filter((name) => query[name]).map((name) => rights[name])
      const filter = {
        q: query.q,
        names: query['filter[names]'],
        tagged: query['filter[tagged][0][key]'],
        rights: asked.map((right) => ({ right, reach: reachOf(right, context) })),
        isDescending: query.sort === '-name',
      }
      const reach = reachOf('project:read', context)
      const reaches = [reach, reachOf('workspace:read', context), ...filter.rights.map((each) => each.reach)]
      const seesAll = reaches.every((each) => each === 'everything')
      const isWhole = links.every(([name]) => name === 'sort' || name === 'include')
      const known = isWhole && reach === 'everything' ? await countProjects(tx, organization.id) : undefined
      await context.willLookAt(async () => {
        const projects =
          known === undefined ? await countProjects(tx, organization.id) : rowsBefore(page, known)
        // Who sees all workspaces gets their numbers from a table. Grants are looked up by workspaces.
        return seesAll ? projects : projects + (await countWorkspaces(tx, organization.id))
      })
      const { rows, total } = await listVisibleProjects(tx, organization.id, reach, filter, page, known)
      const isBound = query.include.size > 0
      const { data, included } = await projectFragments(context, organization, rows, isBound)
      return listDocument(data, context.paging(total), included)
    },
  }),
]
