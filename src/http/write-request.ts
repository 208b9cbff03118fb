import { accountOf, type Actor } from '../access/actor.ts'
import { insertAuditEvents, type AuditEvent } from '../audit/audit-store.ts'
import { timestamp } from '../core/clock.ts'
import { AppError, type Problem } from '../core/errors.ts'
import { existing } from '../core/existing.ts'
import type { Transaction, TransactionOptions } from '../database/database.ts'
import { refuse } from '../jsonapi/body.ts'
import {
  parametersOf,
  readParameters,
  type QueryParameters,
  type QueryValues,
} from '../jsonapi/parameters.ts'
import { bumpVersion } from '../organizations/organization-store.ts'
import { checkContentType, type IncomingBody } from './body.ts'
import { holdersOf } from '../core/bytes-in-flight.ts'
import { answerOf, noContent, ok, type Answer, type Call } from './call.ts'
import type { RunnerDeps } from './deps.ts'
import { isDryRun, rolledBack } from './dry-run.ts'
import { eventsOf } from './outcome.ts'
import { authenticate, noteWithin, permit, type Judged } from './permit.ts'
import { Reader } from './reader.ts'
import type { Decided, Loaded, Place } from './route.ts'
import { readStrictly, unknownIn, withWarnings } from './warnings.ts'
import type { WriteDefinition } from './write-route.ts'

/** The problems that a parsed body has found in itself. */
export function problemsOf(body: unknown): readonly Problem[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a body with a member of this name has it from readResource
  return (body as { problems?: readonly Problem[] } | undefined)?.problems ?? []
}

type Served<A, R extends Loaded, P extends QueryParameters, B, Prepared, Checked, Result> = WriteDefinition<
  A,
  R,
  P,
  B,
  Prepared,
  Checked,
  Result
> & { readonly judged: Judged<A, R>; readonly place: Place<A, R> }

/** What a request asks for, as found before its transaction. */
type Asked<A, P, B, Prepared> = {
  readonly address: A
  readonly organizationId: string | undefined
  readonly query: QueryValues<P>
  readonly body: B
  readonly prepared: Prepared
}

/** The name of the organization has come to mean another one since the first decision. */
class OtherOrganization extends AppError {
  constructor() {
    super('unavailable', 'the organization was renamed meanwhile; try again')
  }
}

/** One request to a write route. */
export class WriteRequest<A, R extends Loaded, P extends QueryParameters, B, Prepared, Checked, Result> {
  readonly #route: Served<A, R, P, B, Prepared, Checked, Result>
  readonly #call: Call
  readonly #deps: RunnerDeps
  /** The attributes of the body that are ignored. */
  #unknown: readonly Problem[] = []
  /** What the act says of its result. */
  #warnings: readonly Problem[] = []
  /** The newest decision: under it, a 404 of the act is recorded. */
  #decided: Decided<A, R> | undefined

  constructor(route: Served<A, R, P, B, Prepared, Checked, Result>, call: Call, deps: RunnerDeps) {
    this.#route = route
    this.#call = call
    this.#deps = deps
  }

