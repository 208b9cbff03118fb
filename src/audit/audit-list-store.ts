import type { Transaction } from '../database/database.ts'
import { countOf } from '../database/pages.ts'
import type { AuditRow } from './audit-chain-store.ts'

export type PrintedRow = AuditRow & { organization_name: string | null }

export type AuditFilter = {
  /** Events at this time or later. */
  since?: string
  /** Events at this time or earlier. */
  until?: string
  organizationId?: string
  action?: string
  /** Events with a greater number. */
  after?: number
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

export function countMatchingEvents(tx: Transaction, filter: AuditFilter): Promise<number> {
  return countOf(matching(tx, filter))
}

function matching(tx: Transaction, { since, until, organizationId, action, after }: AuditFilter) {
  let query = tx.db.selectFrom('audit_events')
  if (since !== undefined) query = query.where('at', '>=', since)
  if (until !== undefined) query = query.where('at', '<=', until)
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId)
  if (action !== undefined) query = query.where('action', '=', action)
  if (after !== undefined) query = query.where('number', '>', after)
  return query
}
