import { isWorkspaceGranted, type Reach } from '../access/granted-places-store.ts'
import type { Transaction } from '../database/database.ts'
import { countOf, pageOf } from '../database/pages.ts'
import { inSlices } from '../database/slices.ts'
import type { Page } from '../jsonapi/paging.ts'
import type { WorkspaceRow } from './workspace-store.ts'

/** The consumers of a workspace that the caller may see. */
function visibleConsumers(tx: Transaction, workspaceId: string, reach: Reach) {
  const query = tx.db
    .selectFrom('remote_state_consumers')
    .innerJoin('workspaces', 'workspaces.id', 'remote_state_consumers.consumer_id')
    .where('remote_state_consumers.workspace_id', '=', workspaceId)
  return reach === 'everything' ? query : query.where(isWorkspaceGranted(tx, reach.userId))
}

/** A page of the visible consumers, by name. */
export async function listVisibleConsumers(
  tx: Transaction,
  workspaceId: string,
  reach: Reach,
  page: Page,
): Promise<{ rows: WorkspaceRow[]; total: number }> {
  const query = visibleConsumers(tx, workspaceId, reach)
  return pageOf(query, page, (found) =>
    found.selectAll('workspaces').orderBy('workspaces.name').orderBy('workspaces.id'),
  )
}

export async function idsOfVisibleConsumers(
  tx: Transaction,
  workspaceId: string,
  reach: Reach,
): Promise<string[]> {
  const rows = await visibleConsumers(tx, workspaceId, reach).select('workspaces.id').execute()
  return rows.map(({ id }) => id)
}

/** Adds the consumers that are not there yet. */
export async function addConsumers(
  tx: Transaction,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  await tx.db
    .insertInto('remote_state_consumers')
    .values([...new Set(ids)].map((id) => ({ workspace_id: workspaceId, consumer_id: id })))
    .onConflict((conflict) => conflict.columns(['workspace_id', 'consumer_id']).doNothing())
    .execute()
}

export async function removeConsumers(
  tx: Transaction,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  await inSlices(ids, async (slice) => {
    await tx.db
      .deleteFrom('remote_state_consumers')
      .where('workspace_id', '=', workspaceId)
      .where('consumer_id', 'in', slice)
      .execute()
    return []
  })
}

export async function countConsumers(tx: Transaction, workspaceId: string): Promise<number> {
  return countOf(tx.db.selectFrom('remote_state_consumers').where('workspace_id', '=', workspaceId))
}
