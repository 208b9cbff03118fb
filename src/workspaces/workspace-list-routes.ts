import { reachOf } from '../access/granted-places-store.ts'
import { rowsBefore } from '../database/window.ts'
import { cachedPage } from '../http/cached-page.ts'
import { ok, type AnswerBody } from '../http/call.ts'
import { list } from '../http/read-route.ts'
import type { Document, Route } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { choice, commaSeparated, flag, idOf, text } from '../jsonapi/parameters.ts'
import { organizationWithGrantsPlace } from '../organizations/organization-place.ts'
import { wholeCountOf } from '../projects/project-count-store.ts'
import { taggedFilter } from '../tag-bindings/tag-bindings.ts'
import { workspaceFragments } from './workspace-document.ts'
import { include, type Includes } from './workspace-includes.ts'
import {
  countWorkspaces,
  listVisibleWorkspaces,
  workspacesVersion,
  workspaceSorts,
} from './workspace-list-store.ts'

export const workspaceListRoutes: readonly Route[] = [
  list(organizationWithGrantsPlace, '/workspaces', {
    permission: 'workspace:read',
    summary: 'List workspaces',
    answers: 'workspaces',
    refuses: [409],
    isPolled: true,
    query: {
      'search[name]': text('Part of the name, ignoring case'),
      'search[wildcard-name]': text('The name, ignoring case, with * at its ends for anything'),
      'search[tags]': commaSeparated(
        'Workspaces with all of these, each as a tag or as the key of a key-value tag in effect, separated by commas',
      ),
      'search[exclude-tags]': commaSeparated(
        'Workspaces without any of these as a tag or as the key of a key-value tag in effect, separated by commas',
      ),
      'filter[project][id]': idOf('project', 'Workspaces of this project alone'),
      ...taggedFilter('Workspaces with this key-value tag in effect'),
      'filter[tag-union]': flag('true: one of several filter[tagged] is enough'),
      'filter[tag-value-default-null]': flag(
        'true: a filter[tagged] without a value means the tag without a value',
      ),
      'filter[current-run][status]': text('Workspaces with such a run: none, since nothing runs here'),
      sort: choice('The order of the list', ...workspaceSorts),
      ...include,
    },
    document: async (context) => {
      const { tx, query, page, links, paging, resource } = context
      const { organization } = resource
      const tagged = query['filter[tagged][0][key]']
      const filter = {
        name: query['search[name]'],
        wildcardName: query['search[wildcard-name]'],
        tags: query['search[tags]'],
        withoutTags: query['search[exclude-tags]'],
        projectId: query['filter[project][id]'],
        tagged: query['filter[tag-value-default-null]']
          ? tagged.map(({ key, value = '' }) => ({ key, value }))
          : tagged,
        isTagUnion: query['filter[tag-union]'],
        hasRun: query['filter[current-run][status]'] !== undefined,
      }
      const conditions = links.map(([name]) => name).filter((name) => name !== 'sort' && name !== 'include')
      const isWhole = conditions.length === 0
      const { projectId } = filter
      const ofProject = conditions.every((name) => name === 'filter[project][id]') ? projectId : undefined
      const versions = isWhole ? await workspacesVersion(tx, organization.id) : undefined
      const isCached = versions !== undefined && links.length === 0
      const name = isCached ? `workspaces ${versions.version}` : undefined
      const made = await cachedPage(context, organization, name, page, async () => {
        const reach = reachOf('workspace:read', context)
        const countOfAll = reach === 'everything' ? versions?.count : undefined
        const known =
          ofProject === undefined ? countOfAll : await wholeCountOf(tx, organization.id, ofProject, reach)
        await context.willLookAt(async () =>
          known === undefined
            ? (versions?.count ?? (await countWorkspaces(tx, organization.id)))
            : rowsBefore(page, known),
        )
        // Only those are counted whole of which the caller sees all.
        const within = known === undefined ? reach : 'everything'
        const { workspaces, total } = await listVisibleWorkspaces(tx, organization.id, within, filter, page, {
          sort: query.sort ?? 'name',
          known,
        })
        const found = await workspaceFragments(context, organization, workspaces, query.include)
        return found.later.bodyOf(listDocument(found.data, paging(total), found.included))
      })
      return withIncluded(made, query.include)
    },
  }),
]

/** State versions have upload URLs, which are rights by themselves, and outputs have values. Nothing may keep those. */
const kept: Includes = new Set(['organization', 'project'])

export function withIncluded(made: AnswerBody, include: Includes): Document {
  return [...include].every((one) => kept.has(one)) ? made : ok(made)
}
