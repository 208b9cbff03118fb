import type { Selectable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import type { AuditEventTable } from '../database/tables.ts'

/** One act, as the audit trail keeps it. `details` holds names, ids and what changed: never a value or a token. */
export type AuditEvent = {
  action: string
  organizationId?: string | null
  resourceType: string
  resourceId: string
  details?: Record<string, unknown>
}

/** Who acted: null is the server itself, or whoever sits at its command line. */
export type AuditActor = {
  kind: 'user' | 'team' | 'organization'
  userId: string | null
  organizationId?: string | null
  name?: string
  tokenId?: string
}

export type AuditContext = { at: string; requestId: string | null; actor: AuditActor | null }

const insertion = prepared<Omit<Selectable<AuditEventTable>, 'number'>>()((db, param) =>
  db.insertInto('audit_events').values({
    at: param('at'),
    request_id: param('request_id'),
    actor_kind: param('actor_kind'),
    actor_id: param('actor_id'),
    actor_name: param('actor_name'),
    token_id: param('token_id'),
    action: param('action'),
    organization_id: param('organization_id'),
    resource_type: param('resource_type'),
    resource_id: param('resource_id'),
    details: param('details'),
  }),
)

export async function insertAuditEvents(
  tx: Transaction,
  { at, requestId, actor }: AuditContext,
  events: readonly AuditEvent[],
): Promise<void> {
  for (const event of events) {
    await tx.all(insertion, {
      at,
      request_id: requestId,
      actor_kind: actor?.kind ?? 'system',
      actor_id: actor?.userId ?? actor?.organizationId ?? null,
      actor_name: actor?.name ?? null,
      token_id: actor?.tokenId ?? null,
      action: event.action,
      organization_id: event.organizationId ?? null,
      resource_type: event.resourceType,
      resource_id: event.resourceId,
      details: JSON.stringify(event.details ?? {}),
    })
  }
}

/** Deletes some of the events before a time, oldest first; how many. */
export async function deleteAuditEventsBefore(tx: Transaction, at: string, limit: number): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('audit_events')
    .where('number', 'in', (eb) =>
      eb.selectFrom('audit_events').where('at', '<', at).select('number').orderBy('at').limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}
