import { Type } from 'typebox'
import { closedObject, nullable, timeSchema } from '../jsonapi/description.ts'
import { pagingOf, type Page } from '../jsonapi/paging.ts'
import { detailsOf, idOf } from './audit-event-document.ts'
import type { ListedEvent } from './audit-event-store.ts'

const page = nullable(Type.Integer())

/** The format for tools that collect the platform's audit trails. It is not JSON:API. */
export const auditTrailSchema = closedObject({
  data: Type.Array(
    closedObject({
      id: Type.String(),
      version: Type.Literal('0'),
      type: Type.Literal('Resource'),
      timestamp: timeSchema,
      auth: closedObject({
        accessor_id: nullable(Type.String()),
        description: nullable(Type.String()),
        type: Type.Union([Type.Literal('Client'), Type.Literal('System')]),
        impersonator_id: Type.Null(),
        organization_id: Type.String(),
      }),
      request: closedObject({ id: nullable(Type.String()) }),
      resource: closedObject({
        id: Type.String(),
        type: Type.String(),
        action: Type.String(),
        meta: Type.Record(Type.String(), Type.Unknown()),
      }),
    }),
  ),
  pagination: closedObject({
    current_page: Type.Integer(),
    prev_page: page,
    next_page: page,
    total_pages: Type.Integer(),
    total_count: Type.Integer(),
  }),
})

export function auditTrail(events: readonly ListedEvent[], page: Page, total: number): object {
  const { pagination } = pagingOf('', [], page, total)
  return {
    data: events.map(entryOf),
    pagination: {
      current_page: pagination['current-page'],
      prev_page: pagination['prev-page'],
      next_page: pagination['next-page'],
      total_pages: pagination['total-pages'],
      total_count: pagination['total-count'],
    },
  }
}

function entryOf(event: ListedEvent): object {
  return {
    id: idOf(event),
    version: '0',
    type: 'Resource',
    timestamp: event.at,
    auth: {
      accessor_id: event.actor_id,
      description: event.actor_name,
      type: event.actor_kind === 'system' ? 'System' : 'Client',
      impersonator_id: null,
      organization_id: event.organization_id,
    },
    request: { id: event.request_id },
    resource: {
      id: event.resource_id,
      // In this format `authentication-tokens` is `authentication_token`, and `team-token.create` is `create`.
      type: event.resource_type.replaceAll('-', '_').replace(/s$/, ''),
      action: event.action.slice(event.action.lastIndexOf('.') + 1),
      meta: { event: event.action, address: event.address, ...detailsOf(event) },
    },
  }
}
