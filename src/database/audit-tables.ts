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
  /** JSON object: what changed, names and ids; never a value or a token. */
  details: string
  /** Its place in the chain, from 1. */
  position: number
  /** Half of its link: over its content and the link before. */
  mac: Uint8Array
}

/** The audit events of an organization, one behind the other, or those of the whole site: then `organization_id` is ''. */
export type AuditChainTable = {
  organization_id: string
  /** Of the newest event: its position, its time (empty when there is none) and its whole link. */
  position: number
  at: string
  link: Uint8Array
  /** Of the newest event that PURSER_AUDIT_DAYS has deleted: 0 before that. */
  start_position: number
  /** What the chain goes on from, sealed: AuditStart. */
  start: Uint8Array
  /** Time of the oldest event that is kept, null when there is none. */
  oldest_at: string | null
}
