import type { Generated } from 'kysely'
import type { Flag } from './tables.ts'

/** A 404 to a valid token, with its reason. Stored for a limited time, for those who can grant access. */
export type RefusalTable = {
  number: Generated<number>
  /** Request id and time of the newest request in this row; equal refusals share a row. */
  request_id: string
  at: string
  /** The organization that owns the object. Null if there is none; then only site administrators read the row. */
  organization_id: string | null
  method: string
  /** With the requested ids and names, without the query string. What may be a token is masked. */
  path: string
  /** The permission that was checked; null if there is no such endpoint. */
  permission: string | null
  reason: 'missing' | 'forbidden'
  /** 1 if the object in the path exists: access was forbidden, or a part of the object is missing. */
  is_found: Flag
  object_type: string | null
  object_id: string | null
  caller_type: 'users' | 'teams' | 'organizations'
  caller_id: string | null
  caller_name: string
  /** 1 if the caller belonged to the organization at that time; only then its owners are told who it was. */
  is_inside: Flag
  /**
   * 1 if the row counts towards the shared part of the retained rows. These are refusals of outsiders, and, if no
   * organization owns the object, of team and organization tokens, because anyone can create any number of those.
   */
  is_shared: Flag
  /** JSON array of columns of the permission table: the caller's roles and grants. */
  standing: string
  /** JSON array of grants, each of which alone would have allowed the request. */
  granted_by: string
  /** A hash of everything but time and request id. Null in rows that an older version wrote. */
  alike: string | null
  count: Generated<number>
  first_at: string
}

/** Ids of the newest requests that a refusal counts. */
export type RefusalRequestTable = {
  request_id: string
  refusal_number: number
  at: string
}
