import { isJsonObject } from '../core/json-object.ts'
import { Type } from 'typebox'
import { closedObject, nullable, relationOne, resourceType, timeSchema } from '../jsonapi/description.ts'
import type { ListedEvent } from './audit-event-store.ts'

type EventView = { readonly event: ListedEvent; readonly organization: { readonly name: string } }

export const auditEventResource = resourceType<EventView>({
  type: 'audit-events',
  id: ({ event }) => idOf(event),
  attributes: {
    'created-at': [timeSchema, ({ event }) => event.at],
    action: [Type.String(), ({ event }) => event.action],
    actor: [
      closedObject({
        kind: Type.Union(['user', 'team', 'organization', 'system'].map((kind) => Type.Literal(kind))),
        id: nullable(Type.String()),
        name: nullable(Type.String()),
        'token-id': nullable(Type.String()),
      }),
      ({ event }) => ({
        kind: event.actor_kind,
        id: event.actor_id,
        name: event.actor_name,
        'token-id': event.token_id,
      }),
    ],
    resource: [
      closedObject({ type: Type.String(), id: Type.String() }),
      ({ event }) => ({ type: event.resource_type, id: event.resource_id }),
    ],
    address: [nullable(Type.String()), ({ event }) => event.address],
    'request-id': [nullable(Type.String()), ({ event }) => event.request_id],
    details: [nullable(Type.Record(Type.String(), Type.Unknown())), ({ event }) => detailsOf(event)],
    position: [Type.Integer(), ({ event }) => event.position],
    mac: [Type.String(), ({ event }) => Buffer.from(event.mac).toString('hex')],
  },
  relationships: { organization: relationOne('organizations') },
  related: ({ organization }) => ({
    organization: { data: { id: organization.name, type: 'organizations' } },
  }),
})

/**
 * A UUID (version 8) that is the event's id for ever. The event's number is not used: it would reveal other
 * organizations' activity.
 */
export function idOf({ mac }: Pick<ListedEvent, 'mac'>): string {
  const bytes = Buffer.from(mac)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** What changed; null if it is too long for a list. Clients must not see the operating-system user of the server. */
export function detailsOf({ details }: Pick<ListedEvent, 'details'>): Record<string, unknown> | null {
  const read = details === null ? null : readDetails(details)
  if (read === null) return null
  const { 'command-line-user': _user, ...shown } = read
  return shown
}

/** Returns null for invalid JSON: an event that was tampered with must not make the others unreadable. */
export function readDetails(details: string): Record<string, unknown> | null {
  try {
    const read: unknown = JSON.parse(details)
    return isJsonObject(read) ? read : null
  } catch {
    return null
  }
}
