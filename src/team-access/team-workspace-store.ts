import type { Selectable } from 'kysely'
import type { TeamWorkspaceTable } from '../database/tables.ts'
import { grantStore, type GrantColumns } from './team-access-store.ts'
import type { WorkspaceDetails, WorkspaceGrant } from './workspace-levels.ts'

export type TeamWorkspaceRow = Selectable<TeamWorkspaceTable>

export const teamWorkspaceStore = grantStore('team_workspaces', 'workspace_id')

export function toColumns({ access, details }: WorkspaceGrant): GrantColumns<'team_workspaces'> {
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

export function toDetails(row: GrantColumns<'team_workspaces'>): WorkspaceDetails {
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
