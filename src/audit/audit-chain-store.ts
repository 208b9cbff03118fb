import type { Selectable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { forUpdate, nextNumber } from '../database/portable.ts'
import { prepared } from '../database/prepared.ts'
import type { AuditChainTable, AuditEventTable } from '../database/audit-tables.ts'

export type AuditRow = Selectable<AuditEventTable>
export type AuditChainRow = Selectable<AuditChainTable>

/** The chain of what belongs to no organization. */
export const SITE = ''

export type AuditHead = Pick<AuditChainRow, 'position' | 'at' | 'link' | 'oldest_at'> & {
  /** What the next event is numbered with. */
  number: number
}

const headQuery = prepared<{ organizationId: string }>()((db, param, engine) => {
  const chain = db
    .selectFrom('audit_chains')
    .where('organization_id', '=', param('organizationId'))
    .select(['position', 'at', 'link', 'oldest_at'])
  // PostgreSQL counts only once the lock is held, so that numbers of one chain come in the order of its events.
  return db
    .selectFrom(chain.$call(forUpdate({ engine, mode: 'write' })).as('chain'))
    .selectAll()
    .select(nextNumber(engine, 'audit_events').as('number'))
})

/** The end of a chain, locked until the transaction ends: the events of one chain follow each other. */
export function lockAuditHead(tx: Transaction, organizationId: string): Promise<AuditHead | undefined> {
  return tx.first(headQuery, { organizationId })
}

const insertion = prepared<AuditRow>()((db, param) =>
  db.insertInto('audit_events').values({
    number: param('number'),
    at: param('at'),
    request_id: param('request_id'),
    actor_kind: param('actor_kind'),
    actor_id: param('actor_id'),
    actor_name: param('actor_name'),
    token_id: param('token_id'),
    action: param('action'),
    organization_id: param('organization_id'),
    resource_type: param('resource_type'),
    resource_id: param('resource_id'),
    details: param('details'),
    position: param('position'),
    mac: param('mac'),
  }),
)

const headUpdate = prepared<{ organizationId: string; position: number; at: string; link: Uint8Array }>()(
  (db, param) =>
    db
      .updateTable('audit_chains')
      .set({ position: param('position'), at: param('at'), link: param('link') })
      .where('organization_id', '=', param('organizationId')),
)

const ROWS_A_STATEMENT = 100

export async function insertAuditEventRows(tx: Transaction, rows: readonly AuditRow[]): Promise<void> {
  const [only] = rows
  if (only !== undefined && rows.length === 1) {
    await tx.all(insertion, only)
    return
  }
  for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT) {
    await tx.db
      .insertInto('audit_events')
      .values(rows.slice(from, from + ROWS_A_STATEMENT))
      .execute()
  }
}

/** Notes what the newest event of a chain is. */
export async function moveAuditHead(
  tx: Transaction,
  head: { organizationId: string; position: number; at: string; link: Uint8Array },
): Promise<void> {
  await tx.all(headUpdate, head)
}

/** False when somebody was faster. */
export async function insertAuditChain(tx: Transaction, row: AuditChainRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx.db
    .insertInto('audit_chains')
    .values(row)
    .onConflict((conflict) => conflict.column('organization_id').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

export function findAuditChain(tx: Transaction, organizationId: string): Promise<AuditChainRow | undefined> {
  return tx.db
    .selectFrom('audit_chains')
    .where('organization_id', '=', organizationId)
    .selectAll()
    .executeTakeFirst()
}

export function lockAuditChain(tx: Transaction, organizationId: string): Promise<AuditChainRow | undefined> {
  return tx.db
    .selectFrom('audit_chains')
    .where('organization_id', '=', organizationId)
    .selectAll()
    .$call(forUpdate(tx))
    .executeTakeFirst()
}

export async function updateAuditChain(
  tx: Transaction,
  organizationId: string,
  changes: Partial<AuditChainRow>,
): Promise<void> {
  await tx.db.updateTable('audit_chains').set(changes).where('organization_id', '=', organizationId).execute()
}

export async function deleteAuditChain(tx: Transaction, organizationId: string): Promise<void> {
  await tx.db.deleteFrom('audit_chains').where('organization_id', '=', organizationId).execute()
}

/** Events of a chain behind a position, in their order. */
export function auditEventsAfter(
  tx: Transaction,
  organizationId: string,
  position: number,
  limit: number,
): Promise<AuditRow[]> {
  return tx.db
    .selectFrom('audit_events')
    .where(
      'organization_id',
      organizationId === SITE ? 'is' : '=',
      organizationId === SITE ? null : organizationId,
    )
    .where('position', '>', position)
    .selectAll()
    .orderBy('position')
    .orderBy('number')
    .limit(limit)
    .execute()
}
