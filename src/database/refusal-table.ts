import type { Generated } from 'kysely'
import type { Flag } from './tables.ts'

/** A 404 to a valid token, and why. Kept for a while, for those who may change it. */
export type RefusalTable = {
  number: Generated<number>
  /** Of the newest of those that are alike, and when it was. */
  request_id: string
  at: string
  /** The organization that has what was addressed; null: nobody's, so that site administrators alone read it. */
  organization_id: string | null
  method: string
  /** With the ids and names that were asked for, without the query. */
  path: string
  /** What was judged; null where there is no such endpoint. */
  permission: string | null
  reason: 'missing' | 'forbidden'
  /** 1 when what the path names was there: then it was forbidden, or only a part of it is missing. */
  is_found: Flag
  object_type: string | null
  object_id: string | null
  caller_type: 'users' | 'teams' | 'organizations'
  caller_id: string | null
  caller_name: string
  /** 1 for who belonged to the organization then: its owners are told who it was. */
  is_inside: Flag
  /**
   * 1 for what shares one part of what is kept: an outsider's, and of what is nobody's that of tokens of teams and
   * organizations, of which anybody can make as many as they like.
   */
  is_shared: Flag
  /** JSON array of columns of the table of permissions: what the caller was and held. */
  standing: string
  /** JSON array of what would have let the caller through, each alone. */
  granted_by: string
  /** A hash of everything but the time and the request's id; null of what an older version wrote. */
  alike: string | null
  count: Generated<number>
  first_at: string
}

/** The ids of the newest of the requests that a refusal counts. */
export type RefusalRequestTable = {
  request_id: string
  refusal_number: number
  at: string
}
