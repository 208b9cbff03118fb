import type { Transaction } from '../database/database.ts'
import { countOf } from '../database/pages.ts'
import { endsWith, listHolds } from '../database/portable.ts'
import { endOfDetails } from './audit-addresses.ts'
import type { AuditRow } from './audit-chain-store.ts'

export type PrintedRow = AuditRow & { organization_name: string | null }

export type AuditFilter = {
  /** Events at this time or later. */
  since?: string
  /** Events at this time or earlier. */
  until?: string
  organizationId?: string
  action?: string
  /** An id or a name. */
  actor?: string
  /** The name of an output as details have it. */
  output?: string
  /** In its canonical form. */
  address?: string
  numbers?: readonly number[]
}

/** The newest matching events, oldest first. */
export async function newestAuditEvents(
  tx: Transaction,
  filter: AuditFilter,
  limit: number,
): Promise<PrintedRow[]> {
  // Both columns give the same order; within one organization there is an index on `position`.
  const order = filter.organizationId === undefined ? 'number' : 'position'
  const rows = await matching(tx, filter)
    .leftJoin('organizations', 'organizations.id', 'audit_events.organization_id')
    .selectAll('audit_events')
    .select('organizations.name as organization_name')
    .orderBy(order, 'desc')
    .limit(limit)
    .execute()
  return rows.toReversed()
}

/** 0 if there are no events. */
export async function newestAuditNumber(tx: Transaction): Promise<number> {
  const newest = await tx.db
    .selectFrom('audit_events')
    .select('number')
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return newest?.number ?? 0
}

/** The numbers of the first events after this number, in order. */
export async function auditNumbersAfter(tx: Transaction, after: number, limit: number): Promise<number[]> {
  const rows = await tx.db
    .selectFrom('audit_events')
    .select('number')
    .where('number', '>', after)
    .orderBy('number')
    .limit(limit)
    .execute()
  return rows.map(({ number }) => number)
}

/** Those of the numbers that events have, in order. */
export async function auditNumbersAmong(tx: Transaction, numbers: readonly number[]): Promise<number[]> {
  if (numbers.length === 0) return []
  const rows = await tx.db
    .selectFrom('audit_events')
    .select('number')
    .where('number', 'in', numbers)
    .orderBy('number')
    .execute()
  return rows.map(({ number }) => number)
}

export function countMatchingEvents(tx: Transaction, filter: AuditFilter): Promise<number> {
  return countOf(matching(tx, filter))
}

/** The details of every event are searched: longer ones are no valid text of a database. */
const MAX_DETAILS_BYTES = 2 ** 30

function matching(tx: Transaction, filter: AuditFilter) {
  const { since, until, organizationId, action, actor, output, address, numbers } = filter
  let query = tx.db.selectFrom('audit_events')
  if (since !== undefined) query = query.where('at', '>=', since)
  if (until !== undefined) query = query.where('at', '<=', until)
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId)
  if (action !== undefined) query = query.where('action', '=', action)
  if (actor !== undefined) {
    query = query.where((eb) => eb.or([eb('actor_id', '=', actor), eb('actor_name', '=', actor)]))
  }
  if (output !== undefined) {
    const details = { column: 'audit_events.details', list: 'outputs', maxBytes: MAX_DETAILS_BYTES }
    query = query.where('action', '=', 'output.reveal').where(listHolds(tx.engine, details, output))
  }
  if (address !== undefined) query = query.where(endsWith('audit_events.details', endOfDetails(address)))
  if (numbers !== undefined) query = query.where('number', 'in', numbers)
  return query
}
