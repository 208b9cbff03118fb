import type { Transaction } from '../database/database.ts'
import type { StateVersionRow } from '../state-versions/state-version-store.ts'

/** Finalized versions with unprocessed outputs that no node holds, oldest first. */
export async function findUnprocessed(tx: Transaction, now: string, limit: number): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('state_versions')
    .where('status', '=', 'finalized')
    .where('resources_processed', '=', 0)
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', now)]))
    .select('id')
    .orderBy('finalized_at')
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

/** Leases the job until `leaseUntil`. Undefined if another node holds it or it is done. */
export function takeJob(
  tx: Transaction,
  id: string,
  now: string,
  leaseUntil: string,
): Promise<StateVersionRow | undefined> {
  return tx.db
    .updateTable('state_versions')
    .set((eb) => ({ lease_until: leaseUntil, attempts: eb('attempts', '+', 1) }))
    .where('id', '=', id)
    .where('status', '=', 'finalized')
    .where('resources_processed', '=', 0)
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', now)]))
    .returningAll()
    .executeTakeFirst()
}

/** A job of this node. The lease identifies it: no other node can have the same one. */
export type Held = { id: string; lease: string }

/** Extends the lease; false if this node has lost the job. */
export async function renewLease(tx: Transaction, { id, lease }: Held, leaseUntil: string): Promise<boolean> {
  const result = await tx.db
    .updateTable('state_versions')
    .set({ lease_until: leaseUntil })
    .where('id', '=', id)
    // A version whose content was deleted meanwhile has no job any more.
    .where('status', '=', 'finalized')
    .where('lease_until', '=', lease)
    .where('resources_processed', '=', 0)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** Ends a job, once. From here on its outputs are readable; `failure` says why there are none. */
export async function endJob(
  tx: Transaction,
  { id, lease }: Held,
  outcome: { outputsCount: number; failure: string | null },
): Promise<boolean> {
  const result = await tx.db
    .updateTable('state_versions')
    .set({
      resources_processed: 1,
      lease_until: null,
      outputs_count: outcome.outputsCount,
      last_failure: outcome.failure,
    })
    .where('id', '=', id)
    .where('status', '=', 'finalized')
    .where('lease_until', '=', lease)
    .where('resources_processed', '=', 0)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** Stores the reason of a failure and allows the next attempt from `notBefore` on. */
export async function postponeJob(
  tx: Transaction,
  { id, lease }: Held,
  failure: string,
  notBefore: string,
): Promise<void> {
  await tx.db
    .updateTable('state_versions')
    .set({ lease_until: notBefore, last_failure: failure })
    .where('id', '=', id)
    .where('lease_until', '=', lease)
    .execute()
}

/** Allows the next attempt from `notBefore` on and does not count this one. */
export async function returnJob(tx: Transaction, { id, lease }: Held, notBefore: string): Promise<void> {
  await tx.db
    .updateTable('state_versions')
    .set((eb) => ({ lease_until: notBefore, attempts: eb('attempts', '-', 1) }))
    .where('id', '=', id)
    .where('lease_until', '=', lease)
    .execute()
}

/** Clears every lease. Only for a start at which no other process can run: all leases belong to dead processes. */
export async function releaseLeases(tx: Transaction): Promise<void> {
  await tx.db
    .updateTable('state_versions')
    .set({ lease_until: null })
    .where('status', 'in', ['finalized', 'discarded'])
    .where('resources_processed', '=', 0)
    .where('lease_until', 'is not', null)
    .execute()
}
