import type { Transaction } from '../database/database.ts'
import { isOfChain, SITE } from './audit-chain-store.ts'

/** The chain with the oldest event, if that is older than `before`; otherwise undefined. */
export async function findAgedChain(
  tx: Transaction,
  before: string,
  except: readonly string[],
): Promise<string | undefined> {
  let query = tx.db.selectFrom('audit_chains').where('oldest_at', '<', before).select('organization_id')
  if (except.length > 0) query = query.where('organization_id', 'not in', except)
  return (await query.orderBy('oldest_at').limit(1).executeTakeFirst())?.organization_id
}

/** Deletes the events of a chain after position `after` up to `last`. */
export async function deleteAuditEvents(
  tx: Transaction,
  organizationId: string,
  after: number,
  last: number,
): Promise<void> {
  await tx.db
    .deleteFrom('audit_events')
    .where(isOfChain(organizationId))
    .where('position', '>', after)
    .where('position', '<=', last)
    .execute()
}

/** Empty chains of organizations that do not exist any more. */
export async function findUnusedChains(tx: Transaction, limit: number): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('audit_chains')
    .where('oldest_at', 'is', null)
    .where('organization_id', '<>', SITE)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('organizations')
            .whereRef('organizations.id', '=', 'audit_chains.organization_id')
            .select('organizations.id'),
        ),
      ),
    )
    .select('organization_id')
    .orderBy('organization_id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.organization_id)
}
