import type { Updateable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import type { StateVersionTable } from '../database/tables.ts'
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

const heldJob = (tx: Transaction, { id, lease }: Held) =>
  tx.db.updateTable('state_versions').where('id', '=', id).where('lease_until', '=', lease)

/** Returns false if this node has lost the job, or it is done. */
async function changeJob(
  tx: Transaction,
  held: Held,
  changes: Updateable<StateVersionTable>,
): Promise<boolean> {
  const result = await heldJob(tx, held)
    // A version whose content was deleted meanwhile has no job any more.
    .where('status', '=', 'finalized')
    .where('resources_processed', '=', 0)
    .set(changes)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** Extends the lease; false if this node has lost the job. */
export function renewLease(tx: Transaction, held: Held, leaseUntil: string): Promise<boolean> {
  return changeJob(tx, held, { lease_until: leaseUntil })
}

/** Ends a job, once. From here on its outputs are readable; `failure` says why there are none. */
export function endJob(
  tx: Transaction,
  held: Held,
  outcome: { outputsCount: number; failure: string | null },
): Promise<boolean> {
  return changeJob(tx, held, {
    resources_processed: 1,
    lease_until: null,
    outputs_count: outcome.outputsCount,
    last_failure: outcome.failure,
  })
}

/** Stores the reason of a failure and allows the next attempt from `notBefore` on. */
export async function postponeJob(
  tx: Transaction,
  held: Held,
  failure: string,
  notBefore: string,
): Promise<void> {
  await heldJob(tx, held).set({ lease_until: notBefore, last_failure: failure }).execute()
}

/** Allows the next attempt from `notBefore` on and does not count this one. */
export async function returnJob(tx: Transaction, held: Held, notBefore: string): Promise<void> {
  await heldJob(tx, held)
    .set((eb) => ({ lease_until: notBefore, attempts: eb('attempts', '-', 1) }))
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
