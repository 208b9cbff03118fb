import { permissionsOf } from '../access/decide.ts'
import type { NeededGrant } from '../access/needed-grants.ts'
import { existing } from '../core/existing.ts'
import { keysOf } from '../core/keys.ts'
import { columns } from '../access/rules.ts'
import type { ExpressionBuilder, Insertable, Selectable } from 'kysely'
import { maskedPath, maskedSegment } from '../core/masked-path.ts'
import type { Transaction } from '../database/database.ts'
import { pageOf } from '../database/pages.ts'
import type { RefusalRequestTable, RefusalTable } from '../database/refusal-table.ts'
import type { Flag, Tables } from '../database/tables.ts'
import { inSlices } from '../database/slices.ts'
import type { Page } from '../jsonapi/paging.ts'
import { REQUESTS_KEPT } from './waiting-refusals.ts'

export type NewRefusalRow = Insertable<RefusalTable>
export type RefusalRow = Selectable<RefusalTable> & { organization_name: string | null }

export type NewRefusal = {
  readonly row: NewRefusalRow & { alike: string; count: number }
  /** Oldest first. */
  readonly requests: readonly { readonly id: string; readonly at: string }[]
}

/** Inserts refusals. One with the same hash as a stored row only raises its count. */
export async function insertRefusals(tx: Transaction, refusals: readonly NewRefusal[]): Promise<void> {
  const written = await tx.db
    .insertInto('refusals')
    .values(refusals.map(({ row }) => row))
    .onConflict((conflict) =>
      conflict.column('alike').doUpdateSet((eb) => ({
        count: eb('refusals.count', '+', eb.ref('excluded.count')),
        at: eb.ref('excluded.at'),
        request_id: eb.ref('excluded.request_id'),
        caller_name: eb.ref('excluded.caller_name'),
      })),
    )
    .returning(['number', 'alike', 'count'])
    .execute()
  const known = new Map(written.map((row) => [row.alike, row]))
  const requests: Insertable<RefusalRequestTable>[] = []
  const growing: number[] = []
  for (const { row, requests: some } of refusals) {
    const { number, count } = existing(known.get(row.alike))
    for (const { id, at } of some) requests.push({ request_id: id, refusal_number: number, at })
    if (count > REQUESTS_KEPT) growing.push(number)
  }
  await inSlices(requests, (some) =>
    tx.db
      .insertInto('refusal_requests')
      .values(some)
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  )
  for (const number of growing) await deleteOldestRequests(tx, number)
}

async function deleteOldestRequests(tx: Transaction, number: number): Promise<void> {
  await tx.db
    .deleteFrom('refusal_requests')
    .where('refusal_number', '=', number)
    .where('request_id', 'not in', (eb) =>
      eb
        .selectFrom('refusal_requests')
        .where('refusal_number', '=', number)
        .select('request_id')
        .orderBy('at', 'desc')
        .orderBy('request_id')
        .limit(REQUESTS_KEPT),
    )
    .execute()
}

/** Rows that share a limit: shared or other rows of an organization (null: no organization), or only one caller's. */
type RefusalPart = { organizationId: string | null; isShared: Flag; callerId?: string }

/** Deletes the oldest rows of a part, except the newest `kept`. */
export async function deleteOldestRefusals(
  tx: Transaction,
  { organizationId, isShared, callerId }: RefusalPart,
  kept: number,
): Promise<void> {
  const isOfThem = (eb: ExpressionBuilder<Tables, 'refusals'>) =>
    eb.and([
      eb('organization_id', organizationId === null ? 'is' : '=', organizationId),
      eb('is_shared', '=', isShared),
      ...(callerId === undefined ? [] : [eb('caller_id', '=', callerId)]),
    ])
  const first = await tx.db
    .selectFrom('refusals')
    .where(isOfThem)
    .select(['at', 'number'])
    .orderBy('at', 'desc')
    .orderBy('number', 'desc')
    .offset(kept)
    .limit(1)
    .executeTakeFirst()
  if (first === undefined) return
  await tx.db
    .deleteFrom('refusals')
    .where(isOfThem)
    .where((eb) =>
      eb.or([eb('at', '<', first.at), eb('at', '=', first.at).and('number', '<=', first.number)]),
    )
    .execute()
}

