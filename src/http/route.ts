import type { TSchema } from 'typebox'
import type { Actor } from '../access/actor.ts'
import type { Standing, Target } from '../access/decide.ts'
import type { Permission } from '../access/rules.ts'
import type { OrganizationFacts } from '../access/standing.ts'
import type { Config } from '../config.ts'
import type { Problem } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import type { AcceptedBody } from '../jsonapi/body.ts'
import type { QueryParameters, QueryValues } from '../jsonapi/parameters.ts'
import type { Answer, AnswerBody, Call } from './call.ts'
import type { Deps, RunnerDeps } from './deps.ts'

/** The result of `load`: the object's organization (undefined: the user's own or the site's), and facts for rules. */
export type Loaded = {
  readonly organization?: OrganizationFacts
  readonly target: Target
  /** The workspace and project of the object, where access to it can be granted. */
  readonly workspace?: { readonly id: string; readonly project_id: string }
  readonly project?: { readonly id: string }
  /** A second object that the request names, and the permission needed on it. Without that: 404 too. */
  readonly also?: { readonly permission: Permission; readonly target: Target }
  /** Replaces the route's permission if it depends on the object: for example on a token's kind. */
  readonly permission?: Permission
}

/** What `load` may use. It runs before the decision. */
export type Loading<A> = {
  readonly tx: Transaction
  readonly address: A
  readonly actor: Actor
  readonly deps: Deps
}

/** The object that a path names. All routes about the object share it. */
export type Place<A, R extends Loaded> = {
  /** Below /api/v2, with `:name` for parameters. */
  readonly path: string
  /** The resource type of the object, for audit events. */
  readonly type: string
  /** Undefined if the path cannot name anything. */
  readonly address: (call: Call) => A | undefined
  /**
   * Loads the object and the facts for the rules, but does not decide. Undefined: it does not exist. It must run the
   * same queries whether or not it exists (see NO_ID), at a cost that does not depend on others' data, so the time of a
   * 404 reveals nothing.
   */
  readonly load: (context: Loading<A>) => Promise<R | undefined>
}

/** The reader that a document is made for. */
export type Viewer = {
  readonly tx: Transaction
  readonly actor: Actor
  readonly standing: Standing
  readonly deps: Deps
}

/** The facts about a permitted request, without the values of its query. */
export type Decided<A, R> = Viewer & {
  readonly address: A
  readonly resource: R
  readonly call: Call
}

/** The facts about a permitted request. */
export type Permitted<A, R, P = {}> = Decided<A, R> & { readonly query: QueryValues<P> }

/** The body of the answer, which the runner sends with the route's status; or a whole answer. */
export type Document = AnswerBody | Answer

/** The description of a route, which becomes part of the OpenAPI document. */
export type RouteDocumentation = {
  /** The operation in a few words: "List teams". */
  readonly summary: string
  /** Query parameters, without those of the page. */
  readonly query?: QueryParameters
  /** The resource type of the answer's data, or of a list's items. Undefined: the answer has no document. */
  readonly answers?: string
  /** Instead of `answers`, for an answer that is not JSON:API: its schema. */
  readonly answersJson?: TSchema
  readonly isList?: boolean
  /** The page is also directly in `meta`, where go-tfe v2 looks for the page of projects. */
  readonly hasPageInMeta?: true
  /** Numbers in `meta` beside the page, which the document adds. */
  readonly counts?: readonly string[]
  /**
   * Pages ask for it again and again, so its answer has an ETag, except a revealed value or an `Answer` that the document
   * makes itself.
   */
  readonly isPolled?: true
  /** The list is not paged: everything is on its only page. */
  readonly isUnpaged?: boolean
  /** Refusals that not all routes have: 403 for the last owner or administrator, or without a recent password, 409, 412. */
  readonly refuses?: readonly (403 | 409 | 412)[]
  /** The allowed body. */
  readonly accepts?: AcceptedBody
  /** Allows bodies up to PURSER_MAX_BODY_BYTES instead of 1 MiB, because they contain states. */
  readonly isLarge?: true
}

/** A route as the server, the API description and the import see it. `read`, `list` and `write` make it. */
export type Route = RouteDocumentation & {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  readonly permission: Permission
  readonly status: 200 | 201 | 204
  readonly hasBody: boolean
  readonly hasDryRun: boolean
  /** Answers a request: address → load → decide → body → act → document. Throws AppError. */
  readonly run: (call: Call, deps: RunnerDeps) => Promise<Answer>
  /** The problems of a body that need no database to find. */
  readonly checkBody: (bytes: Buffer, config: Config) => readonly Problem[]
}
