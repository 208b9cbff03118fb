import { findActor, hashToken } from '../access/actor-store.ts'
import { accountIdOf, type Actor } from '../access/actor.ts'
import { isPermitted } from '../access/decide.ts'
import { judgedTarget, needsMore } from '../access/delegation-store.ts'
import { NotPermitted } from '../access/not-permitted.ts'
import type { Permission } from '../access/rules.ts'
import { standingOutside } from '../access/standing-store.ts'
import { nowhere } from '../access/standing.ts'
import { refuseUserToken } from '../access/token-policy.ts'
import { AppError, notFound } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { EvenTransaction } from '../database/even-transaction.ts'
import type { Named } from '../refusals/refusal.ts'
import { findSessionActor } from '../access/session-actor-store.ts'
import { isFromElsewhere, isFromOwnPage, OWN_HEADER, sessionSecretOf } from '../sessions/session-cookie.ts'
import type { Call } from './call.ts'
import type { RunnerDeps } from './deps.ts'
import type { Decided, Loaded, Place, Route } from './route.ts'

const MAX_TOKEN_LENGTH = 512

/** The fields of a route that the decision needs. */
export type Judged<A, R extends Loaded> = Pick<Route, 'method' | 'path' | 'permission'> & {
  readonly load: Place<A, R>['load']
  /** See `WriteDefinition.refusal`. */
  readonly refusal?: ((context: Decided<A, R>) => string | undefined) | undefined
}

