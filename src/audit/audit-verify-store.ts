import { isOwnFile } from '../database/portable.ts'
import { sql } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { countOf } from '../database/pages.ts'
import { shortTexts, SITE, type AuditChainRow, type AuditRow } from './audit-chain-store.ts'

const texts = [...shortTexts, 'details'] as const

/** Replaces invalid bytes when text is read. */
const REPLACEMENT = '\ufffd'

/**
 * Whether the stored row equals the row that was read. SQLite allows any type in any column, and decodes invalid UTF-8
 * with replacement characters.
 */
export async function isStoredAsRead(tx: Transaction, row: AuditRow): Promise<boolean> {
  const isTyped =
    Number.isInteger(row.number) &&
    texts.every((column) => row[column] === null || typeof row[column] === 'string')
  if (!isTyped) return false
  const doubtful = texts.filter((column) => row[column]?.includes(REPLACEMENT))
  if (!isOwnFile(tx) || doubtful.length === 0) return true
  const stored = await tx.db
    .selectFrom('audit_events')
    .where('number', '=', row.number)
    .select(doubtful.map((column) => sql<Uint8Array>`cast(${sql.ref(column)} as blob)`.as(column)))
    .executeTakeFirstOrThrow()
  return doubtful.every((column) => Buffer.from(row[column] ?? '').equals(stored[column]))
}

export async function countEveryAuditEvent(tx: Transaction): Promise<number> {
  return countOf(tx.db.selectFrom('audit_events'))
}

/** Some chains, sorted by organization id. The site's chain comes first. */
export function listAuditChains(
  tx: Transaction,
  after: string | undefined,
  limit: number,
): Promise<AuditChainRow[]> {
  let query = tx.db.selectFrom('audit_chains').selectAll()
  if (after !== undefined) query = query.where('organization_id', '>', after)
  return query.orderBy('organization_id').limit(limit).execute()
}

/** An event outside any chain, or beyond the start or end of its chain. */
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
        // This is the name of the site's chain; events of the site have null.
        eb('audit_events.organization_id', '=', SITE),
        eb('audit_events.position', 'is', null),
        eb('audit_events.position', '<=', eb.ref('audit_chains.start_position')),
        // Also true for a text, which SQLite allows in this column.
        eb('audit_events.position', '>', eb.ref('audit_chains.position')),
      ]),
    )
    .selectAll('audit_events')
    .orderBy('audit_events.number')
    .limit(1)
    .executeTakeFirst()
}

/** Damage that SQLite finds in the table and its indexes, which may disagree after someone edited the file directly. */
export async function findDamage(tx: Transaction): Promise<string | undefined> {
  if (!isOwnFile(tx)) return undefined
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check('audit_events')`.execute(
    tx.db,
  )
  return rows.map((row) => row.integrity_check).find((found) => found !== 'ok')
}

/** When the oldest user was created. Creating a user always writes an audit event. */
export async function oldestUserAt(tx: Transaction): Promise<string | undefined> {
  const { oldest } = await tx.db
    .selectFrom('users')
    .select((eb) => eb.fn.min<string | null>('created_at').as('oldest'))
    .executeTakeFirstOrThrow()
  return oldest ?? undefined
}
