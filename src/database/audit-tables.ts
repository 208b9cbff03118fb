import type { Generated } from 'kysely'

export type AuditEventTable = {
  number: Generated<number>
  at: string
  request_id: string | null
  actor_kind: 'user' | 'team' | 'organization' | 'system'
  actor_id: string | null
  actor_name: string | null
  token_id: string | null
  action: string
  organization_id: string | null
  resource_type: string
  resource_id: string
  /** JSON object with names and ids of what changed; never a value or a token. */
  details: string
  /** Position in the chain, from 1. */
  position: number
  /** The first half of the event's link: a MAC over its content and the previous link. */
  mac: Uint8Array
}

/** A chain of audit events: of one organization, or of the site (`organization_id` is ''). */
export type AuditChainTable = {
  organization_id: string
  /** Position, time (empty if there is no event) and full link of the newest event. */
  position: number
  at: string
  link: Uint8Array
  /** Position of the newest event that PURSER_AUDIT_DAYS has deleted; 0 if none was deleted. */
  start_position: number
  /** The sealed state from which the remaining chain continues: AuditStart. */
  start: Uint8Array
  /** Time of the oldest event still stored; null if there is none. */
  oldest_at: string | null
}
