import type { Transaction } from '../database/database.ts'
import type { AuditRow } from './audit-chain-store.ts'

export type PrintedRow = AuditRow & { organization_name: string | null }

export type AuditFilter = {
  /** Events at this time or later. */
  since?: string
  organizationId?: string
  action?: string
  /** Events with a greater number. */
  after?: number
}

/** The newest matching events, oldest first. */
export async function newestAuditEvents(
  tx: Transaction,
  { since, organizationId, action, after }: AuditFilter,
  limit: number,
): Promise<PrintedRow[]> {
  let query = tx.db
    .selectFrom('audit_events')
    .leftJoin('organizations', 'organizations.id', 'audit_events.organization_id')
    .selectAll('audit_events')
    .select('organizations.name as organization_name')
  if (since !== undefined) query = query.where('at', '>=', since)
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId)
  if (action !== undefined) query = query.where('action', '=', action)
  if (after !== undefined) query = query.where('number', '>', after)
  // Both columns give the same order; within one organization there is an index on `position`.
  const order = organizationId === undefined ? 'number' : 'position'
  const rows = await query.orderBy(order, 'desc').limit(limit).execute()
  return rows.toReversed()
}
