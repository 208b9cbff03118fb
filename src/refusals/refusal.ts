import type { Actor } from '../access/actor.ts'
import type { Standing, Target } from '../access/decide.ts'
import type { Permission } from '../access/rules.ts'

/** A 404 to a valid token, as the request leaves it: what was at hand, with nothing looked up for it. */
export type Refusal = {
  readonly requestId: string
  readonly at: Date
  readonly actor: Actor
  readonly method: string
  /** The route's path below /api/v2; of an endpoint that there is not, the whole path as it was asked for. */
  readonly path: string
  /** JSON of what the path and the query or body name: a copy, since a part of a text keeps the whole in memory. */
  readonly named: string
  /** What was judged; null where there is no such endpoint. */
  readonly permission: Permission | null
  readonly reason: 'missing' | 'forbidden'
  /** Of what was there: undefined when nothing was. */
  readonly found: Found | undefined
}

export type Found = {
  readonly organizationId: string | undefined
  readonly workspaceId: string | undefined
  readonly projectId: string | undefined
  readonly standing: Standing
  readonly target: Target
}

/** What a request names: the parameters of its path, and what stands in its query or body instead. */
export type Named = {
  params: Readonly<Record<string, string>>
  workspaceId?: string | undefined
  projectId?: string | undefined
  organizationName?: string | undefined
  workspaceName?: string | undefined
}
