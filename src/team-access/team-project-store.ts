import type { Selectable } from 'kysely'
import { parseStored } from '../core/stored-json.ts'
import type { TeamProjectTable } from '../database/tables.ts'
import type { ProjectAccess, ProjectGrant, WorkspaceAccess } from './project-levels.ts'
import { grantStore, type GrantColumns } from './team-access-store.ts'

export type TeamProjectRow = Selectable<TeamProjectTable>

export const teamProjectStore = grantStore('team_projects', 'project_id')

export function toColumns({ access, details }: ProjectGrant): GrantColumns<'team_projects'> {
  return {
    access,
    state_versions: details.workspace['state-versions'],
    workspace_locking: details.workspace.locking ? 1 : 0,
    workspace_create: details.workspace.create ? 1 : 0,
    project_access: JSON.stringify(details.project),
    workspace_access: JSON.stringify(details.workspace),
  }
}

export function toGrant(row: GrantColumns<'team_projects'>): ProjectGrant {
  return {
    access: row.access,
    details: {
      project: parseStored<ProjectAccess>(row.project_access),
      workspace: parseStored<WorkspaceAccess>(row.workspace_access),
    },
  }
}
