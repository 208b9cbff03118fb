import { sql, type ExpressionBuilder, type Selectable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { forUpdate, nextNumber, numbersIn } from '../database/portable.ts'
import { prepared, type Lists } from '../database/prepared.ts'
import { insertionOf, rowsOfLists } from '../database/rows.ts'
import { inSlices } from '../database/slices.ts'
import type { AuditChainTable, AuditEventTable } from '../database/audit-tables.ts'
import type { Tables } from '../database/tables.ts'

export type AuditRow = Selectable<AuditEventTable>
export type AuditChainRow = Selectable<AuditChainTable>

/** The columns of an event that hold text, without `details`, which may be long. */
export const shortTexts = [
  'at',
  'request_id',
  'actor_kind',
  'actor_id',
  'actor_name',
  'token_id',
  'action',
  'organization_id',
  'resource_type',
  'resource_id',
] as const

/** The chain for events without an organization. */
export const SITE = ''

/** The locked end of an organization's chain. */
export type AuditHead = { readonly organizationId: string } & Pick<
  AuditChainRow,
  'position' | 'at' | 'link' | 'oldest_at'
> & {
    /** The numbers of the next events. */
    readonly numbers: readonly number[]
  }

/** Of the chain of an organization. `places` is a list of numbers as JSON, one for each event. */
type Asked = { id: string; places: string }

/** Locks the chains in the order of their ids, as those who lock one after the other do. */
const headQueries = prepared<Lists<Asked>>()((db, param) => {
  const asked = sql<Asked>`(select * from ${rowsOfLists({ id: 'text', places: 'text' }, param)})`
  return db
    .selectFrom(
      db
        .selectFrom('audit_chains')
        .innerJoin(asked.as('asked'), 'asked.id', 'organization_id')
        .select(['asked.id', 'asked.places', 'position', 'at', 'link', 'oldest_at'])
        .orderBy('organization_id')
        .forUpdate('audit_chains')
        .as('chain'),
    )
    .innerJoin(
      sql<{ value: string }>`json_array_elements_text(${sql.ref('chain.places')}::json)`.as('place'),
      (join) => join.onTrue(),
    )
    .select(['chain.id', 'position', 'at', 'link', 'oldest_at'])
    .select(nextNumber('postgres', 'audit_events', 'place.value').as('number'))
})

const headQuery = prepared<Asked>()((db, param, engine) => {
  const chain = db
    .selectFrom('audit_chains')
    .where('organization_id', '=', param('id'))
    .select(['position', 'at', 'link', 'oldest_at'])
  // PostgreSQL draws the numbers only after it has the lock, so numbers grow in the order of the chain.
  return db
    .selectFrom(chain.$call(forUpdate({ engine, mode: 'write' })).as('chain'))
    .innerJoin(numbersIn(engine, param('places')).as('place'), (join) => join.onTrue())
    .select(['position', 'at', 'link', 'oldest_at'])
    .select(nextNumber(engine, 'audit_events', 'place.value').as('number'))
}, headQueries)

/**
 * The end of a chain, for `count` new events. It stays locked until the transaction ends, because the events of a chain need
 * a strict order. `before` is the number of events that the transaction inserts first.
 */
export async function lockAuditHead(
  tx: Transaction,
  organizationId: string,
  { count, before }: { count: number; before: number },
): Promise<AuditHead | undefined> {
  const places = JSON.stringify(Array.from({ length: count }, (_, place) => before + place))
  const rows = await tx.all(headQuery, { id: organizationId, places })
  const [head] = rows
  if (head === undefined) return undefined
  const { position, at, link, oldest_at } = head
  return { organizationId, position, at, link, oldest_at, numbers: rows.map(({ number }) => number) }
}

const insertion = insertionOf('audit_events', {
  number: 'bigint',
  at: 'text',
  request_id: 'text',
  actor_kind: 'text',
  actor_id: 'text',
  actor_name: 'text',
  token_id: 'text',
  action: 'text',
  organization_id: 'text',
  resource_type: 'text',
  resource_id: 'text',
  details: 'text',
  position: 'bigint',
  mac: 'bytea',
})

type End = Pick<AuditHead, 'organizationId' | 'position' | 'at' | 'link'>

const headUpdates = prepared<Lists<End>>()((db, param) =>
  db
    .updateTable('audit_chains')
    .from(
      sql<End>`(select * from ${rowsOfLists({ organizationId: 'text', position: 'bigint', at: 'text', link: 'bytea' }, param)})`.as(
        'end',
      ),
    )
    .set((row) => ({
      position: row.ref('end.position'),
      at: row.ref('end.at'),
      link: row.ref('end.link'),
    }))
    .whereRef('organization_id', '=', 'end.organizationId'),
)

const headUpdate = prepared<End>()(
  (db, param) =>
    db
      .updateTable('audit_chains')
      .set({ position: param('position'), at: param('at'), link: param('link') })
      .where('organization_id', '=', param('organizationId')),
  headUpdates,
)

const ROWS_A_STATEMENT = 100
/** So few are inserted with a prepared statement: on SQLite one by one, on PostgreSQL all at once. */
const FEW_ROWS = 20

export async function insertAuditEventRows(tx: Transaction, rows: readonly AuditRow[]): Promise<void> {
  if (rows.length <= FEW_ROWS) {
    for (const row of rows) await tx.send(insertion, row)
    return
  }
  const insert = (some: readonly AuditRow[]) => tx.db.insertInto('audit_events').values(some).execute()
  await inSlices(rows, insert, ROWS_A_STATEMENT)
}

/** Stores the newest event as the end of its chain. */
export async function moveAuditHead(tx: Transaction, end: End): Promise<void> {
  await tx.send(headUpdate, end)
}

/** Returns false if another transaction inserted it first. */
export async function insertAuditChain(tx: Transaction, row: AuditChainRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx.db
    .insertInto('audit_chains')
    .values(row)
    .onConflict((conflict) => conflict.column('organization_id').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

const chainOf = (tx: Transaction, organizationId: string) =>
  tx.db.selectFrom('audit_chains').where('organization_id', '=', organizationId).selectAll()

export function findAuditChain(tx: Transaction, organizationId: string): Promise<AuditChainRow | undefined> {
  return chainOf(tx, organizationId).executeTakeFirst()
}

export function lockAuditChain(tx: Transaction, organizationId: string): Promise<AuditChainRow | undefined> {
  return chainOf(tx, organizationId).$call(forUpdate(tx)).executeTakeFirst()
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

/** SQL condition: the event belongs to the chain. */
export const isOfChain = (organizationId: string) => (eb: ExpressionBuilder<Tables, 'audit_events'>) =>
  organizationId === SITE ? eb('organization_id', 'is', null) : eb('organization_id', '=', organizationId)

/** Events of a chain after a position, in order. */
export function auditEventsAfter(
  tx: Transaction,
  organizationId: string,
  position: number,
  limit: number,
): Promise<AuditRow[]> {
  return tx.db
    .selectFrom('audit_events')
    .where(isOfChain(organizationId))
    .where('position', '>', position)
    .selectAll()
    .orderBy('position')
    .orderBy('number')
    .limit(limit)
    .execute()
}
