import { ok, type Answer, type Call } from '../http/call.ts'
import { readRoute, type Route, type Viewer } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { loadOrganization, organizationOfPath } from '../organizations/organization-of-path.ts'
import { refusalFragment } from './refusal-document.ts'
import { listRefusals } from './refusal-store.ts'

const filters = ['filter[request-id]', 'filter[user]'] as const
const query = {
  'filter[request-id]': 'The X-Request-Id of the answer',
  'filter[user]': 'The id of who was refused: of a user, a team or an organization',
}

const askedOf = ({ query }: Call) => ({
  page: query.page(),
  requestId: query.text('filter[request-id]'),
  callerId: query.text('filter[user]'),
  links: query.withoutPage(filters),
})
type Asked = ReturnType<typeof askedOf>

async function answer(
  { tx, actor, address, call }: Viewer & { address: Asked; call: Call },
  organizationId?: string,
): Promise<Answer> {
  const { page, requestId, callerId, links } = address
  const findsOutsiders = actor.isSiteAdmin
  const of = organizationId === undefined ? {} : { organizationId }
  const { rows, total } = await listRefusals(tx, { ...of, requestId, callerId, findsOutsiders }, page)
  const fragments = rows.map((row) => refusalFragment(row, findsOutsiders))
  return ok(listDocument(fragments, pagingOf(call.path, links, page, total)))
}

const listOfOrganization = readRoute({
  path: '/organizations/:organization_name/refusals',
  permission: 'refusals:read',
  summary: "List why callers were answered 404 about an organization's objects, newest first",
  query,
  answers: 'refusals',
  isList: true,
  address: (call) => {
    const asked = askedOf(call)
    const name = organizationOfPath(call)
    return name === undefined ? undefined : { ...asked, name }
  },
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  document: (context) => answer(context, context.resource.organization.id),
})

const listAll = readRoute({
  path: '/admin/refusals',
  permission: 'refusals:read-all',
  summary: 'List why callers were answered 404, about anything and nothing, newest first',
  query,
  answers: 'refusals',
  isList: true,
  address: askedOf,
  load: async () => ({ target: {} }),
  document: (context) => answer(context),
})

export const refusalRoutes: readonly Route[] = [listOfOrganization, listAll]
