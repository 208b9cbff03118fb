import type { Transaction } from '../database/database.ts'
import { countOf } from '../database/pages.ts'
import { endsWith, listHolds } from '../database/portable.ts'
import { inSlices } from '../database/slices.ts'
import type { Timestamp } from '../core/clock.ts'
import type { Page } from '../jsonapi/paging.ts'
import { ADDRESS_CHARACTERS, endOfDetails, splitDetails } from './audit-addresses.ts'
import { findAuditChain, shortTexts, type AuditRow } from './audit-chain-store.ts'

/** A list covers at most this many of the newest events, which limits the cost of a request. */
export const MAX_LISTED_EVENTS = 100_000
/** A search by output covers at most this many of the newest reveals, because it parses their details. */
export const MAX_SEARCHED_REVEALS = 2_000
/** Longer details are left out of lists. */
const MAX_DETAILS_LENGTH = 16_384

/**
 * All given conditions must match. `actor` is an id or a name; `since` and `until` include their own time. `address` is
 * in its canonical form. `output` is the name of an output as details have it: a reveal whose details are too long for a
 * list matches any name.
 */
type AuditEventFilter = {
  readonly since?: Timestamp
  readonly until?: Timestamp
  readonly actor?: string
  readonly action?: string
  readonly resourceType?: string
  readonly resourceId?: string
  readonly requestId?: string
  readonly address?: string
  readonly output?: string
}

/** `details` is null if it is too long. */
export type ListedEvent = Omit<AuditRow, 'details'> & { details: string | null; address: string | null }

/** A page of an organization's events, newest first. `total` counts only events within MAX_LISTED_EVENTS. */
export async function listAuditEvents(
  tx: Transaction,
  organizationId: string,
  filter: AuditEventFilter,
  page: Page,
): Promise<{ events: ListedEvent[]; total: number }> {
  const matching = matchingEvents(tx, organizationId, filter)
  const isWhole = Object.values(filter).every((value) => value === undefined)
  const total = isWhole ? await countAuditEvents(tx, organizationId) : await countOf(matching)
  const first = (page.number - 1) * page.size
  if (first >= total) return { events: [], total }
  const rows = await matching
    .select('event.position')
    .orderBy('event.at', 'desc')
    .orderBy('event.position', 'desc')
    .limit(page.size)
    .offset(first)
    .execute()
  const events = await eventsAt(
    tx,
    organizationId,
    rows.map(({ position }) => position),
  )
  return { events, total }
}

type MatchingEvents = ReturnType<typeof matchingColumns>

function matchingEvents(tx: Transaction, organizationId: string, filter: AuditEventFilter) {
  const query = matchingColumns(tx, organizationId, filter)
  const { output } = filter
  return output === undefined ? query : revealsOf(tx, organizationId, query, output)
}

/** Selects only columns of one index, unless an address is given. */
function matchingColumns(tx: Transaction, organizationId: string, filter: AuditEventFilter) {
  let reached = tx.db
    .selectFrom('audit_events')
    .where('organization_id', '=', organizationId)
    .select([
      'at',
      'position',
      'action',
      'actor_id',
      'actor_name',
      'resource_type',
      'resource_id',
      'request_id',
    ])
    .$if(filter.address !== undefined, (all) => all.select('details'))
    .orderBy('at', 'desc')
    .orderBy('position', 'desc')
    .limit(MAX_LISTED_EVENTS)
  const { since, until, actor, action, resourceType, resourceId, requestId, address } = filter
  if (since !== undefined) reached = reached.where('at', '>=', since)
  if (until !== undefined) reached = reached.where('at', '<=', until)
  let query = tx.db.selectFrom(reached.as('event'))
  if (actor !== undefined) {
    query = query.where((eb) => eb.or([eb('event.actor_id', '=', actor), eb('event.actor_name', '=', actor)]))
  }
  if (action !== undefined) query = query.where('event.action', '=', action)
  if (resourceType !== undefined) query = query.where('event.resource_type', '=', resourceType)
  if (resourceId !== undefined) query = query.where('event.resource_id', '=', resourceId)
  if (requestId !== undefined) query = query.where('event.request_id', '=', requestId)
  if (address !== undefined) query = query.where(endsWith('event.details', endOfDetails(address)))
  return query
}

/** Those of the newest matching reveals that name the output. */
function revealsOf(tx: Transaction, organizationId: string, matching: MatchingEvents, output: string) {
  const reveals = matching
    .where('event.action', '=', 'output.reveal')
    .selectAll('event')
    .orderBy('event.at', 'desc')
    .orderBy('event.position', 'desc')
    .limit(MAX_SEARCHED_REVEALS)
  const details = { column: 'whole.details', list: 'outputs', maxBytes: MAX_DETAILS_LENGTH }
  return tx.db.selectFrom(reveals.as('event')).where((eb) =>
    eb.exists(
      eb
        .selectFrom('audit_events as whole')
        .select('whole.number')
        .where('whole.organization_id', '=', organizationId)
        .whereRef('whole.position', '=', 'event.position')
        .where(listHolds(tx.engine, details, output)),
    ),
  )
}

/** Needs no count, because positions have no gaps. */
export async function countAuditEvents(tx: Transaction, organizationId: string): Promise<number> {
  const chain = await findAuditChain(tx, organizationId)
  return chain === undefined ? 0 : Math.min(chain.position - chain.start_position, MAX_LISTED_EVENTS)
}

async function eventsAt(
  tx: Transaction,
  organizationId: string,
  positions: readonly number[],
): Promise<ListedEvent[]> {
  const rows = await inSlices(positions, (slice) =>
    tx.db
      .selectFrom('audit_events')
      .where('organization_id', '=', organizationId)
      .where('position', 'in', slice)
      .select(['number', 'position', 'mac', ...shortTexts])
      .select((eb) => {
        const length = eb.fn<number>('length', ['details'])
        const end = eb.fn<string>('substr', ['details', eb(length, '-', ADDRESS_CHARACTERS)])
        const isLong = eb(length, '>', MAX_DETAILS_LENGTH)
        return [
          length.as('length'),
          eb.case().when(isLong).then(end).else(eb.ref('details')).end().as('stored'),
        ]
      })
      .execute(),
  )
  const events = rows.map(({ stored, length, ...row }): ListedEvent => {
    const { address, details } = splitDetails(stored)
    return { ...row, address, details: length > MAX_DETAILS_LENGTH ? null : details }
  })
  const byPosition = new Map(events.map((row) => [row.position, row]))
  return positions.flatMap((position) => byPosition.get(position) ?? [])
}
