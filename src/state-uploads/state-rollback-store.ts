import type { Transaction } from '../database/database.ts'

/** The highest serial number of a workspace's versions that are not discarded; 0 if there are none. */
export async function findHighestSerial(tx: Transaction, workspaceId: string): Promise<number> {
  const found = await tx.db
    .selectFrom('state_versions')
    .where('workspace_id', '=', workspaceId)
    .where('status', '!=', 'discarded')
    .select('serial')
    .orderBy('serial', 'desc')
    .limit(1)
    .executeTakeFirst()
  return found?.serial ?? 0
}

/** Whether a rollback of this workspace is being written: a discarded version with a valid lease. */
export async function isRollingBack(tx: Transaction, workspaceId: string, now: string): Promise<boolean> {
  const found = await tx.db
    .selectFrom('state_versions')
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'discarded')
    .where('lease_until', '>=', now)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** Renews the lease of a version that is being written; false if the version is gone or the lease was lost. */
export async function renewRollback(
  tx: Transaction,
  id: string,
  lease: string,
  leaseUntil: string | null,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('state_versions')
    .set({ lease_until: leaseUntil })
    .where('id', '=', id)
    .where('status', '=', 'discarded')
    .where('lease_until', '=', lease)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
