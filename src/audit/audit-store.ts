import type { Transaction } from '../database/database.ts'

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

export async function insertAuditEvents(
  tx: Transaction,
  context: AuditContext,
  events: readonly AuditEvent[],
): Promise<void> {
  const { actor } = context
  await tx.db
    .insertInto('audit_events')
    .values(
      events.map((event) => ({
        at: context.at,
        request_id: context.requestId,
        actor_kind: actor?.kind ?? 'system',
        actor_id: actor === null ? null : (actor.userId ?? actor.organizationId ?? null),
        actor_name: actor?.name ?? null,
        token_id: actor?.tokenId ?? null,
        action: event.action,
        organization_id: event.organizationId ?? null,
        resource_type: event.resourceType,
        resource_id: event.resourceId,
        details: JSON.stringify(event.details ?? {}),
      })),
    )
    .execute()
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
