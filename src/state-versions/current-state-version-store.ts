import type { Transaction } from '../database/database.ts'

export async function setCurrentStateVersion(
  tx: Transaction,
  workspaceId: string,
  stateVersionId: string,
  at: string,
): Promise<void> {
  await tx.db
    .updateTable('workspaces')
    .set({ current_state_version_id: stateVersionId, updated_at: at })
    .where('id', '=', workspaceId)
    .execute()
}

const MAX_DELETED_AT_ONCE = 20

/**
 * Deletes versions beyond the newest `kept`, some at a time, never the current one. Those that never came to be are
 * counted by themselves, lest they drive out the others. Without its row, and with it its key, what is left of a
 * version's content cannot be read; it is swept later.
 */
export async function deleteOldStateVersions(
  tx: Transaction,
  workspaceId: string,
  kept: number,
): Promise<void> {
  for (const status of ['finalized', 'discarded'] as const) {
    const old = await tx.db
      .selectFrom('state_versions')
      .where('workspace_id', '=', workspaceId)
      .where('status', '=', status)
      .select('id')
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(MAX_DELETED_AT_ONCE)
      .offset(kept)
      .execute()
    if (old.length === 0) continue
    await tx.db
      .deleteFrom('state_versions')
      .where(
        'id',
        'in',
        old.map((row) => row.id),
      )
      .where('id', 'not in', (eb) =>
        eb
          .selectFrom('workspaces')
          .where('id', '=', workspaceId)
          .where('current_state_version_id', 'is not', null)
          .select('current_state_version_id')
          .$castTo<{ current_state_version_id: string }>(),
      )
      .execute()
  }
}
