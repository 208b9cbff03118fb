import { isPermitted } from '../access/decide.ts'
import { list, type Listing } from '../http/read-route.ts'
import type { Loaded, Route } from '../http/route.ts'
import { sitePlace } from '../http/site-place.ts'
import { fragment, listDocument } from '../jsonapi/document.ts'
import { flag, text } from '../jsonapi/parameters.ts'
import { organizationPlace } from '../organizations/organization-place.ts'
import { ownersTeam } from '../team-access/shown-teams-store.ts'
import { refusalResource } from './refusal-document.ts'
import { listRefusals, namesIn } from './refusal-store.ts'
import { grantsOf } from './refusal-text.ts'

const query = {
  'filter[request-id]': text('The X-Request-Id of the answer'),
  'filter[user]': text('The id of the refused caller: a user, a team or an organization'),
  'filter[lacks-permission]': flag(
    'true: only refusals of callers who lacked the permission. Others would have seen what they asked for if it existed',
  ),
}

const seenAll = ['team:read', 'workspace:read', 'project:read'] as const

/** The refusals about one organization's objects, or all of them. */
async function refusalsDocument(context: Listing<unknown, Loaded, typeof query>): Promise<string> {
  const { tx, actor, standing, resource, query: asked, page, paging } = context
  const findsOutsiders = actor.isSiteAdmin
  const filter = {
    organizationId: resource.organization?.id,
    requestId: asked['filter[request-id]'],
    callerId: asked['filter[user]'],
    findsOutsiders,
    lacksPermission: asked['filter[lacks-permission]'],
  }
  // No table has the number of refusals, so they are counted: a slow read.
  await context.willLookAt(() => Infinity)
  const { rows, total } = await listRefusals(tx, filter, page)
  // An auditor reads refusals without seeing all teams and places, so the names are only for those who do.
  const seesAll = seenAll.every((permission) =>
    isPermitted(permission, actor, standing, { team: ownersTeam }),
  )
  const nameOf = seesAll ? await namesIn(tx, rows.flatMap(grantsOf)) : () => undefined
  const sight = { namesOutsiders: findsOutsiders, nameOf }
  const fragments = rows.map((row) => fragment(refusalResource(row, sight)))
  return listDocument(fragments, paging(total))
}

export const refusalRoutes: readonly Route[] = [
  list(organizationPlace, '/refusals', {
    permission: 'refusals:read',
    summary: "List why callers were answered 404 about an organization's objects, newest first",
    query,
    answers: 'refusals',
    document: refusalsDocument,
  }),

  list(sitePlace, '/admin/refusals', {
    permission: 'refusals:read-all',
    summary: 'List why callers were answered 404, on the whole site, newest first',
    query,
    answers: 'refusals',
    document: refusalsDocument,
  }),
]
