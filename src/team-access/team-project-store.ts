import { parseStored } from '../core/stored-json.ts'
import type { Expression, Selectable, SqlBool } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { insertUnlessTaken, rowById, updateRow } from '../database/rows.ts'
import { pageOf } from '../database/pages.ts'
import type { TeamProjectTable } from '../database/tables.ts'
import type { Page } from '../jsonapi/paging.ts'
import type { ProjectAccess, ProjectGrant, WorkspaceAccess } from './project-levels.ts'

export type TeamProjectRow = Selectable<TeamProjectTable>

type GrantColumns = Omit<TeamProjectRow, 'id' | 'organization_id' | 'team_id' | 'project_id' | 'created_at'>

export function toColumns({ access, details }: ProjectGrant): GrantColumns {
  return {
    access,
    state_versions: details.workspace['state-versions'],
    workspace_locking: details.workspace.locking ? 1 : 0,
    workspace_create: details.workspace.create ? 1 : 0,
    project_access: JSON.stringify(details.project),
    workspace_access: JSON.stringify(details.workspace),
  }
}

export function toGrant(row: GrantColumns): ProjectGrant {
  return {
    access: row.access,
    details: {
      project: parseStored<ProjectAccess>(row.project_access),
      workspace: parseStored<WorkspaceAccess>(row.workspace_access),
    },
  }
}

export const findTeamProject = rowById('team_projects')

/** Returns undefined if the team already has a grant on the project. */
export const insertTeamProject = insertUnlessTaken('team_projects', 'project_id', 'team_id')

export const updateTeamProject = updateRow('team_projects')

export async function deleteTeamProject(tx: Transaction, id: string): Promise<void> {
  await tx.db.deleteFrom('team_projects').where('id', '=', id).execute()
}

/** A page of the grants on a project, by team name. If `shown` is given, only of those teams. */
export async function listTeamProjects(
  tx: Transaction,
  filter: { placeId: string; teamId: string | undefined; shown: Expression<SqlBool> | undefined },
  page: Page,
): Promise<{ rows: TeamProjectRow[]; total: number }> {
  let query = tx.db
    .selectFrom('team_projects')
    .innerJoin('teams', 'teams.id', 'team_projects.team_id')
    .where('team_projects.project_id', '=', filter.placeId)
  if (filter.teamId !== undefined) query = query.where('team_projects.team_id', '=', filter.teamId)
  if (filter.shown !== undefined) query = query.where(filter.shown)
  return pageOf(query, page, (found) =>
    found.selectAll('team_projects').orderBy('teams.name').orderBy('team_projects.id'),
  )
}
