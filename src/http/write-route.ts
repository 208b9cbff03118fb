import type { Permission } from '../access/rules.ts'
import type { Config } from '../config.ts'
import { systemClock, type Clock, type Timestamp } from '../core/clock.ts'
import { AppError, type Problem } from '../core/errors.ts'
import type { QueryParameters } from '../jsonapi/parameters.ts'
import { IncomingBody } from './body.ts'
import type { DryRun } from './dry-run.ts'
import type { Outcome } from './outcome.ts'
import type { Judged } from './permit.ts'
import type { Decided, Document, Loaded, Permitted, Place, Route, RouteDocumentation } from './route.ts'
import { problemsOf, WriteRequest } from './write-request.ts'

/** What the last checks of a write may use. They run in its transaction. */
type Checking<A, R, B = unknown, Prepared = unknown, P = {}> = Permitted<A, R, P> & {
  readonly body: B
  readonly prepared: Prepared
  /** The time of the write. */
  readonly now: Timestamp
}

export type Acting<A, R, B = unknown, Prepared = unknown, P = {}, Checked = unknown> = Checking<
  A,
  R,
  B,
  Prepared,
  P
> & {
  /** What `problems` returned. */
  readonly checked: Checked
}

/** What parsing a body may use. */
type Parsing<A> = {
  /** Undefined if a body is only checked, or names the object itself. */
  readonly address: A | undefined
  readonly config: Config
  readonly clock: Clock
}

export type WriteDefinition<
  A,
  R,
  P extends QueryParameters,
  B,
  Prepared,
  Checked,
  Result,
> = RouteDocumentation & {
  readonly method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly permission: Permission
  readonly query?: P
  /** 204 sends no document; the others need `document`. */
  readonly status: 200 | 201 | 204
  /** Conditions to check before a large body is read. Runs in the transaction of the first decision. */
  readonly beforeBody?: (context: Decided<A, R>) => Promise<void>
  /**
   * Parses the body; throws 422. Without it the body is not read. If the result has `problems`, they are refused
   * together with those of `problems` below.
   */
  readonly body?: (bytes: Buffer, context: Parsing<A>) => B
  /**
   * For a route whose body, not its path, names the object: takes the address from the body, before `load`. So a
   * malformed body gets 422 for any valid token, before the object is looked up.
   */
  readonly addressInBody?: (body: B) => A | undefined
  /**
   * The detail of a 403 for a caller who may see the object but not do this. With 404 a client would believe that the
   * object is gone. Undefined: 404 as everywhere else.
   */
  readonly refusal?: (context: Decided<A, R>) => string | undefined
  /** Work that must not run inside a transaction: hashing, scanning. It does not run if the body has problems. */
  readonly prepare?: (body: B, context: Omit<Decided<A, R>, 'tx'>) => Promise<Prepared>
  /**
   * Adds to `problems`, which holds the body's own. With one or more, the answer is one 422 with all of them. Returns
   * what it found for `act`. `prepared` is undefined if the body has problems.
   */
  readonly problems?: (
    context: Checking<A, R, B, Prepared | undefined, P> & { readonly problems: Problem[] },
  ) => Promise<Checked> | Checked
  readonly act: (context: Acting<A, R, B, Prepared, P, Checked>) => Promise<Outcome<Result>>
  /**
   * Whether the act inserts one object and takes nothing from anybody. Such writes run together on PostgreSQL: see
   * `TransactionOptions.isOneInsert`.
   */
  readonly isOneInsert?: (body: NoInfer<B>) => boolean
  /** The write changes nobody's access, so the organization's version and the documents cached by it stay. */
  readonly keepsAccess?: true
  readonly document?: (
    context: Acting<A, R, B, Prepared, P, Checked> & { readonly result: Result },
  ) => Document | Promise<Document>
  /** Allows `?dry-run=true`: the act runs and is rolled back. Reads what the difference is computed from. */
  readonly dryRun?: (context: Decided<A, R> & { body: B }) => Promise<DryRun>
}

/** A route that changes the object of a place, or something of it: `suffix` is added to the place's path. */
export function write<
  A,
  R extends Loaded,
  P extends QueryParameters = {},
  B = undefined,
  Prepared = undefined,
  Checked = undefined,
  Result = undefined,
>(
  place: Place<A, R>,
  suffix: string,
  definition: WriteDefinition<A, R, P, B, Prepared, Checked, Result>,
): Route {
  const { method, status, permission, refusal, body, document } = definition
  if (status !== 204 && document === undefined) throw new Error(`${method} ${place.path} has no document`)
  const path = place.path + suffix
  const judged: Judged<A, R> = { method, path, permission, load: place.load, refusal }
  const served = { ...definition, judged, place }
  return {
    ...definition,
    path,
    hasBody: body !== undefined,
    hasDryRun: definition.dryRun !== undefined,
    checkBody: (bytes, config) => {
      try {
        return problemsOf(body?.(bytes, { address: undefined, config, clock: systemClock }))
      } catch (error) {
        if (error instanceof AppError) return error.problems
        throw error
      }
    },
    run: async (call, deps) => {
      const incoming = new IncomingBody(call, definition.isLarge === true ? 'large' : 'small', deps)
      try {
        return await new WriteRequest(served, call, deps).answer(incoming)
      } finally {
        incoming.release()
      }
    },
  }
}
