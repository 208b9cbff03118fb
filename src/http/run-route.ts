import { findActor, hashToken } from '../access/actor-store.ts'
import type { Actor } from '../access/actor.ts'
import { isPermitted } from '../access/decide.ts'
import { judgedTarget } from '../access/delegation-store.ts'
import { NotPermitted } from '../access/not-permitted.ts'
import { standingOutside } from '../access/standing-store.ts'
import { nowhere } from '../access/standing.ts'
import { refuseUserToken } from '../access/token-policy.ts'
import { insertAuditEvents, type AuditEvent } from '../audit/audit-store.ts'
import { timestamp } from '../core/clock.ts'
import { AppError, notFound } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { EvenTransaction } from '../database/even-transaction.ts'
import { isUnavailable } from '../database/unavailable.ts'
import type { Named } from '../refusals/refusal.ts'
import { lockOrganization } from '../organizations/organization-lock-store.ts'
import { checkContentType, IncomingBody } from './body.ts'
import { holdersOf } from './bytes-in-flight.ts'
import type { Answer, Call } from './call.ts'
import type { Deps } from './deps.ts'
import { isTrial, undone, type Watch } from './dry-run.ts'
import { holdAnswer } from './held-answer.ts'
import type { Loaded, Permitted, ReadRoute, Reveal, Route, WriteRoute } from './route.ts'

type AnyReadRoute = ReadRoute<unknown, Loaded>
type AnyWriteRoute = WriteRoute<unknown, Loaded, unknown, unknown>
type Decided = Permitted<unknown, Loaded>

/** Answers a request: address → load → decide → body → act → document. The only caller of `act`. */
export function runRoute(route: Route, call: Call, deps: Deps): Promise<Answer> {
  return route.method === 'GET'
    ? runRead(route as unknown as AnyReadRoute, call, deps)
    : runWrite(route as unknown as AnyWriteRoute, call, deps)
}

/** The actor of the request's token. Throws 401. */
export async function authenticate(tx: Transaction, call: Call, deps: Deps): Promise<Actor> {
  const token = bearerToken(call.headers.authorization)
  const { operator } = deps
  if (token !== undefined && operator !== undefined && hashToken(token) === operator.tokenHash) {
    return operator.actor
  }
  const now = deps.clock.now()
  const found = token === undefined ? undefined : await findActor(tx, hashToken(token), now)
  if (found === undefined) throw new AppError('unauthorized')
  if (tx.mode === 'read') deps.lastUsed.touch(found, now)
  return found.actor
}

async function runRead(route: AnyReadRoute, call: Call, deps: Deps): Promise<Answer> {
  const revealed: Reveal[] = []
  let actor: Actor | undefined
  let permitted: Decided | undefined
  let answer: Answer
  try {
    const reading = async (tx: Transaction) => {
      actor = await authenticate(tx, call, deps)
      permitted = await decide(route, tx, route.address(call), actor, call, deps)
      return route.document({ ...permitted, reveal: (event) => void revealed.push(event) })
    }
    answer = await deps.database.read(reading, { caller: call.headers.authorization })
  } catch (error) {
    noteWithin(error, route, permitted)
    throw error
  }
  // Take the memory first: if that fails, no reveal must be recorded.
  const held = holdAnswer(answer, deps, actor as Actor, permitted?.resource.organization)
  try {
    if (revealed.length > 0) await writeReveals(revealed, actor as Actor, call, deps)
    return held
  } catch (error) {
    held.held?.release()
    throw error
  }
}

async function runWrite(route: AnyWriteRoute, call: Call, deps: Deps): Promise<Answer> {
  const body = new IncomingBody(call, route.isLarge === true, deps)
  try {
    return await write(route, body, call, deps)
  } finally {
    body.release()
  }
}

async function write(route: AnyWriteRoute, incoming: IncomingBody, call: Call, deps: Deps): Promise<Answer> {
  // Decide in a read first: without the right, a caller never waits for the write lock and learns nothing of the body.
  let isTried = false
  let holders: string[] = []
  const options = { caller: call.headers.authorization }
  let found = await deps.database.read(async (tx) => {
    const caller = await authenticate(tx, call, deps)
    incoming.checkDeclaredLength()
    isTried = isTrial(call.query, route.dryRun !== undefined)
    holders = holdersOf(caller, undefined)
    if (route.addressInBody !== undefined) return undefined
    const permitted = await decide(route, tx, route.address(call), caller, call, deps)
    await route.beforeBody?.(permitted)
    holders = holdersOf(caller, permitted.resource.organization)
    return permitted
  }, options)
  let body: unknown
  if (route.body !== undefined) {
    const bytes = await incoming.read(holders)
    call.receivedAt = performance.now()
    if (bytes.length > 0) checkContentType(call.headers)
    body = route.body(bytes, found?.address, deps)
  }
  found ??= await deps.database.read(async (tx) => {
    const caller = await authenticate(tx, call, deps)
    return decide(route, tx, route.addressInBody?.(body), caller, call, deps)
  }, options)
  const { tx: _ended, ...decided } = found
  const { address, resource } = decided
  const organizationId = resource.organization?.id
  const prepared = await route.prepare?.(body, decided)
  let permitted: Decided | undefined
  let watch: Watch | undefined
  const looks: unknown[] = []
  const work = async (tx: Transaction): Promise<Answer> => {
    const caller = await authenticate(tx, call, deps)
    if (organizationId !== undefined) await lockOrganization(tx, organizationId)
    permitted = undefined
    permitted = await decide(route, tx, address, caller, call, deps)
    looks[0] = await watch?.look(tx)
    const events: AuditEvent[] = []
    let isUnchanged = false
    const answer = await route.act({
      ...permitted,
      body,
      prepared,
      audit: (event) => void events.push(event),
      unchanged: () => void (isUnchanged = true),
    })
    if (watch !== undefined) {
      looks[1] = await watch.look(tx)
      return answer
    }
    if (events.length > 0) {
      const context = {
        at: timestamp(deps.clock.now()),
        requestId: call.requestId,
        actor: caller,
        key: deps.auditKey,
      }
      await insertAuditEvents(tx, context, events)
    } else if (!isUnchanged) {
      throw new Error(`${route.method} ${route.path} wrote no audit event`)
    }
    return answer
  }
  try {
    if (!isTried) return await deps.database.write(work, { organizationId })
    // Read what the dry run compares before taking the write lock.
    const looking = async (tx: Transaction) => {
      const caller = await authenticate(tx, call, deps)
      permitted = await decide(route, tx, address, caller, call, deps)
      return route.dryRun?.({ ...permitted, body })
    }
    watch = await deps.database.read(looking, { organizationId, isSlow: true })
    await undone(deps.database, work, { organizationId })
  } catch (error) {
    noteWithin(error, route, permitted)
    throw error
  }
  return (watch as Watch).compare(looks[0], looks[1])
}

