import type { Actor } from '../access/actor.ts'
import type { Standing, Target } from '../access/decide.ts'
import type { Permission } from '../access/rules.ts'

/** A 404 to a valid token. It has only what the request already knew, so that recording it needs no query. */
export type Refusal = {
  readonly requestId: string
  readonly at: Date
  readonly actor: Actor
  readonly method: string
  /** The route's path below /api/v2. For an unknown endpoint: the whole requested path, masked. */
  readonly path: string
  /**
   * JSON of the names in path, query or body. It is a copy, because a substring would keep the whole request in memory.
   */
  readonly named: string
  /** The permission that was checked; null if there is no such endpoint. */
  readonly permission: Permission | null
  readonly reason: 'missing' | 'forbidden'
  /** Facts about the object; undefined if it does not exist. */
  readonly found: Found | undefined
}

export type Found = {
  readonly organizationId: string | undefined
  readonly workspaceId: string | undefined
  readonly projectId: string | undefined
  readonly standing: Standing
  readonly target: Target
}

/** The names in a request: path parameters, and ids and names in the query or body. */
export type Named = {
  params: Readonly<Record<string, string>>
  workspaceId?: string | undefined
  projectId?: string | undefined
  organizationName?: string | undefined
  workspaceName?: string | undefined
}
