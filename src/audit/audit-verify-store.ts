import { sql } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { SITE, type AuditChainRow, type AuditRow } from './audit-chain-store.ts'

const texts = [
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
  'details',
] as const

/** What stands in a read text for bytes that are none. */
const REPLACEMENT = '\ufffd'

/**
 * Whether an event's row is in the database as it was read. SQLite keeps values of any type in any column, and reads
 * bytes that are no UTF-8 as if they were.
 */
export async function isStoredAsRead(tx: Transaction, row: AuditRow): Promise<boolean> {
  const isTyped =
    Number.isInteger(row.number) &&
    texts.every((column) => row[column] === null || typeof row[column] === 'string')
  if (!isTyped) return false
  const doubtful = texts.filter((column) => row[column]?.includes(REPLACEMENT))
  if (tx.engine === 'postgres' || doubtful.length === 0) return true
  const stored = await tx.db
    .selectFrom('audit_events')
    .where('number', '=', row.number)
    .select(doubtful.map((column) => sql<Uint8Array>`cast(${sql.ref(column)} as blob)`.as(column)))
    .executeTakeFirstOrThrow()
  return doubtful.every((column) => Buffer.from(row[column] as string).equals(stored[column]))
}

export async function countAuditEvents(tx: Transaction): Promise<number> {
  const { count } = await tx.db
    .selectFrom('audit_events')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Some chains, by the ids of their organizations; that of the whole site comes first. */
export function listAuditChains(
  tx: Transaction,
  after: string | undefined,
  limit: number,
): Promise<AuditChainRow[]> {
  let query = tx.db.selectFrom('audit_chains').selectAll()
  if (after !== undefined) query = query.where('organization_id', '>', after)
  return query.orderBy('organization_id').limit(limit).execute()
}

/** An event that is in no chain, or before the beginning of its own. */
export function findStrayEvent(tx: Transaction): Promise<AuditRow | undefined> {
  return tx.db
    .selectFrom('audit_events')
    .leftJoin('audit_chains', (join) =>
      join.on((eb) =>
        eb('audit_chains.organization_id', '=', eb.fn.coalesce('audit_events.organization_id', eb.val(SITE))),
      ),
    )
    .where((eb) =>
      eb.or([
        eb('audit_chains.organization_id', 'is', null),
        // The name of the whole site's chain, whose events have none.
        eb('audit_events.organization_id', '=', SITE),
        eb('audit_events.position', 'is', null),
        eb('audit_events.position', '<=', eb.ref('audit_chains.start_position')),
        // Or a text, which SQLite would let somebody write there.
        eb('audit_events.position', '>', eb.ref('audit_chains.position')),
      ]),
    )
    .selectAll('audit_events')
    .orderBy('audit_events.number')
    .limit(1)
    .executeTakeFirst()
}

/** What SQLite finds wrong with the table and its indexes, which need not agree once somebody wrote into the file itself. */
export async function findDamage(tx: Transaction): Promise<string | undefined> {
  if (tx.engine === 'postgres') return undefined
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check('audit_events')`.execute(
    tx.db,
  )
  return rows.map((row) => row.integrity_check).find((found) => found !== 'ok')
}

/** When the oldest user was made; users cannot come to be without an audit event. */
export async function oldestUserAt(tx: Transaction): Promise<string | undefined> {
  const { oldest } = await tx.db
    .selectFrom('users')
    .select((eb) => eb.fn.min<string | null>('created_at').as('oldest'))
    .executeTakeFirstOrThrow()
  return oldest ?? undefined
}