  async answer(incoming: IncomingBody): Promise<Answer> {
    const answer = (await this.#createAgain(incoming)) ?? (await this.#answer(incoming))
    return withWarnings(answer, [...this.#unknown, ...this.#warnings])
  }

  async #answer(incoming: IncomingBody): Promise<Answer> {
    // Decide in a read first: without the right, a caller never waits for the write lock and learns nothing of the body.
    const first = await this.#read((tx, actor) => this.#first(tx, actor, incoming))
    if (first.decided !== undefined) this.#count(accountOf(first.decided.actor))
    const body = await this.#body(incoming, first.holders, first.decided?.address)
    const own = problemsOf(body)
    if (this.#route.problems === undefined) refuse(own)
    const { tx: _ended, ...decided } =
      first.decided ??
      (await this.#read((tx, actor) => this.#permit(tx, this.#route.addressInBody?.(body), actor)))
    if (first.decided === undefined) this.#count(accountOf(decided.actor))
    const prepared = own.length > 0 ? undefined : await this.#route.prepare?.(body, decided)
    const { address, resource, actor } = decided
    const organizationId = resource.organization?.id
    const request = {
      address,
      organizationId,
      query: first.query,
      body,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without it the problems of the body end the write
      prepared: prepared as Prepared,
    }
    const account = accountOf(actor)
    const isOneInsert = this.#isOneInsert(body)
    if (first.isDryRun) return await this.#noting(() => this.#compare(request, account))
    const answer = await this.#noting(() => this.#run(request, { account, isOneInsert }))
    if (isOneInsert && organizationId !== undefined) {
      const { caller, name } = new Reader(this.#call, this.#deps)
      this.#deps.acceptedCreates.keep(caller, name, { organizationId, account, holders: first.holders })
    }
    return answer
  }

  /**
   * A create like one that was accepted lately, of the same caller: only its transaction decides, as it does for each write.
   * Returns undefined if the usual order has to be kept, because the body or the place is not as it was.
   */
  async #createAgain(incoming: IncomingBody): Promise<Answer | undefined> {
    const { isOneInsert, place, query } = this.#route
    const { acceptedCreates } = this.#deps
    if (isOneInsert === undefined || !incoming.isShort) return undefined
    const { caller, name } = new Reader(this.#call, this.#deps)
    const accepted = acceptedCreates.find(caller, name)
    const address = place.address(this.#call)
    if (accepted === undefined || address === undefined) return undefined
    const { account, holders, organizationId } = accepted
    const body = await this.#body(incoming, holders, address).catch(() => undefined)
    if (body === undefined || !this.#isOneInsert(body)) return undefined
    this.#count(account)
    const request = {
      address,
      organizationId,
      query: readParameters(this.#call.query, parametersOf(query)),
      body,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a create that is one insert prepares nothing
      prepared: undefined as Prepared,
    }
    try {
      return await this.#noting(() => this.#run(request, { account, isOneInsert: true }))
    } catch (error) {
      acceptedCreates.forget(caller, name)
      if (error instanceof OtherOrganization) return undefined
      throw error
    }
  }

  /** One that will be refused for its body is none: it would make those beside it wait. */
  #isOneInsert(body: B): boolean {
    return problemsOf(body).length === 0 && this.#route.isOneInsert?.(body) === true
  }

  #run(
    request: Asked<A, P, B, Prepared>,
    own: Pick<TransactionOptions, 'account' | 'isOneInsert'>,
  ): Promise<Answer> {
    const { organizationId } = request
    const { caller, name, like } = new Reader(this.#call, this.#deps)
    const options = { ...own, organizationId, caller, name, like }
    return this.#deps.database.write((tx) => this.#write(tx, request), options)
  }

  async #noting(work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work()
    } catch (error) {
      noteWithin(error, this.#route.judged, this.#decided, this.#deps)
      throw error
    }
  }

  #read<T>(work: (tx: Transaction, actor: Actor) => Promise<T>): Promise<T> {
    return this.#deps.database.read(
      async (tx) => work(tx, await authenticate(tx, this.#call, this.#deps)),
      new Reader(this.#call, this.#deps),
    )
  }

  #count(account: string): void {
    this.#deps.writeRates.count(account)
  }

  #permit(tx: Transaction, address: A | undefined, actor: Actor): Promise<Decided<A, R>> {
    return permit(this.#route.judged, tx, address, actor, this.#call, this.#deps)
  }

  /** Everything that can be judged before the body is read. */
  async #first(tx: Transaction, actor: Actor, incoming: IncomingBody) {
    const { place, dryRun, addressInBody, beforeBody } = this.#route
    incoming.checkDeclaredLength()
    const asked = {
      isDryRun: isDryRun(this.#call.query, dryRun !== undefined),
      query: readParameters(this.#call.query, parametersOf(this.#route.query)),
    }
    if (addressInBody !== undefined)
      return { ...asked, decided: undefined, holders: holdersOf(actor, undefined) }
    const decided = await this.#permit(tx, place.address(this.#call), actor)
    await beforeBody?.(decided)
    return { ...asked, decided, holders: holdersOf(actor, decided.resource.organization) }
  }

  async #body(incoming: IncomingBody, holders: readonly string[], address: A | undefined): Promise<B> {
    const { body, accepts } = this.#route
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the route has no body, so B is undefined
    if (body === undefined) return undefined as B
    const bytes = await incoming.read(holders)
    this.#call.receivedAt = performance.now()
    if (bytes.length > 0) checkContentType(this.#call.headers)
    const { config, clock } = this.#deps
    const read = () => body(bytes, { address, config, clock })
    const unknown = () => unknownIn(bytes, accepts)
    if (config.strict) return readStrictly(read, unknown, problemsOf)
    const parsed = read()
    this.#unknown = unknown()
    return parsed
  }

  /** Decides once more, in another transaction than before. */
  async #decide(tx: Transaction, address: A): Promise<Decided<A, R>> {
    const actor = await authenticate(tx, this.#call, this.#deps)
    this.#decided = undefined
    return (this.#decided = await this.#permit(tx, address, actor))
  }

  /** The decision in the transaction that has locked an organization. */
  async #decideInLock(
    tx: Transaction,
    { address, organizationId }: Asked<A, P, B, Prepared>,
  ): Promise<Decided<A, R>> {
    const decided = await this.#decide(tx, address)
    if (decided.resource.organization?.id !== organizationId) throw new OtherOrganization()
    return decided
  }

  /** The write's transaction: decide again, act, note the audit events, make the document. */
  async #write(tx: Transaction, request: Asked<A, P, B, Prepared>): Promise<Answer> {
    const { document, status, place, answers } = this.#route
    const { organizationId } = request
    const decided = await this.#decideInLock(tx, request)
    const { context, outcome } = await this.#act(decided, request)
    const { auditKey: key, clock, operator } = this.#deps
    const events = this.#eventsOf(outcome, { resourceType: answers ?? place.type, organizationId, operator })
    const { requestId, address } = this.#call
    const about = { at: timestamp(clock.now()), requestId, address, actor: context.actor, key }
    insertAuditEvents(tx, about, events)
    if (document === undefined || status === 204) return noContent
    tx.noMoreChanges?.()
    return answerOf(status, await document({ ...context, result: outcome.result }))
  }

  /** Who reads the trail sees that a part of the request had no effect. */
  #eventsOf(...given: Parameters<typeof eventsOf>): AuditEvent[] {
    const events = eventsOf(...given)
    if (this.#unknown.length === 0) return events
    const ignored = this.#unknown.map(({ pointer }) => pointer)
    return events.map((event) => ({ ...event, details: { ...event.details, 'ignored-attributes': ignored } }))
  }

  /** Checks what needs the write's transaction, acts, and raises the version of the organization. */
  async #act(decided: Decided<A, R>, request: Asked<A, P, B, Prepared>) {
    const { problems, act } = this.#route
    const { organizationId } = request
    const checking = { ...request, ...decided, now: timestamp(this.#deps.clock.now()) }
    // A copy, because the transaction may run again.
    const found = [...problemsOf(request.body)]
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without `problems` Checked is undefined
    const checked = (await problems?.({ ...checking, problems: found })) as Checked
    refuse(found)
    const context = { ...checking, checked }
    const outcome = await act(context)
    this.#warnings = outcome.warnings ?? []
    const { keepsAccess = this.#route.keepsAccess, counts } = outcome
    if (organizationId !== undefined && keepsAccess !== true) {
      await bumpVersion(decided.tx, organizationId, counts?.teams, counts?.visibleTeams)
    }
    return { context, outcome }
  }

  /** Runs the write, rolls it back, and answers what it would have changed. */
  async #compare(request: Asked<A, P, B, Prepared>, account: string): Promise<Answer> {
    const { organizationId, address, body } = request
    const { database } = this.#deps
    // Read what the dry run compares before taking the write lock.
    const reading = async (tx: Transaction) =>
      this.#route.dryRun?.({ ...(await this.#decide(tx, address)), body })
    const dryRun = existing(await database.read(reading, { account, isSlow: true }))
    let before: unknown
    let after: unknown
    const trying = async (tx: Transaction) => {
      const decided = await this.#decideInLock(tx, request)
      before = await dryRun.look(tx)
      await this.#act(decided, request)
      after = await dryRun.look(tx)
    }
    await rolledBack(database, trying, { organizationId, account })
    return ok(await dryRun.compare(before, after))
  }
}
