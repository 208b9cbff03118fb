import type { Transaction } from '../database/database.ts'
import type { AuditChainRow, AuditRow } from './audit-chain-store.ts'

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
        eb('audit_chains.organization_id', '=', eb.fn.coalesce('audit_events.organization_id', eb.val(''))),
      ),
    )
    .where((eb) =>
      eb.or([
        eb('audit_chains.organization_id', 'is', null),
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

/** Whether anything is there that cannot have come to be without an audit event. */
export async function hasUsers(tx: Transaction): Promise<boolean> {
  return (await tx.db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}
