import { sql } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import type { WorkspaceRow } from '../workspaces/workspace-store.ts'
import { findStateVersion, statuses, type StateVersionRow } from './state-version-store.ts'

/** A literal, not a parameter: SQLite uses the partial index on these rows only for a literal. */
const isSnapshot = sql.lit<1>(1)

const pointing = prepared<{ workspaceId: string; stateVersionId: string; at: string }>()((db, param) =>
  db
    .updateTable('workspaces')
    .set({ current_state_version_id: param('stateVersionId'), updated_at: param('at') })
    .where('id', '=', param('workspaceId')),
)

const endingSnapshots = prepared<{ workspaceId: string }>()((db, param) =>
  db
    .updateTable('state_versions')
    .set({ is_intermediate: 0 })
    .where('workspace_id', '=', param('workspaceId'))
    .where('is_intermediate', '=', isSnapshot),
)

export async function setCurrentStateVersion(
  tx: Transaction,
  workspaceId: string,
  stateVersionId: string,
  at: string,
): Promise<void> {
  await tx.send(pointing, { workspaceId, stateVersionId, at })
  // The former snapshots are now ordinary older versions.
  await tx.send(endingSnapshots, { workspaceId })
}

const newestSnapshot = prepared<{ workspaceId: string }>()((db, param) =>
  db
    .selectFrom('state_versions')
    .where('workspace_id', '=', param('workspaceId'))
    .where('is_intermediate', '=', isSnapshot)
    .where('status', '=', 'finalized')
    .selectAll()
    .orderBy('number', 'desc')
    .limit(1),
)

/** The newest finalized snapshot since the current version; without one, the current version. */
export async function findNewestStateVersion(
  tx: Transaction,
  { id, current_state_version_id: currentId }: Pick<WorkspaceRow, 'id' | 'current_state_version_id'>,
): Promise<StateVersionRow | undefined> {
  // Sent together: on PostgreSQL the organization may be locked for each round trip.
  const [snapshot, current] = await Promise.all([
    tx.first(newestSnapshot, { workspaceId: id }),
    currentId === null ? undefined : findStateVersion(tx, currentId),
  ])
  return snapshot ?? current
}

/** A version that has `kept` numbers after it. Without one, no status has more than `kept` versions. */
const anyOld = prepared<{ workspaceId: string; kept: number }>()((db, param) =>
  db
    .selectFrom('state_versions')
    .where('workspace_id', '=', param('workspaceId'))
    .where('number', '<=', (eb) =>
      eb
        .selectFrom('state_versions')
        .where('workspace_id', '=', param('workspaceId'))
        .select((of) => sql<number>`${of.fn.max('number')} - ${param('kept')}`.as('newest_old')),
    )
    .select('number')
    .limit(1),
)

/** Whether a workspace may have versions beyond the newest `kept`. */
export async function hasOldStateVersions(
  tx: Transaction,
  workspaceId: string,
  kept: number,
): Promise<boolean> {
  return (await tx.first(anyOld, { workspaceId, kept })) !== undefined
}

/** What the audit event of a write says of the versions that it has deleted. */
export type RemovedVersions = { 'removed-state-versions'?: string[] }

const MAX_DELETED_AT_ONCE = 20
const countedStatuses = statuses.filter((status) => status !== 'pending')

/**
 * Deletes versions beyond the newest `kept`, at most 20 a status and call, and never the current one. Each status is
 * counted separately, so discarded versions and versions with deleted content do not push out finalized ones. Deleting
 * the row deletes its key too: the remaining content becomes unreadable at once and is swept later.
 */
export async function deleteOldStateVersions(
  tx: Transaction,
  workspaceId: string,
  kept: number,
): Promise<RemovedVersions> {
  const removed: string[] = []
  const oldOnes = countedStatuses.map((status) =>
    tx.db
      .selectFrom('state_versions')
      .where('workspace_id', '=', workspaceId)
      .where('status', '=', status)
      .select('id')
      .orderBy('number', 'desc')
      .limit(MAX_DELETED_AT_ONCE)
      .offset(kept)
      .execute(),
  )
  for (const old of await Promise.all(oldOnes)) {
    if (old.length === 0) continue
    const deleted = await tx.db
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
      .returning('id')
      .execute()
    for (const { id } of deleted) removed.push(id)
  }
  return removed.length === 0 ? {} : { 'removed-state-versions': removed }
}
