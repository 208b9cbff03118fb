import type { Expression, Insertable, Selectable, SqlBool, Updateable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { pageOf } from '../database/pages.ts'
import { prepared } from '../database/prepared.ts'
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

const byId = prepared<{ id: string }>()((db, param) =>
  db.selectFrom('team_workspaces').where('id', '=', param('id')).selectAll(),
)

export function findTeamWorkspace(tx: Transaction, id: string): Promise<TeamWorkspaceRow | undefined> {
  return tx.first(byId, { id })
}

/** Returns undefined if the team already has a grant on the workspace. */
export function insertTeamWorkspace(
  tx: Transaction,
  row: Insertable<TeamWorkspaceTable>,
): Promise<TeamWorkspaceRow | undefined> {
  return tx.db
    .insertInto('team_workspaces')
    .values(row)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'team_id']).doNothing())
    .returningAll()
    .executeTakeFirst()
}

export function updateTeamWorkspace(
  tx: Transaction,
  id: string,
  changes: Updateable<TeamWorkspaceTable>,
): Promise<TeamWorkspaceRow> {
  return tx.db
    .updateTable('team_workspaces')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

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
