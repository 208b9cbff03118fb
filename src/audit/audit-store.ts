import type { Transaction } from '../database/database.ts'
import { chainAuditEvents, type UnchainedEvent } from './audit-chains.ts'
import type { AuditKey } from './audit-links.ts'

/** An event in the audit trail. `details` has names, ids and what changed, never a value or a token. */
export type AuditEvent = {
  action: string
  organizationId?: string | null
  resourceType: string
  resourceId: string
  details?: Record<string, unknown>
  /** Replaces the real actor if the organization may not learn who it was. */
  actor?: AuditActor
}

/** The actor. Null stands for the server itself or its command line. */
export type AuditActor = {
  kind: 'user' | 'team' | 'organization'
  userId: string | null
  organizationId?: string | null
  name?: string
  tokenId?: string
}

export type AuditContext = { at: string; requestId: string | null; actor: AuditActor | null; key: AuditKey }

/** Inserts each event at the end of its organization's chain, just before the commit, because chains stay locked until then. */
export function insertAuditEvents(
  tx: Transaction,
  context: AuditContext,
  events: readonly AuditEvent[],
): void {
  const { key } = context
  tx.beforeCommit(
    insertNoted,
    events.map((event) => ({ key, event: unchained(context, event) })),
  )
}

/** All have the same key, that of the server. */
type Noted = { readonly key: AuditKey; readonly event: UnchainedEvent }

async function insertNoted(tx: Transaction, noted: readonly Noted[]): Promise<void> {
  const [first] = noted
  if (first === undefined) return
  await chainAuditEvents(
    tx,
    first.key,
    noted.map(({ event }) => event),
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
