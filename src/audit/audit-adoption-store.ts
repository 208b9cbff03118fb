import { sql } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import type { AuditRow } from './audit-chain-store.ts'

/** Events without a chain, sorted by number. */
export function unchainedEvents(tx: Transaction, after: number, limit: number): Promise<AuditRow[]> {
  return tx.db
    .selectFrom('audit_events')
    .where('number', '>', after)
    .where('position', 'is', null)
    .selectAll()
    .orderBy('number')
    .limit(limit)
    .execute()
}

export type Placed = { number: number; position: number; mac: Uint8Array }

const placing = prepared<Placed>()((db, param) =>
  db
    .updateTable('audit_events')
    .set({ position: param('position'), mac: param('mac') })
    .where('number', '=', param('number')),
)

export async function placeEvents(tx: Transaction, placed: readonly Placed[]): Promise<void> {
  if (tx.engine === 'sqlite') {
    for (const event of placed) await tx.all(placing, event)
    return
  }
  // One round trip for all of them.
  const of = <K extends keyof Placed>(name: K) => sql.val(placed.map((event) => event[name]))
  await sql`
    update audit_events set position = given.position, mac = given.mac
    from unnest(${of('number')}::bigint[], ${of('position')}::bigint[], ${of('mac')}::bytea[]) as given (number, position, mac)
    where audit_events.number = given.number`.execute(tx.db)
}
