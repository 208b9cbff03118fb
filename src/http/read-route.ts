import { accountOf } from '../access/actor.ts'
import type { Permission } from '../access/rules.ts'
import type { AuditEvent } from '../audit/audit-store.ts'
import { timestamp } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { existing } from '../core/existing.ts'
import type { Transaction, TransactionOptions } from '../database/database.ts'
import { ReadAgain, ReadSlowly } from '../database/read-again.ts'
import { isUnavailable } from '../database/unavailable.ts'
import { linkParameters, parametersOf, readParameters, type QueryParameters } from '../jsonapi/parameters.ts'
import { pagingOf, type Page, type Paging } from '../jsonapi/paging.ts'
import { answerOf } from './call.ts'
import type { RunnerDeps } from './deps.ts'
import { holdAnswer } from './held-answer.ts'
import { authenticate, noteWithin, permit, type Judged } from './permit.ts'
import { polledAnswer } from './polled.ts'
import { Reader } from './reader.ts'
import type { Decided, Document, Loaded, Permitted, Place, Route, RouteDocumentation } from './route.ts'

/** Statements on so many rows take some milliseconds. */
const MANY_ROWS = 500

/** The audit event for revealed values, or a function that finds it after the transaction (undefined: none). */
export type Reveal = AuditEvent | (() => Promise<AuditEvent | undefined>)

export type Reading<A, R, P = {}> = Permitted<A, R, P> & {
  /** Adds an audit event for sensitive values. The answer is sent only after it is written. */
  readonly reveal: (event: Reveal) => void
  /** Whether the document may throw ReadAgain. */
  readonly mayReadAgain: boolean
  /**
   * To be called before statements that may look at very many rows: `count` gives about how many. If they would keep other
   * requests waiting, the read begins again as a slow read.
   */
  readonly willLookAt: (count: () => number | Promise<number>) => Promise<void>
}

type ReadDefinition<A, R, P extends QueryParameters> = RouteDocumentation & {
  readonly permission: Permission
  readonly query?: P
  readonly document: (context: Reading<A, R, P>) => Document | Promise<Document>
}

/** A GET route about the object of a place, or about something of it: `suffix` is added to the place's path. */
export function read<A, R extends Loaded, P extends QueryParameters = {}>(
  place: Place<A, R>,
  suffix: string,
  definition: ReadDefinition<A, R, P>,
): Route {
  const { document } = definition
  const parameters = parametersOf(definition.query)
  const judged: Judged<A, R> = {
    method: 'GET',
    path: place.path + suffix,
    permission: definition.permission,
    load: place.load,
  }
  return {
    ...definition,
    method: 'GET',
    path: judged.path,
    status: 200,
    hasBody: false,
    hasDryRun: false,
    checkBody: () => [],
    run: async (call, deps) => {
      let permitted: Decided<A, R> | undefined
      const reading = async (tx: Transaction, mayReadAgain: boolean) => {
        const actor = await authenticate(tx, call, deps)
        const query = call.query.once(parameters, () => readParameters(call.query, parameters))
        permitted = await permit(judged, tx, place.address(call), actor, call, deps)
        // A list of its own: a read may be repeated.
        const revealed: Reveal[] = []
        const reveal = (event: Reveal) => void revealed.push(event)
        const willLookAt = async (count: () => number | Promise<number>) => {
          if (tx.isBlocking === true && (await count()) > MANY_ROWS) throw new ReadSlowly()
        }
        const context = { ...permitted, query, reveal, mayReadAgain, willLookAt }
        return { permitted, revealed, made: await document(context) }
      }
      let found: Awaited<ReturnType<typeof reading>> | undefined
      let options: TransactionOptions = new Reader(call, deps)
      let again: ReadAgain | undefined
      for (let mayReadAgain = true; found === undefined; mayReadAgain = false) {
        try {
          if (again !== undefined) await again.prepare(deps.database)
          again = undefined
          found = await deps.database.read((tx) => reading(tx, mayReadAgain), options)
        } catch (error) {
          if (error instanceof ReadAgain) again = error
          else if (error instanceof ReadSlowly) {
            options = { account: accountOf(existing(permitted).actor), isSlow: true }
          } else {
            noteWithin(error, judged, permitted, deps)
            throw error
          }
        }
      }
      // Take the memory first: if that fails, no reveal must be recorded.
      const isTagged = definition.isPolled === true && found.revealed.length === 0
      const made = isTagged ? polledAnswer(call, found.made) : answerOf(200, found.made)
      const answer = holdAnswer(made, deps, found.permitted)
      try {
        if (found.revealed.length > 0) await writeReveals(found.revealed, found.permitted, deps)
        return answer
      } catch (error) {
        answer.held?.release()
        throw error
      }
    },
  }
}

export type Listing<A, R, P = {}> = Reading<A, R, P> & {
  /** The requested page. */
  readonly page: Page
  /** The given parameters, which every link of the document repeats. */
  readonly links: readonly (readonly [string, string])[]
  /** The paging part of the document. `total` counts only what the caller may see. */
  readonly paging: (total: number) => Paging
}

/** A GET route that answers a page of a list. */
export function list<A, R extends Loaded, P extends QueryParameters = {}>(
  place: Place<A, R>,
  suffix: string,
  definition: Omit<ReadDefinition<A, R, P>, 'document' | 'isList' | 'isUnpaged'> & {
    readonly document: (context: Listing<A, R, P>) => Document | Promise<Document>
  },
): Route {
  const { hasPageInMeta, document } = definition
  const query = parametersOf(definition.query)
  const paged: Place<A, R> = {
    ...place,
    address: (call) => {
      // Throws 400, which must come before the decision.
      call.query.page()
      return place.address(call)
    },
  }
  return read(paged, suffix, {
    ...definition,
    isList: true,
    document: (context) => {
      const { call } = context
      const page = call.query.page()
      const links = call.query.once(definition, () => linkParameters(call.query, query))
      const paging = (total: number) => {
        const made = pagingOf(call.path, links, page, total)
        return hasPageInMeta ? { ...made, meta: made.pagination } : made
      }
      return document({ ...context, page, links, paging })
    },
  })
}

async function writeReveals(
  revealed: readonly Reveal[],
  { actor, call }: Decided<unknown, Loaded>,
  deps: RunnerDeps,
): Promise<void> {
  const events: AuditEvent[] = []
  for (const reveal of revealed) {
    const event = typeof reveal === 'function' ? await reveal() : reveal
    if (event !== undefined) events.push(event)
  }
  if (events.length === 0) return
  try {
    const context = {
      at: timestamp(deps.clock.now()),
      requestId: call.requestId,
      address: call.address,
      actor,
    }
    await deps.reveals.write(context, events)
  } catch (error) {
    if (isUnavailable(error)) throw error
    deps.log.error({ error, requestId: call.requestId }, 'a reveal could not be audited, so it was refused')
    throw new AppError('unavailable', 'the audit trail cannot be written')
  }
}