/** Deletes up to `limit` rows older than `at`, oldest first. Returns how many. */
export async function deleteRefusalsBefore(tx: Transaction, at: string, limit: number): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('refusals')
    .where('number', 'in', (eb) =>
      eb.selectFrom('refusals').where('at', '<', at).select('number').orderBy('at').limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

type RefusalFilter = {
  /** Undefined: all rows, also those without an organization. */
  organizationId?: string
  requestId?: string
  /** Only refusals of this caller. */
  callerId?: string
  /** Whether `callerId` also finds outsiders. False for readers who may not learn who an outsider was. */
  findsOutsiders: boolean
  /** Only refusals of callers who lacked the permission. */
  lacksPermission?: boolean
}

/**
 * Whether the caller lacked the permission. Others were told the truth: there is nothing of what they asked for, and they
 * would see it if there were.
 */
function lacksPermission(eb: ExpressionBuilder<Tables, 'refusals'>) {
  const permitted = columns.flatMap((column) => {
    const permissions = permissionsOf(column)
    if (permissions.length === 0) return []
    return [eb.and([eb('standing', 'like', `%"${column}"%`), eb('permission', 'in', permissions)])]
  })
  return eb.and([
    eb('permission', 'is not', null),
    eb.or([eb('reason', '=', 'forbidden'), eb.and([eb('is_found', '=', 0), eb.not(eb.or(permitted))])]),
  ])
}

/** Newest first. */
export async function listRefusals(
  tx: Transaction,
  { organizationId, requestId, callerId, findsOutsiders, lacksPermission: isLacking }: RefusalFilter,
  page: Page,
): Promise<{ rows: RefusalRow[]; total: number }> {
  let query = tx.db.selectFrom('refusals')
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId)
  if (requestId !== undefined) {
    query = query.where('number', 'in', (eb) =>
      eb.selectFrom('refusal_requests').where('request_id', '=', requestId).select('refusal_number'),
    )
  }
  if (callerId !== undefined) query = query.where('caller_id', '=', callerId)
  if (callerId !== undefined && !findsOutsiders) query = query.where('is_inside', '=', 1)
  if (isLacking === true) query = query.where(lacksPermission)
  const { rows, total } = await pageOf(query, page, (found) =>
    found
      .leftJoin('organizations', 'organizations.id', 'refusals.organization_id')
      .selectAll('refusals')
      .select('organizations.name as organization_name')
      .orderBy('refusals.at', 'desc')
      .orderBy('refusals.number', 'desc'),
  )
  // The release before has stored paths as they were asked for.
  const masked = rows.map((row) => ({
    ...row,
    path: maskedPath(row.path),
    object_id: row.object_id === null ? null : maskedSegment(row.object_id),
  }))
  return { rows: masked, total }
}

/** Finds a refusal by its request id, in any organization or none. */
export async function findRefusal(tx: Transaction, requestId: string): Promise<RefusalRow | undefined> {
  const { rows } = await listRefusals(tx, { requestId, findsOutsiders: true }, { number: 1, size: 1 })
  return rows[0]
}

/** The names of the teams, workspaces and projects that grants name. Of one that is gone: undefined. */
export async function namesIn(
  tx: Transaction,
  needed: readonly NeededGrant[],
): Promise<(id: string) => string | undefined> {
  const ids: Record<'teams' | 'workspaces' | 'projects', Set<string>> = {
    teams: new Set(),
    workspaces: new Set(),
    projects: new Set(),
  }
  for (const one of needed) {
    if ('team' in one) ids.teams.add(one.team)
    for (const { type, id } of 'on' in one ? one.on : []) if (id !== null) ids[type].add(id)
  }
  const names = new Map<string, string>()
  for (const table of keysOf(ids)) {
    const found = await inSlices([...ids[table]], (slice) =>
      tx.db.selectFrom(table).where('id', 'in', slice).select(['id', 'name']).execute(),
    )
    for (const { id, name } of found) names.set(id, name)
  }
  return (id) => names.get(id)
}