/** The token of a request, in one spelling. Undefined without one. */
export function tokenOf({ headers: { authorization: header } }: Pick<Call, 'headers'>): string | undefined {
  if (header === undefined || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  const token = header.slice(7).trim()
  return token === '' || token.length > MAX_TOKEN_LENGTH ? undefined : token
}

/** The hash of the request's token or session, made once: no memory that outlives the request has the secret itself. */
export function callerHashOf(call: Call): string {
  return (call.callerHash ??= hashToken(tokenOf(call) ?? sessionSecretOf(call) ?? ''))
}

/** The actor of the request's token. Throws 401. */
export async function authenticate(tx: Transaction, call: Call, deps: RunnerDeps): Promise<Actor> {
  const { operator } = deps
  if (call.headers.authorization === undefined) return authenticateSession(tx, call, deps)
  const hash = callerHashOf(call)
  const hasToken = tokenOf(call) !== undefined
  if (hasToken && hash === operator?.tokenHash) return operator.actor
  const now = deps.clock.now()
  const found = hasToken ? await findActor(tx, hash, now) : undefined
  if (found === undefined) throw unauthorized(hasToken ? hash : undefined, deps)
  deps.accounts.add(hash, found.actor)
  deps.lastUsed.touch(found, now)
  call.account = accountIdOf(found.actor)
  return found.actor
}

/** The user who has signed in. A change must come from a page of this server: others can make a browser send it, too. */
async function authenticateSession(tx: Transaction, call: Call, deps: RunnerDeps): Promise<Actor> {
  const hash = callerHashOf(call)
  const now = deps.clock.now()
  const found =
    sessionSecretOf(call) === undefined ? undefined : await findSessionActor(tx, hash, now, deps.config)
  if (found === undefined) throw unauthorized(hash, deps)
  deps.accounts.add(hash, found.actor)
  // A link on another site must not make somebody reveal a value, which the audit trail would hold against them.
  const isRead = ['GET', 'HEAD'].includes(call.method) && !isFromElsewhere(call.headers)
  if (!isRead && !isFromOwnPage(call.headers, call.origin)) {
    const detail = `a session counts only from this server's own pages; changes need the header ${OWN_HEADER}`
    throw new AppError('unauthorized', detail)
  }
  deps.sessionsUsed.touch(found, now)
  call.account = accountIdOf(found.actor)
  return found.actor
}

function unauthorized(hash: string | undefined, { accounts }: RunnerDeps): AppError {
  if (hash !== undefined) accounts.forget(hash)
  return new AppError('unauthorized')
}

const missing: Loaded = { target: {} }

/** Loads and decides. A missing object and a forbidden one leave by the same exit: 404. */
export async function permit<A, R extends Loaded>(
  route: Judged<A, R>,
  tx: Transaction,
  address: A | undefined,
  actor: Actor,
  call: Call,
  deps: RunnerDeps,
): Promise<Decided<A, R>> {
  const even = new EvenTransaction(tx)
  const loaded = address === undefined ? undefined : await route.load({ tx: even, address, actor, deps })
  const organization = loaded?.organization
  const standing =
    organization === undefined ? standingOutside(actor) : await deps.standings.in(even, actor, organization)
  // A deleted organization counts as missing, although its rows still exist.
  const isDeleted = organization !== undefined && organization.deleted_at !== null
  const resource = isDeleted ? undefined : loaded
  // A missing object is judged too: the time of very many refusals would show whether they were.
  const judged: Loaded = resource ?? missing
  const permission = judged.permission ?? route.permission
  // Without `await` for the permissions that need nothing more, which are nearly all reads.
  const target = needsMore(permission, standing)
    ? await judgedTarget(even, { actor, standing }, judged.target)
    : judged.target
  const refused = [{ permission, target }, judged.also].find(
    (one) => one !== undefined && !isPermitted(one.permission, actor, standing, one.target),
  )
  let found: Noted['found']
  if (address !== undefined && resource !== undefined) {
    const whole = target === resource.target ? resource : { ...resource, target }
    const decided = { tx, address, actor, standing, resource: whole, call, deps }
    const refusal = refused === undefined ? undefined : route.refusal?.(decided)
    if (refused === undefined || refusal !== undefined) {
      if (organization !== undefined) refuseUserToken(actor, standing, organization, deps.clock)
      if (refusal !== undefined) throw new AppError('forbidden', refusal)
      return decided
    }
    found = decided
  }
  // Without an organization, run the same queries as for a hidden object in one, so that both take the same time.
  if (organization === undefined) await deps.standings.in(even, actor, nowhere)
  await even.makeUp()
  // Last: a read that lacks a statement runs again, and is noted once.
  note(route, { address, actor, call, found }, deps, found && refused)
  throw notFound()
}

type Noted = {
  readonly address: unknown
  readonly actor: Actor
  readonly call: Call
  /** The object, if it exists. */
  readonly found?: Pick<Decided<unknown, Loaded>, 'resource' | 'standing'>
}

/**
 * Records a 404 in memory, once for each request. The cost is the same for missing and forbidden objects.
 *
 * @param refused what the caller may not do; undefined if something is missing
 */
function note(
  route: Pick<Route, 'method' | 'path' | 'permission'>,
  { address, actor, call, found }: Noted,
  deps: RunnerDeps,
  refused?: { readonly permission: Permission; readonly target: Loaded['target'] },
): void {
  if (call.isRefusalNoted) return
  call.isRefusalNoted = true
  const { workspaceId, projectId, organizationName, workspaceName } = (address ?? {}) as Partial<Named>
  const named: Named = { params: call.params, workspaceId, projectId, organizationName, workspaceName }
  const judged = refused ?? {
    permission: found?.resource.permission ?? route.permission,
    target: found?.resource.target,
  }
  deps.refusals.note({
    requestId: call.requestId,
    at: deps.clock.now(),
    actor,
    method: route.method,
    path: route.path,
    named: JSON.stringify(named),
    permission: judged.permission,
    reason: refused === undefined ? 'missing' : 'forbidden',
    found:
      found === undefined || judged.target === undefined
        ? undefined
        : {
            organizationId: found.resource.organization?.id,
            workspaceId: found.resource.workspace?.id,
            projectId: found.resource.workspace?.project_id ?? found.resource.project?.id,
            standing: found.standing,
            target: judged.target,
          },
  })
}

/** Records a 404 after the decision: a part of the object is missing, or another rule forbids it. */
export function noteWithin(
  error: unknown,
  route: Pick<Route, 'method' | 'path' | 'permission'>,
  permitted: Decided<unknown, Loaded> | undefined,
  deps: RunnerDeps,
): void {
  if (permitted === undefined || !(error instanceof AppError) || error.code !== 'not-found') return
  const { address, actor, call } = permitted
  const refused = error instanceof NotPermitted ? error : undefined
  note(route, { address, actor, call, found: permitted }, deps, refused)
}
