import { json } from '../http/call.ts'
import { list, read } from '../http/read-route.ts'
import type { Loading, Route } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { ipAddress, moment, text } from '../jsonapi/parameters.ts'
import { organizationPlace } from '../organizations/organization-place.ts'
import { shortName } from '../state-file/output-names.ts'
import { auditEventResource } from './audit-event-document.ts'
import {
  countAuditEvents,
  listAuditEvents,
  MAX_LISTED_EVENTS,
  MAX_SEARCHED_REVEALS,
} from './audit-event-store.ts'
import { auditTrail, auditTrailSchema } from './audit-trail-document.ts'

const TRAIL_PAGE_SIZE = 1_000

/** The trail of the token's organization. The path names no organization: only an audit-trails token has one. */
const auditTrailPlace = {
  path: '/organization/audit-trail',
  type: 'audit-trails',
  address: () => ({}),
  load: async ({ actor: { auditTrailOf } }: Loading<unknown>) =>
    auditTrailOf === null
      ? undefined
      : { organizationId: auditTrailOf, target: { isCallers: true } as const },
}

export const auditRoutes: readonly Route[] = [
  list(organizationPlace, '/audit-events', {
    permission: 'audit:read',
    summary: `List the audit events of an organization, newest first: the newest ${MAX_LISTED_EVENTS} up to filter[until]`,
    query: {
      'filter[since]': moment('Events at this time or later'),
      'filter[until]': moment('Events at this time or earlier'),
      'filter[actor]': text('Id or name of the user, team or organization that acted'),
      'filter[action]': text('Such as team.create'),
      'filter[resource-type]': text('Such as teams'),
      'filter[resource-id]': text('Id of the object'),
      'filter[request-id]': text('The X-Request-Id of the answer'),
      'filter[address]': ipAddress('Address of the client, such as 192.0.2.1'),
      'filter[output]': text(
        `Reveals of a sensitive output of this name, among the newest ${MAX_SEARCHED_REVEALS} reveals up to filter[until]`,
      ),
    },
    answers: 'audit-events',
    isPolled: true,
    document: async ({ tx, resource: { organization }, query, page, links, paging, willLookAt }) => {
      await willLookAt(async () => {
        const count = await countAuditEvents(tx, organization.id)
        return links.length === 0 ? Math.min(page.number * page.size, count) : count
      })
      const output = query['filter[output]']
      const filter = {
        since: query['filter[since]'],
        until: query['filter[until]'],
        actor: query['filter[actor]'],
        action: query['filter[action]'],
        resourceType: query['filter[resource-type]'],
        resourceId: query['filter[resource-id]'],
        requestId: query['filter[request-id]'],
        address: query['filter[address]'],
        output: output === undefined ? undefined : shortName(output),
      }
      const { events, total } = await listAuditEvents(tx, organization.id, filter, page)
      const fragments = events.map((event) => auditEventResource.fragment({ event, organization }))
      return listDocument(fragments, paging(total))
    },
  }),

  read(auditTrailPlace, '', {
    permission: 'audit-trail:read',
    summary:
      "List the audit events of the token's organization, newest first, as the platform does for tools that collect them",
    query: {
      since: moment('Events at this time or later'),
      'page[number]': {
        description: 'From 1',
        read: (asked) => asked.pageUpTo(TRAIL_PAGE_SIZE, TRAIL_PAGE_SIZE),
      },
      'page[size]': text(`At most ${TRAIL_PAGE_SIZE}, which is also the default`),
    },
    answersJson: auditTrailSchema,
    document: async ({ tx, query, resource: { organizationId }, willLookAt }) => {
      const page = query['page[number]']
      await willLookAt(() => countAuditEvents(tx, organizationId))
      const { events, total } = await listAuditEvents(tx, organizationId, { since: query.since }, page)
      return json(auditTrail(events, page, total))
    },
  }),
]
