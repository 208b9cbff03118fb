import type { Insertable, Selectable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import type { RefusalTable } from '../database/refusal-table.ts'
import type { Page } from '../jsonapi/paging.ts'

export type NewRefusalRow = Insertable<RefusalTable>
export type RefusalRow = Selectable<RefusalTable> & { organization_name: string | null }

export async function insertRefusals(tx: Transaction, rows: readonly NewRefusalRow[]): Promise<void> {
  await tx.db.insertInto('refusals').values(rows).execute()
}

/** Deletes the oldest of an organization (null: of nobody) but so many. */
export async function deleteOldestRefusals(
  tx: Transaction,
  organizationId: string | null,
  kept: number,
): Promise<void> {
  const first = await tx.db
    .selectFrom('refusals')
    .where('organization_id', organizationId === null ? 'is' : '=', organizationId)
    .select(['at', 'number'])
    .orderBy('at', 'desc')
    .orderBy('number', 'desc')
    .offset(kept)
    .limit(1)
    .executeTakeFirst()
  if (first === undefined) return
  await tx.db
    .deleteFrom('refusals')
    .where('organization_id', organizationId === null ? 'is' : '=', organizationId)
    .where((eb) =>
      eb.or([eb('at', '<', first.at), eb('at', '=', first.at).and('number', '<=', first.number)]),
    )
    .execute()
}

/** Deletes some of those before a time, oldest first; how many. */
export async function deleteRefusalsBefore(tx: Transaction, at: string, limit: number): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('refusals')
    .where('number', 'in', (eb) =>
      eb.selectFrom('refusals').where('at', '<', at).select('number').orderBy('at').limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

export type RefusalFilter = {
  /** Undefined: of all organizations, and of none. */
  organizationId?: string
  requestId?: string | undefined
  /** Who was refused. */
  callerId?: string | undefined
  /** Whether a caller is found who did not belong to the organization: who reads must not learn who that was. */
  findsOutsiders: boolean
}

/** Newest first. */
export async function listRefusals(
  tx: Transaction,
  { organizationId, requestId, callerId, findsOutsiders }: RefusalFilter,
  page: Page,
): Promise<{ rows: RefusalRow[]; total: number }> {
  let query = tx.db.selectFrom('refusals')
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId)
  if (requestId !== undefined) query = query.where('request_id', '=', requestId)
  if (callerId !== undefined) query = query.where('caller_id', '=', callerId)
  if (callerId !== undefined && !findsOutsiders) query = query.where('is_inside', '=', 1)
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const rows = await query
    .leftJoin('organizations', 'organizations.id', 'refusals.organization_id')
    .selectAll('refusals')
    .select('organizations.name as organization_name')
    .orderBy('refusals.at', 'desc')
    .orderBy('refusals.number', 'desc')
    .limit(page.size)
    .offset((page.number - 1) * page.size)
    .execute()
  return { rows, total }
}

/** By the request's id, whosever it is. */
export async function findRefusal(tx: Transaction, requestId: string): Promise<RefusalRow | undefined> {
  const { rows } = await listRefusals(tx, { requestId, findsOutsiders: true }, { number: 1, size: 1 })
  return rows[0]
}
