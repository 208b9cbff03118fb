import type { Transaction } from '../database/database.ts'
import { lockAuditHead, type AuditHead } from './audit-chain-store.ts'
import { withAddress } from './audit-addresses.ts'
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

export type AuditContext = {
  at: string
  requestId: string | null
  /** The address of the client. Null for the server itself and its command line. */
  address: string | null
  actor: AuditActor | null
  key: AuditKey
}

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

/**
 * To be called before an insert that is the last statement of its create. If the transaction has only creates of the
 * organization, locks the chain in the packet of the insert: the audit event does not wait for that then.
 */
export function lockChainBeside(tx: Transaction, organizationId: string): void {
  const { together: count } = tx
  if (count === undefined) return
  const locking = lockAuditHead(tx, organizationId, { count, before: 0 })
  // Its failure ends the transaction.
  locking.catch(() => {})
  tx.beforeCommit(insertNoted, [{ locking }])
}

/** All have the same key, that of the server. */
type Noted =
  | { readonly key: AuditKey; readonly event: UnchainedEvent }
  | { readonly locking: Promise<AuditHead | undefined> }

async function insertNoted(tx: Transaction, noted: readonly Noted[]): Promise<void> {
  const added = noted.filter((each) => 'event' in each)
  const [first] = added
  if (first === undefined) return
  const heads = await Promise.all(noted.filter((each) => 'locking' in each).map(({ locking }) => locking))
  const events = added.map(({ event }) => event)
  await chainAuditEvents(
    tx,
    first.key,
    events,
    heads.filter((head) => head !== undefined),
  )
}

export function unchained(
  { at, requestId, address, actor: acting }: Omit<AuditContext, 'key'>,
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
    // The address of somebody whom the organization may not know would tell who it was.
    details: withAddress(event.details ?? {}, event.actor === undefined ? address : null),
  }
}
