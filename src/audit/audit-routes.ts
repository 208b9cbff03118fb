import { ok } from '../http/call.ts'
import { readRoute, type Route } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { loadOrganization, organizationOfPath } from '../organizations/organization-of-path.ts'
import { auditEventFragment } from './audit-event-document.ts'
import { listAuditEvents, MAX_LISTED_EVENTS } from './audit-event-store.ts'
import { auditTrailDocument, auditTrailSchema } from './audit-trail-document.ts'
import { moment } from '../jsonapi/parameters.ts'

const filters = {
  'filter[since]': moment('Events at this time or later'),
  'filter[until]': moment('Events at this time or earlier'),
  'filter[actor]': 'Id or name of who acted',
  'filter[action]': 'Such as team.create',
  'filter[resource-type]': 'Such as teams',
  'filter[resource-id]': 'Id of what it was done to',
  'filter[request-id]': 'The X-Request-Id of the answer',
} as const

const list = readRoute({
  path: '/organizations/:organization_name/audit-events',
  permission: 'audit:read',
  summary: `List the audit events of an organization, newest first: the newest ${MAX_LISTED_EVENTS.toLocaleString('en')} up to filter[until]`,
  query: filters,
  answers: 'audit-events',
  isList: true,
  address: (call) => {
    const { query } = call
    const page = query.page()
    const filter = {
      since: query.time('filter[since]'),
      until: query.time('filter[until]'),
      actor: query.text('filter[actor]'),
      action: query.text('filter[action]'),
      resourceType: query.text('filter[resource-type]'),
      resourceId: query.text('filter[resource-id]'),
      requestId: query.text('filter[request-id]'),
    }
    const name = organizationOfPath(call)
    const links = query.withoutPage(Object.keys(filters))
    return name === undefined ? undefined : { name, page, filter, links }
  },
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  document: async ({ tx, call, address, resource: { organization } }) => {
    const { filter, page, links } = address
    const { events, total } = await listAuditEvents(tx, organization.id, filter, page)
    const fragments = events.map((event) => auditEventFragment(event, organization))
    return ok(listDocument(fragments, pagingOf(call.path, links, page, total)))
  },
})

const TRAIL_PAGE_SIZE = 1_000

const trail = readRoute({
  path: '/organization/audit-trail',
  permission: 'audit-trail:read',
  summary:
    "List the audit events of the token's organization, newest first, as the platform does for tools that collect them",
  query: {
    since: moment('Events at this time or later'),
    'page[number]': 'From 1',
    'page[size]': `At most ${TRAIL_PAGE_SIZE}, which is also the default`,
  },
  answersJson: auditTrailSchema,
  address: ({ query }) => ({
    filter: { since: query.time('since') },
    page: query.pageUpTo(TRAIL_PAGE_SIZE, TRAIL_PAGE_SIZE),
  }),
  // The path names no organization: only an audit-trails token has one.
  load: async ({ actor: { auditTrailOf } }) =>
    auditTrailOf === null ? undefined : { organizationId: auditTrailOf, target: { isCallers: true } },
  document: async ({ tx, address: { filter, page }, resource: { organizationId } }) => {
    const { events, total } = await listAuditEvents(tx, organizationId, filter, page)
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }
    return { status: 200, body: auditTrailDocument(events, page, total), headers }
  },
})

export const auditRoutes: readonly Route[] = [list, trail]
