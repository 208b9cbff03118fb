import type { Transaction } from '../database/database.ts'
import type { StateVersionRow } from './state-version-store.ts'

/** Finalized versions whose outputs nobody is processing at the moment; oldest first. */
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

/** Takes the job until `leaseUntil`; undefined when another node has it, or when it is done. */
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

/** A job that is still this node's: by the lease that it took, which no other can have. */
export type Held = { id: string; lease: string }

/** Holds on to a job; false when it was lost. */
export async function renewLease(tx: Transaction, { id, lease }: Held, leaseUntil: string): Promise<boolean> {
  const result = await tx.db
    .updateTable('state_versions')
    .set({ lease_until: leaseUntil })
    .where('id', '=', id)
    // Not of a version whose content was deleted meanwhile.
    .where('status', '=', 'finalized')
    .where('lease_until', '=', lease)
    .where('resources_processed', '=', 0)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** Ends a job, once: its outputs are readable from here on. `failure` says why there are none. */
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

/** Notes why it failed, and lets it be taken again from `notBefore` on. */
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

/** Lets a job be taken again from `notBefore` on, as if it had not been taken. */
export async function returnJob(tx: Transaction, { id, lease }: Held, notBefore: string): Promise<void> {
  await tx.db
    .updateTable('state_versions')
    .set((eb) => ({ lease_until: notBefore, attempts: eb('attempts', '-', 1) }))
    .where('id', '=', id)
    .where('lease_until', '=', lease)
    .execute()
}

/** Gives up every lease: for a start after which nobody else can be at work, since a lease that is left is a dead one's. */
export async function releaseLeases(tx: Transaction): Promise<void> {
  await tx.db
    .updateTable('state_versions')
    .set({ lease_until: null })
    .where('status', 'in', ['finalized', 'discarded'])
    .where('resources_processed', '=', 0)
    .where('lease_until', 'is not', null)
    .execute()
}
