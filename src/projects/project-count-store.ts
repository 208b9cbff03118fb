import type { Expression, SqlBool } from 'kysely'
import { grantedWorkspaces, isProjectGranted, type Reach } from '../access/granted-places-store.ts'
import type { Transaction } from '../database/database.ts'

type Counts = ReadonlyMap<string, number>

/** How many workspaces of each project the caller may see. A project without any is not in the map. */
export async function countWorkspacesOfProjects(
  tx: Transaction,
  projectIds: readonly string[],
  reach: Reach,
): Promise<Counts> {
  const whole = await wholeCounts(tx, projectIds, reach).execute()
  const counts = new Map(whole.map((row) => [row.project_id, row.count]))
  const others = projectIds.filter((id) => !counts.has(id))
  if (reach === 'everything' || others.length === 0) return counts
  const rows = await tx.db
    .selectFrom('workspaces')
    .where('project_id', 'in', others)
    .where('id', 'in', grantedWorkspaces(tx, reach.userId))
    .groupBy('project_id')
    .select((eb) => ['project_id', eb.fn.countAll<number>().as('count')])
    .execute()
  for (const row of rows) counts.set(row.project_id, row.count)
  return counts
}

/** The number of workspaces in a project of the organization, if the caller sees all of them. Else undefined. */
export async function wholeCountOf(
  tx: Transaction,
  organizationId: string,
  projectId: string,
  reach: Reach,
): Promise<number | undefined> {
  const row = await wholeCounts(tx, [projectId], reach)
    .innerJoin('projects', 'projects.id', 'workspace_counts.project_id')
    .where('projects.organization_id', '=', organizationId)
    .executeTakeFirst()
  return row?.count
}

/** The counts of those projects of which the caller sees all workspaces. The same rule as `isWorkspaceGranted`. */
function wholeCounts(tx: Transaction, projectIds: readonly string[], reach: Reach) {
  const query = tx.db
    .selectFrom('workspace_counts')
    .where('workspace_counts.project_id', 'in', projectIds)
    .select(['workspace_counts.project_id', 'workspace_counts.count'])
  return reach === 'everything' ? query : query.where(isProjectGranted(tx, reach.userId, projectIds))
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
