import type { Expression, Selectable, SqlBool } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { insertUnlessTaken, rowById, updateRow } from '../database/rows.ts'
import { pageOf } from '../database/pages.ts'
import type { TeamWorkspaceTable } from '../database/tables.ts'
import type { Page } from '../jsonapi/paging.ts'
import type { WorkspaceDetails, WorkspaceGrant } from './workspace-levels.ts'

export type TeamWorkspaceRow = Selectable<TeamWorkspaceTable>

type GrantColumns = Omit<
  TeamWorkspaceRow,
  'id' | 'organization_id' | 'team_id' | 'workspace_id' | 'created_at'
>

export function toColumns({ access, details }: WorkspaceGrant): GrantColumns {
  return {
    access,
    runs: details.runs,
    variables: details.variables,
    state_versions: details['state-versions'],
    sentinel_mocks: details['sentinel-mocks'],
    workspace_locking: details['workspace-locking'] ? 1 : 0,
    run_tasks: details['run-tasks'] ? 1 : 0,
    policy_overrides: details['policy-overrides'] ? 1 : 0,
  }
}

export function toDetails(row: GrantColumns): WorkspaceDetails {
  return {
    runs: row.runs,
    variables: row.variables,
    'state-versions': row.state_versions,
    'sentinel-mocks': row.sentinel_mocks,
    'workspace-locking': row.workspace_locking === 1,
    'run-tasks': row.run_tasks === 1,
    'policy-overrides': row.policy_overrides === 1,
  }
}

export const findTeamWorkspace = rowById('team_workspaces')

/** Returns undefined if the team already has a grant on the workspace. */
export const insertTeamWorkspace = insertUnlessTaken('team_workspaces', 'workspace_id', 'team_id')

export const updateTeamWorkspace = updateRow('team_workspaces')

export async function deleteTeamWorkspace(tx: Transaction, id: string): Promise<void> {
  await tx.db.deleteFrom('team_workspaces').where('id', '=', id).execute()
}

/** A page of the grants on a workspace, by team name. If `shown` is given, only of those teams. */
export async function listTeamWorkspaces(
  tx: Transaction,
  filter: { placeId: string; teamId: string | undefined; shown: Expression<SqlBool> | undefined },
  page: Page,
): Promise<{ rows: TeamWorkspaceRow[]; total: number }> {
  let query = tx.db
    .selectFrom('team_workspaces')
    .innerJoin('teams', 'teams.id', 'team_workspaces.team_id')
    .where('team_workspaces.workspace_id', '=', filter.placeId)
  if (filter.teamId !== undefined) query = query.where('team_workspaces.team_id', '=', filter.teamId)
  if (filter.shown !== undefined) query = query.where(filter.shown)
  return pageOf(query, page, (found) =>
    found.selectAll('team_workspaces').orderBy('teams.name').orderBy('team_workspaces.id'),
  )
}
