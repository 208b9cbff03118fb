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

/** What `load` found: the organization it belongs to (none: the user's or the site's own) and what rules must know. */
export type Loaded = {
  readonly organization?: OrganizationFacts
  readonly target: Target
  /** Where grants on it are made, as far as it is in a workspace or project. */
  readonly workspace?: { readonly id: string; readonly project_id: string }
  readonly project?: { readonly id: string }
  /** Something else that the request names, and what the caller needs on it: without it the answer is 404, too. */
  readonly also?: { readonly permission: Permission; readonly target: Target } | undefined
  /** Instead of the route's, where it depends on the kind of thing that was found: a token is judged by its kind. */
  readonly permission?: Permission
}

/** Through whose eyes a document is made. */
export type Viewer = {
  readonly tx: Transaction
  readonly actor: Actor
  readonly standing: Standing
  readonly deps: Deps
}

/** What is known when a request was let through. */
export type Permitted<A, R> = Viewer & {
  readonly address: A
  readonly resource: R
  readonly call: Call
}

/** What an answer reveals, or what finds it out once the answer's transaction has ended: undefined for nothing. */
export type Reveal = AuditEvent | (() => Promise<AuditEvent | undefined>)

export type Acting<A, R, B> = Permitted<A, R> & {
  readonly body: B
  /** Writes an audit event in the same transaction. */
  readonly audit: (event: AuditEvent) => void
  /** Says that nothing had to be changed, so that nothing is audited. */
  readonly unchanged: () => void
}

/** What the documentation says of a route: read off into the OpenAPI document. */
export type RouteDocumentation = {
  /** The operation in a few words: "List teams". */
  summary: string
  /** Query parameters beside the page. */
  query?: Readonly<Record<string, QueryParameter>>
  /** The resource type of the answer's data; a list's items; undefined: no document. */
  answers?: string
  /** Instead, where the answer is no JSON:API: its schema, beside its only maker. */
  answersJson?: TSchema
  isList?: boolean
  /** The page stands in `meta` itself too, where go-tfe v2 looks for that of projects. */
  hasPageInMeta?: true
  /** The whole list comes at once, as its first and only page. */
  isUnpaged?: boolean
}

type Common<A, R extends Loaded> = RouteDocumentation & {
  /** Below /api/v2, with `:name` for parameters. */
  path: string
  permission: Permission
  /** Path and query only: throws 400 for what is wrong with the query, returns undefined when the path names nothing. */
  address: (call: Call) => A | undefined
  /**
   * Undefined: there is no such thing. It may read what rules need to know, and must not decide. It runs the same queries
   * whether or not there is one (see NO_ID), and they cost the same whatever belongs to others: else the time of a 404 tells.
   */
  load: (context: { tx: Transaction; address: A; actor: Actor; deps: Deps }) => Promise<R | undefined>
}

export type ReadRoute<A, R extends Loaded> = Common<A, R> & {
  method: 'GET'
  /** Events for what the answer reveals; without them written, the answer does not leave. */
  document: (context: Permitted<A, R> & { reveal: (event: Reveal) => void }) => Promise<Answer>
}

export type WriteRoute<A, R extends Loaded, B, P> = Common<A, R> & {
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  status: 200 | 201 | 204
  /** What must be true before a large body is worth reading; judged where the first decision is made. */
  beforeBody?: (context: Permitted<A, R>) => Promise<void>
  /** Refusals that not every write has: 403 for the last owner or administrator, 409, 412. */
  refuses?: readonly (403 | 409 | 412)[]
  /** The body's bytes into what `act` takes; throws 422. Without it, a body is not read. */
  body?: (bytes: Buffer, address: A, deps: Deps) => B
  /**
   * Where the body, not the path, names what the route is about: its address, read off before `load`. So a malformed body
   * is refused to anybody with a token, and only then what it names is looked for.
   */
  addressInBody?: (body: B) => A | undefined
  /** What the body may hold, for the documentation. */
  accepts?: AcceptedBody
  /** Bodies up to PURSER_MAX_BODY_BYTES instead of a mebibyte: states come in them. */
  isLarge?: true
  /**
   * What is said, with 403, to a caller who may not do this but is shown the thing. A 404 there would let a client believe
   * that the thing is gone. Undefined: 404, as everywhere else.
   */
  refusal?: (context: Permitted<A, R>) => string | undefined
  /** Work that must not be done inside a transaction: hashing, scanning. */
  prepare?: (body: B, context: Omit<Permitted<A, R>, 'tx'>) => Promise<P>
  act: (context: Acting<A, R, B> & { prepared: P }) => Promise<Answer>
  /**
   * With `?dry-run=true` the act is done and undone. This reads beforehand, outside its transaction, what the difference
   * is told by. Without it the route cannot be tried: 400.
   */
  dryRun?: (context: Permitted<A, R> & { body: B }) => Promise<Watch>
}

/** A route of any shape, as the runner takes it: the fields of one route fit each other, which `route` has checked. */
export type Route = ReadRoute<never, never> | WriteRoute<never, never, never, never>

export function readRoute<A, R extends Loaded>(definition: Omit<ReadRoute<A, R>, 'method'>): Route {
  return { ...definition, method: 'GET' } as unknown as Route
}

export function writeRoute<A, R extends Loaded, B = undefined, P = undefined>(
  definition: WriteRoute<A, R, B, P>,
): Route {
  return definition as unknown as Route
}
