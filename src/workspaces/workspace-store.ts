import { sql, type Selectable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { insertionOf, rowBy, rowByName, updateUnlessTaken } from '../database/rows.ts'
import { filterOnly } from '../database/portable.ts'
import { deleteInSlices, inSlices } from '../database/slices.ts'
import type { WorkspaceTable } from '../database/tables.ts'

export type WorkspaceRow = Selectable<WorkspaceTable>

export const findWorkspace = rowBy('workspaces', 'id')

export const findWorkspaceByName = rowByName('workspaces')

const insertion = insertionOf(
  'workspaces',
  {
    id: 'text',
    organization_id: 'text',
    project_id: 'text',
    name: 'text',
    description: 'text',
    terraform_version: 'text',
    locked_by_id: 'text',
    locked_by_kind: 'text',
    lock_reason: 'text',
    current_state_version_id: 'text',
    settings: 'text',
    created_at: 'text',
    updated_at: 'text',
  },
  ['organization_id', 'name'],
)

type Described = Omit<WorkspaceRow, keyof typeof defaults | 'description'>
type NewWorkspace = Described & Partial<Pick<WorkspaceRow, 'description'>>
const defaults = {
  locked_by_id: null,
  locked_by_kind: null,
  lock_reason: null,
  current_state_version_id: null,
} as const

/** Returns undefined if the organization already has a workspace of this name. */
export function insertWorkspace(
  tx: Transaction,
  { description = null, ...workspace }: NewWorkspace,
): Promise<WorkspaceRow | undefined> {
  return tx.first(insertion, { ...defaults, ...workspace, description })
}

/** Returns undefined if another workspace has the new name. The caller must then end the transaction. */
export const updateWorkspace = updateUnlessTaken('workspaces')

/**
 * The workspaces of the organization with these ids. Other ids are ignored. Without statistics of
 * new rows, PostgreSQL would also look up all workspaces of the organization in an index.
 */
export function findWorkspaces(
  tx: Transaction,
  organizationId: string,
  ids: readonly string[],
): Promise<WorkspaceRow[]> {
  return inSlices(ids, (slice) =>
    tx.db
      .selectFrom('workspaces')
      .where('id', 'in', slice)
      .where(filterOnly(tx.engine, 'organization_id'), '=', organizationId)
      .selectAll()
      .execute(),
  )
}

export async function moveWorkspaces(
  tx: Transaction,
  ids: readonly string[],
  projectId: string,
  at: string,
): Promise<void> {
  if (ids.length === 0) return
  await tx.db
    .updateTable('workspaces')
    .set({ project_id: projectId, updated_at: at })
    .where('id', 'in', ids)
    .execute()
}

/** Deletes the workspace, its grants and the rows of its state versions, but not their content. */
export async function deleteWorkspace(tx: Transaction, id: string): Promise<void> {
  await deleteInSlices(tx, 'state_versions', sql`workspace_id = ${id}`)
  await deleteInSlices(tx, 'team_workspaces', sql`workspace_id = ${id}`)
  await deleteInSlices(tx, 'remote_state_consumers', sql`workspace_id = ${id}`)
  await deleteInSlices(tx, 'remote_state_consumers', sql`consumer_id = ${id}`)
  await tx.db.deleteFrom('workspaces').where('id', '=', id).execute()
}
