import { expressionBuilder, type Expression, type Selectable, type SqlBool } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { countOf } from '../database/pages.ts'
import { inSlices } from '../database/slices.ts'
import type { Tables } from '../database/tables.ts'
import type { TagBindingTable } from '../database/tag-tables.ts'

export type TagBindingRow = Selectable<TagBindingTable>

/** The tagged workspace or project, and the column that refers to it. */
export type Tagged = { readonly column: 'workspace_id' | 'project_id'; readonly id: string }

/** The bindings of workspaces, or of projects, by key. */
export function findTagBindings(
  tx: Transaction,
  column: Tagged['column'],
  ids: readonly string[],
): Promise<TagBindingRow[]> {
  return inSlices(ids, (slice) =>
    tx.db.selectFrom('tag_bindings').where(column, 'in', slice).selectAll().orderBy('key').execute(),
  )
}

/** Adds bindings. A key that already exists gets the new value. */
export async function putTagBindings(
  tx: Transaction,
  { column, id }: Tagged,
  rows: readonly TagBindingRow[],
): Promise<void> {
  if (rows.length === 0) return
  await tx.db
    .insertInto('tag_bindings')
    .values(rows.map((row) => ({ ...row, [column]: id })))
    .onConflict((conflict) =>
      conflict.columns([column, 'key']).doUpdateSet((eb) => ({ value: eb.ref('excluded.value') })),
    )
    .execute()
}

/** Deletes the bindings with any other key. */
export async function keepTagBindings(
  tx: Transaction,
  { column, id }: Tagged,
  keys: readonly string[],
): Promise<void> {
  let query = tx.db.deleteFrom('tag_bindings').where(column, '=', id)
  if (keys.length > 0) query = query.where('key', 'not in', keys)
  await query.execute()
}

export async function countTagBindings(tx: Transaction, { column, id }: Tagged): Promise<number> {
  return countOf(tx.db.selectFrom('tag_bindings').where(column, '=', id))
}

/** A key, and optionally the value that it must have. */
export type TagFilter = { readonly key: string; readonly value?: string }

function bound(organizationId: string, { key, value }: TagFilter) {
  const query = expressionBuilder<Tables>()
    .selectFrom('tag_bindings')
    .where('tag_bindings.organization_id', '=', organizationId)
    .where('tag_bindings.key', '=', key)
  return value === undefined ? query : query.where('tag_bindings.value', '=', value)
}

/** SQL condition: the project has this binding. */
export function isProjectTagged(organizationId: string, filter: TagFilter): Expression<SqlBool> {
  const eb = expressionBuilder<Tables, 'projects'>()
  const own = bound(organizationId, filter)
  return eb(
    'projects.id',
    'in',
    own.where('project_id', 'is not', null).select('project_id').$castTo<{ project_id: string }>(),
  )
}

/** SQL condition: the workspace has this binding, its own or its project's. An own binding overrides the project's. */
export function isWorkspaceTagged(organizationId: string, filter: TagFilter): Expression<SqlBool> {
  const eb = expressionBuilder<Tables, 'workspaces'>()
  const own = bound(organizationId, filter).where('workspace_id', 'is not', null)
  const overriding = bound(organizationId, { key: filter.key }).where('workspace_id', 'is not', null)
  const ofProject = bound(organizationId, filter).where('project_id', 'is not', null)
  return eb.or([
    eb('workspaces.id', 'in', own.select('workspace_id').$castTo<{ workspace_id: string }>()),
    eb.and([
      eb('workspaces.project_id', 'in', ofProject.select('project_id').$castTo<{ project_id: string }>()),
      eb('workspaces.id', 'not in', overriding.select('workspace_id').$castTo<{ workspace_id: string }>()),
    ]),
  ])
}
