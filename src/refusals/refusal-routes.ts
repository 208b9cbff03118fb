import { list, type Listing } from '../http/read-route.ts'
import type { Loaded, Route } from '../http/route.ts'
import { sitePlace } from '../http/site-place.ts'
import { listDocument } from '../jsonapi/document.ts'
import { text } from '../jsonapi/parameters.ts'
import { organizationPlace } from '../organizations/organization-place.ts'
import { refusalFragment } from './refusal-document.ts'
import { listRefusals } from './refusal-store.ts'

const query = {
  'filter[request-id]': text('The X-Request-Id of the answer'),
  'filter[user]': text('The id of who was refused: of a user, a team or an organization'),
}

/** The refusals about one organization's objects, or all of them. */
async function refusalsDocument(context: Listing<unknown, Loaded, typeof query>): Promise<string> {
  const { tx, actor, resource, query: asked, page, paging } = context
  const findsOutsiders = actor.isSiteAdmin
  const filter = {
    ...(resource.organization === undefined ? {} : { organizationId: resource.organization.id }),
    requestId: asked['filter[request-id]'],
    callerId: asked['filter[user]'],
    findsOutsiders,
  }
  const { rows, total } = await listRefusals(tx, filter, page)
  const fragments = rows.map((row) => refusalFragment(row, findsOutsiders))
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
    summary: 'List why callers were answered 404, about anything and nothing, newest first',
    query,
    answers: 'refusals',
    document: refusalsDocument,
  }),
]
