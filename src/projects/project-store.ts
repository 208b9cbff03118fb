import { sql, type Insertable, type Selectable } from 'kysely'
import {
  grantedProjects,
  projectsWith,
  type ProjectRight,
  type Reach,
} from '../access/granted-places-store.ts'
import { countOf } from '../database/pages.ts'
import type { Transaction } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import { insertionOf, rowBy, rowByName, updateUnlessTaken } from '../database/rows.ts'
import { holdsText } from '../database/portable.ts'
import { deleteInSlices } from '../database/slices.ts'
import type { ProjectTable } from '../database/tables.ts'
import { fromNearerEnd } from '../database/window.ts'
import type { Page } from '../jsonapi/paging.ts'
import { isProjectTagged, type TagFilter } from '../tag-bindings/tag-binding-store.ts'

export type ProjectRow = Selectable<ProjectTable>

const insertion = insertionOf(
  'projects',
  {
    id: 'text',
    organization_id: 'text',
    name: 'text',
    description: 'text',
    settings: 'text',
    created_at: 'text',
    updated_at: 'text',
  },
  ['organization_id', 'name'],
)

/** Returns undefined if the organization already has a project of this name. */
export function insertProject(
  tx: Transaction,
  project: Insertable<ProjectTable>,
): Promise<ProjectRow | undefined> {
  return tx.first(insertion, { ...project, description: project.description ?? null })
}

export const findProject = rowBy('projects', 'id')

export const findProjectByName = rowByName('projects')

/** Returns undefined if another project has the new name. The caller must then end the transaction. */
export const updateProject = updateUnlessTaken('projects')

/** Deletes a project and its grants. The project must have no workspaces. */
export async function deleteProject(tx: Transaction, id: string): Promise<void> {
  await deleteInSlices(tx, 'team_projects', sql`project_id = ${id}`)
  await tx.db.deleteFrom('projects').where('id', '=', id).execute()
}

export async function hasWorkspaces(tx: Transaction, projectId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('workspaces')
    .where('project_id', '=', projectId)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

const numberOf = prepared<{ organizationId: string }>()((db, param) =>
  db.selectFrom('project_counts').where('organization_id', '=', param('organizationId')).select('count'),
)

/** The number of projects in the organization. Triggers keep it. */
export async function countProjects(tx: Transaction, organizationId: string): Promise<number> {
  return (await tx.first(numberOf, { organizationId }))?.count ?? 0
}

type ProjectFilter = {
  readonly q?: string | undefined
  readonly names?: readonly string[] | undefined
  /** The project must have all of these tag bindings. */
  readonly tagged?: readonly TagFilter[]
  /** The caller must have all of these rights on the project. `reach` says where they have the right. */
  readonly rights?: readonly { readonly right: ProjectRight; readonly reach: Reach }[]
  readonly isDescending?: boolean
}

/**
 * A page of the projects that the caller may see, by name. The same rule as `project:read`, in SQL.
 *
 * @param known how many the filter finds, if a table has it
 */
export async function listVisibleProjects(
  tx: Transaction,
  organizationId: string,
  reach: Reach,
  filter: ProjectFilter,
  page: Page,
  known?: number,
): Promise<{ rows: ProjectRow[]; total: number }> {
  let query = tx.db.selectFrom('projects').where('projects.organization_id', '=', organizationId)
  if (reach !== 'everything') query = query.where('projects.id', 'in', grantedProjects(tx, reach.userId))
  for (const { right, reach: reachOfRight } of filter.rights ?? []) {
    if (reachOfRight === 'everything') continue
    query = query.where('projects.id', 'in', projectsWith(tx, reachOfRight.userId, right))
  }
  // PostgreSQL accepts no NUL, and no name contains one.
  const names = filter.names?.filter((name) => !name.includes('\0'))
  if (names !== undefined) query = query.where('projects.name', 'in', names.length === 0 ? [''] : names)
  if (filter.q !== undefined) query = query.where(holdsText(tx.engine, 'projects.name', filter.q))
  for (const each of filter.tagged ?? []) query = query.where(isProjectTagged(organizationId, each))
  const total = known ?? (await countOf(query))
  const rows = await fromNearerEnd(total, (page.number - 1) * page.size, page.size, (end, range) => {
    const direction = (filter.isDescending === true) === (end === 'desc') ? 'asc' : 'desc'
    // No two projects of an organization have the same name.
    const ordered = query.selectAll('projects').orderBy('projects.name', direction)
    return ordered.limit(range.limit).offset(range.offset).execute()
  })
  return { rows, total }
}
