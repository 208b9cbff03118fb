import type { TSchema } from 'typebox'
import type { Actor } from '../access/actor.ts'
import type { Standing, Target } from '../access/decide.ts'
import type { Permission } from '../access/rules.ts'
import type { AuditEvent } from '../audit/audit-store.ts'
import type { Transaction } from '../database/database.ts'
import type { OrganizationFacts } from '../access/standing.ts'
import type { AcceptedBody } from '../jsonapi/body.ts'
import type { QueryParameter } from '../jsonapi/parameters.ts'
import type { Answer, Call } from './call.ts'
import type { Deps } from './deps.ts'
import type { Watch } from './dry-run.ts'

/** The result of `load`: the object's organization (undefined: the user's own or the site's), and facts for rules. */
export type Loaded = {
  readonly organization?: OrganizationFacts
  readonly target: Target
  /** The workspace and project of the object, where access to it can be granted. */
  readonly workspace?: { readonly id: string; readonly project_id: string }
  readonly project?: { readonly id: string }
  /** A second object that the request names, and the permission needed on it. Without that: 404 too. */
  readonly also?: { readonly permission: Permission; readonly target: Target } | undefined
  /** Replaces the route's permission if it depends on the object: for example on a token's kind. */
  readonly permission?: Permission
}

/** The reader that a document is made for. */
export type Viewer = {
  readonly tx: Transaction
  readonly actor: Actor
  readonly standing: Standing
  readonly deps: Deps
}

/** The facts about a permitted request. */
export type Permitted<A, R> = Viewer & {
  readonly address: A
  readonly resource: R
  readonly call: Call
}

/** The audit event for revealed values, or a function that finds it after the transaction (undefined: none). */
export type Reveal = AuditEvent | (() => Promise<AuditEvent | undefined>)

export type Acting<A, R, B> = Permitted<A, R> & {
  readonly body: B
  /** Adds an audit event to the same transaction. */
  readonly audit: (event: AuditEvent) => void
  /** Declares that nothing had to change, so there is no audit event. */
  readonly unchanged: () => void
}

/** The description of a route, which becomes part of the OpenAPI document. */
export type RouteDocumentation = {
  /** The operation in a few words: "List teams". */
  summary: string
  /** Query parameters, without those of the page. */
  query?: Readonly<Record<string, QueryParameter>>
  /** The resource type of the answer's data, or of a list's items. Undefined: the answer has no document. */
  answers?: string
  /** Instead of `answers`, for an answer that is not JSON:API: its schema. */
  answersJson?: TSchema
  isList?: boolean
  /** The page is also directly in `meta`, where go-tfe v2 looks for the page of projects. */
  hasPageInMeta?: true
  /** The list is not paged: everything is on its only page. */
  isUnpaged?: boolean
}

type Common<A, R extends Loaded> = RouteDocumentation & {
  /** Below /api/v2, with `:name` for parameters. */
  path: string
  permission: Permission
  /** Reads only path and query. Throws 400 for an invalid query; undefined if the path cannot name anything. */
  address: (call: Call) => A | undefined
  /**
   * Loads the object and the facts for the rules, but does not decide. Undefined: it does not exist. It must run the
   * same queries whether or not it exists (see NO_ID), at a cost that does not depend on others' data, so the time of a
   * 404 reveals nothing.
   */
  load: (context: { tx: Transaction; address: A; actor: Actor; deps: Deps }) => Promise<R | undefined>
}

export type ReadRoute<A, R extends Loaded> = Common<A, R> & {
  method: 'GET'
  /**
   * Makes the answer. `reveal` adds audit events for sensitive values; the answer is sent only after they are written.
   */
  document: (context: Permitted<A, R> & { reveal: (event: Reveal) => void }) => Promise<Answer>
}

export type WriteRoute<A, R extends Loaded, B, P> = Common<A, R> & {
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  status: 200 | 201 | 204
  /** Conditions to check before a large body is read. Runs in the transaction of the first decision. */
  beforeBody?: (context: Permitted<A, R>) => Promise<void>
  /** Refusals that not all writes have: 403 for the last owner or administrator, 409, 412. */
  refuses?: readonly (403 | 409 | 412)[]
  /** Parses the body for `act`; throws 422. Without it the body is not read. */
  body?: (bytes: Buffer, address: A, deps: Deps) => B
  /**
   * For a route whose body, not its path, names the object: takes the address from the body, before `load`. So a
   * malformed body gets 422 for any valid token, before the object is looked up.
   */
  addressInBody?: (body: B) => A | undefined
  /** The allowed body, for the API description. */
  accepts?: AcceptedBody
  /** Allows bodies up to PURSER_MAX_BODY_BYTES instead of 1 MiB, because they contain states. */
  isLarge?: true
  /**
   * The detail of a 403 for a caller who may see the object but not do this. With 404 a client would believe that the
   * object is gone. Undefined: 404 as everywhere else.
   */
  refusal?: (context: Permitted<A, R>) => string | undefined
  /** Work that must not run inside a transaction: hashing, scanning. */
  prepare?: (body: B, context: Omit<Permitted<A, R>, 'tx'>) => Promise<P>
  act: (context: Acting<A, R, B> & { prepared: P }) => Promise<Answer>
  /**
   * With `?dry-run=true` the act runs and is rolled back. Before that, this reads outside the write's transaction what
   * the difference is computed from. A route without it answers 400 to a dry run.
   */
  dryRun?: (context: Permitted<A, R> & { body: B }) => Promise<Watch>
}

/** A route of any type, for the runner. `readRoute` and `writeRoute` have checked that its fields fit together. */
export type Route = ReadRoute<never, never> | WriteRoute<never, never, never, never>

export function readRoute<A, R extends Loaded>(definition: Omit<ReadRoute<A, R>, 'method'>): Route {
  return { ...definition, method: 'GET' } as unknown as Route
}

export function writeRoute<A, R extends Loaded, B = undefined, P = undefined>(
  definition: WriteRoute<A, R, B, P>,
): Route {
  return definition as unknown as Route
}