/** Loads and decides. A missing object and a forbidden one leave by the same exit. */
async function decide(
  route: AnyReadRoute | AnyWriteRoute,
  tx: Transaction,
  address: unknown,
  actor: Actor,
  call: Call,
  deps: Deps,
): Promise<Decided> {
  const even = new EvenTransaction(tx)
  const resource = address === undefined ? undefined : await route.load({ tx: even, address, actor, deps })
  const organization = resource?.organization
  const standing =
    organization === undefined ? standingOutside(actor) : await deps.standings.in(even, actor, organization)
  // A deleted organization counts as missing, although its rows still exist.
  if (resource !== undefined && !isDeleted(organization)) {
    const permission = resource.permission ?? route.permission
    const target = await judgedTarget(even, permission, { actor, standing }, resource.target)
    const judged = target === resource.target ? resource : { ...resource, target }
    const decided = { tx, address, actor, standing, resource: judged, call, deps }
    const refused = [{ permission, target }, resource.also].find(
      (one) => one !== undefined && !isPermitted(one.permission, actor, standing, one.target),
    )
    const refusal = refused === undefined || route.method === 'GET' ? undefined : route.refusal?.(decided)
    if (refused === undefined || refusal !== undefined) {
      if (organization !== undefined) refuseUserToken(actor, standing, organization, deps.clock)
      if (refusal !== undefined) throw new AppError('forbidden', [{ detail: refusal }])
      return decided
    }
    note('forbidden', route, decided, refused)
  } else {
    note('missing', route, { address, actor, call, deps })
  }
  // Without an organization, run the same queries as for a hidden object in one, so that both take the same time.
  if (organization === undefined) await deps.standings.in(even, actor, nowhere)
  await even.makeUp()
  throw notFound()
}

type Refused = Pick<Decided, 'address' | 'actor' | 'call' | 'deps'> &
  Partial<Pick<Decided, 'resource' | 'standing'>>

/** Records a 404 in memory. The cost is the same for missing and forbidden objects. */
function note(
  reason: 'missing' | 'forbidden',
  route: AnyReadRoute | AnyWriteRoute,
  { address, actor, call, deps, resource, standing }: Refused,
  judged = resource && { permission: resource.permission ?? route.permission, target: resource.target },
): void {
  const { workspaceId, projectId, organizationName, workspaceName } = (address ?? {}) as Partial<Named>
  const named: Named = { params: call.params, workspaceId, projectId, organizationName, workspaceName }
  deps.refusals.note({
    requestId: call.requestId,
    at: deps.clock.now(),
    actor,
    method: route.method,
    path: route.path,
    named: JSON.stringify(named),
    permission: judged?.permission ?? route.permission,
    reason,
    found:
      resource === undefined || standing === undefined || judged === undefined
        ? undefined
        : {
            organizationId: resource.organization?.id,
            workspaceId: resource.workspace?.id,
            projectId: resource.workspace?.project_id ?? resource.project?.id,
            standing,
            target: judged.target,
          },
  })
}

/** A 404 after the decision: a part of the object is missing, or another rule forbids it. */
function noteWithin(
  error: unknown,
  route: AnyReadRoute | AnyWriteRoute,
  permitted: Decided | undefined,
): void {
  if (permitted === undefined || !(error instanceof AppError) || error.code !== 'not-found') return
  if (error instanceof NotPermitted) note('forbidden', route, permitted, error)
  else note('missing', route, permitted)
}

function isDeleted(organization: Loaded['organization']): boolean {
  return organization !== undefined && organization.deleted_at !== null
}

async function writeReveals(
  revealed: readonly Reveal[],
  actor: Actor,
  call: Call,
  deps: Deps,
): Promise<void> {
  const events: AuditEvent[] = []
  for (const reveal of revealed) {
    const event = typeof reveal === 'function' ? await reveal() : reveal
    if (event !== undefined) events.push(event)
  }
  if (events.length === 0) return
  try {
    const context = { at: timestamp(deps.clock.now()), requestId: call.requestId, actor }
    await deps.reveals.write(context, events)
  } catch (error) {
    if (isUnavailable(error)) throw error
    deps.log.error({ error, requestId: call.requestId }, 'a reveal could not be audited, so it was refused')
    throw new AppError('unavailable', [{ detail: 'the audit trail cannot be written' }])
  }
}

const MAX_TOKEN_LENGTH = 512

function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  const token = header.slice(7).trim()
  return token === '' || token.length > MAX_TOKEN_LENGTH ? undefined : token
}
