import type { Transaction } from '../database/database.ts'
import { chainAuditEvents, type UnchainedEvent } from './audit-chains.ts'
import type { AuditKey } from './audit-links.ts'

/** One act, as the audit trail keeps it. `details` holds names, ids and what changed: never a value or a token. */
export type AuditEvent = {
  action: string
  organizationId?: string | null
  resourceType: string
  resourceId: string
  details?: Record<string, unknown>
  /** Instead of who acted, for those whom the organization may not know. */
  actor?: AuditActor
}

/** Who acted: null is the server itself, or whoever sits at its command line. */
export type AuditActor = {
  kind: 'user' | 'team' | 'organization'
  userId: string | null
  organizationId?: string | null
  name?: string
  tokenId?: string
}

export type AuditContext = { at: string; requestId: string | null; actor: AuditActor | null; key: AuditKey }

/** Writes events, each at the end of the chain of its organization. Last in a transaction, since chains stay locked. */
export async function insertAuditEvents(
  tx: Transaction,
  context: AuditContext,
  events: readonly AuditEvent[],
): Promise<void> {
  await chainAuditEvents(
    tx,
    context.key,
    events.map((event) => unchained(context, event)),
  )
}

export function unchained(
  { at, requestId, actor: acting }: Omit<AuditContext, 'key'>,
  event: AuditEvent,
): UnchainedEvent {
  const actor = event.actor ?? acting
  return {
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
  }
}
