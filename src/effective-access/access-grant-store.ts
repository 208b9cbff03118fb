import { expressionBuilder, sql, type Expression, type SqlBool } from 'kysely'
import { isPermitted, type Caller, type ColumnSet, type TeamFacts } from '../access/decide.ts'
import { columnsOfGrant, noDetails } from '../access/grants.ts'
import { teamIdsOf } from '../access/granted-places-store.ts'
import type { Permission } from '../access/rules.ts'
import { NO_ID } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { pageOf } from '../database/pages.ts'
import type { Tables } from '../database/tables.ts'
import type { Page } from '../jsonapi/paging.ts'

/** A grant with the names of its team and of its workspace or project. */
export type AccessGrantRow = {
  id: string
  on: 'workspace' | 'project'
  team_id: string
  team_name: string
  place_id: string
  place_name: string
}

/** Which grants to list. A condition that is undefined leaves out nothing. */
export type GrantFilter = {
  readonly teamId?: string
  /** The grants on this workspace, and on its project. */
  readonly workspaceId?: string
  readonly projectId?: string
  readonly shown: {
    readonly onWorkspaces: Expression<SqlBool> | undefined
    readonly onProjects: Expression<SqlBool> | undefined
  }
}

/** A page of grants, by the names of their teams and places. */
export async function listAccessGrants(
  tx: Transaction,
  filter: GrantFilter,
  page: Page,
): Promise<{ rows: AccessGrantRow[]; total: number }> {
  const { teamId, workspaceId, projectId, shown } = filter
  let onWorkspaces = tx.db
    .selectFrom('team_workspaces')
    .innerJoin('teams', 'teams.id', 'team_workspaces.team_id')
    .innerJoin('workspaces', 'workspaces.id', 'team_workspaces.workspace_id')
  let onProjects = tx.db
    .selectFrom('team_projects')
    .innerJoin('teams', 'teams.id', 'team_projects.team_id')
    .innerJoin('projects', 'projects.id', 'team_projects.project_id')
  if (teamId !== undefined) {
    onWorkspaces = onWorkspaces.where('team_workspaces.team_id', '=', teamId)
    onProjects = onProjects.where('team_projects.team_id', '=', teamId)
  } else {
    onWorkspaces = onWorkspaces.where('team_workspaces.workspace_id', '=', workspaceId ?? NO_ID)
    onProjects = onProjects.where('team_projects.project_id', '=', projectId ?? NO_ID)
  }
  if (shown.onWorkspaces !== undefined) onWorkspaces = onWorkspaces.where(shown.onWorkspaces)
  if (shown.onProjects !== undefined) onProjects = onProjects.where(shown.onProjects)
  const all = onWorkspaces
    .select([
      'team_workspaces.id',
      sql<'workspace' | 'project'>`'workspace'`.as('on'),
      'teams.id as team_id',
      'teams.name as team_name',
      'workspaces.id as place_id',
      'workspaces.name as place_name',
    ])
    .unionAll(
      onProjects.select([
        'team_projects.id',
        sql<'workspace' | 'project'>`'project'`.as('on'),
        'teams.id as team_id',
        'teams.name as team_name',
        'projects.id as place_id',
        'projects.name as place_name',
      ]),
    )
    .as('grants')
  return pageOf(tx.db.selectFrom(all), page, (found) =>
    found.selectAll().orderBy('team_name').orderBy('place_name').orderBy('id'),
  )
}

const workspaceLevels = ['read', 'plan', 'write', 'admin'] as const
const projectLevels = ['read', 'write', 'maintain', 'admin'] as const

/**
 * SQL conditions: the caller may see the team's grant on each workspace or project. The rules decide which levels of the
 * caller's own grants are enough; a custom grant never is. Undefined if the caller may see all grants of the team.
 */
export function shownGrantsOf(
  tx: Transaction,
  team: TeamFacts,
  { actor, standing }: Caller,
): GrantFilter['shown'] {
  const eb = expressionBuilder<Tables, 'team_workspaces' | 'workspaces' | 'team_projects'>()
  const may = (permission: Permission, grants?: ColumnSet) =>
    isPermitted(permission, actor, standing, { team, grants })
  const mine = teamIdsOf(actor.userId ?? NO_ID)
  const workspaces = () => {
    const levels = workspaceLevels.filter((access) =>
      may('team-access:read', columnsOfGrant({ ...noDetails, on: 'workspace', access })),
    )
    return tx.db
      .selectFrom('team_workspaces as own')
      .where('own.team_id', 'in', mine)
      .where((own) => (levels.length === 0 ? own.lit(false) : own('own.access', 'in', levels)))
      .select('own.workspace_id')
  }
  const projects = (permission: Permission) => {
    const levels = projectLevels.filter((access) =>
      may(permission, columnsOfGrant({ ...noDetails, on: 'project', access })),
    )
    return tx.db
      .selectFrom('team_projects as own')
      .where('own.team_id', 'in', mine)
      .where((own) => (levels.length === 0 ? own.lit(false) : own('own.access', 'in', levels)))
      .select('own.project_id')
  }
  return {
    onWorkspaces: may('team-access:read')
      ? undefined
      : eb.or([
          eb('team_workspaces.workspace_id', 'in', workspaces()),
          eb('workspaces.project_id', 'in', projects('team-access:read')),
        ]),
    onProjects: may('project-access:read')
      ? undefined
      : eb('team_projects.project_id', 'in', projects('project-access:read')),
  }
}
