import type { Expression, SqlBool } from 'kysely'
import { isWorkspaceGranted, type Reach } from '../access/granted-places-store.ts'
import type { Transaction } from '../database/database.ts'

type Counts = ReadonlyMap<string, number>

/** How many workspaces of each project the caller may see. A project without any is not in the map. */
export async function countWorkspacesOfProjects(
  tx: Transaction,
  projectIds: readonly string[],
  reach: Reach,
): Promise<Counts> {
  let query = tx.db.selectFrom('workspaces').where('project_id', 'in', projectIds)
  if (reach !== 'everything') query = query.where(isWorkspaceGranted(tx, reach.userId))
  const rows = await query
    .groupBy('project_id')
    .select((eb) => ['project_id', eb.fn.countAll<number>().as('count')])
    .execute()
  return new Map(rows.map((row) => [row.project_id, row.count]))
}

/** How many teams have access to each project. If `shown` is given, only those teams count. */
export async function countTeamsOfProjects(
  tx: Transaction,
  projectIds: readonly string[],
  shown: Expression<SqlBool> | undefined,
): Promise<Counts> {
  let query = tx.db
    .selectFrom('team_projects')
    .innerJoin('teams', 'teams.id', 'team_projects.team_id')
    .where('team_projects.project_id', 'in', projectIds)
  if (shown !== undefined) query = query.where(shown)
  const rows = await query
    .groupBy('team_projects.project_id')
    .select((eb) => ['team_projects.project_id', eb.fn.countAll<number>().as('count')])
    .execute()
  return new Map(rows.map((row) => [row.project_id, row.count]))
}
