import { sql, type ExpressionBuilder, type Selectable } from 'kysely'
import type { GrantFacts } from '../access/grants.ts'
import { badRequest } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { countOf } from '../database/pages.ts'
import { unindexed } from '../database/portable.ts'
import { inSlices } from '../database/slices.ts'
import type { Flag, Tables, TeamProjectTable, TeamWorkspaceTable } from '../database/tables.ts'
import { toDetails } from '../team-access/team-workspace-store.ts'
import { holdingTeamColumns, type HoldingTeam } from '../teams/team-store.ts'
import type { WorkspaceDetails } from '../team-access/workspace-levels.ts'

/** The teams of active members, by team name. A team appears once for each of its users. */
export function teamsOfUsers(
  tx: Transaction,
  organizationId: string,
  userIds: readonly string[],
): Promise<(HoldingTeam & { user_id: string })[]> {
  return inSlices(userIds, (slice) =>
    tx.db
      .selectFrom('team_members')
      .innerJoin('teams', 'teams.id', 'team_members.team_id')
      .where('team_members.user_id', 'in', slice)
      .where('team_members.organization_id', '=', organizationId)
      .where('team_members.is_active', '=', 1)
      .select(holdingTeamColumns)
      .select('team_members.user_id')
      .orderBy('teams.name')
      .orderBy('teams.id')
      .execute(),
  )
}

/** Number of teams of a user, those that wait for the answer to an invitation among them. */
export function countTeamsOfUser(tx: Transaction, organizationId: string, userId: string): Promise<number> {
  const ofUser = tx.db.selectFrom('team_members').where('user_id', '=', userId)
  return countOf(ofUser.where('organization_id', '=', organizationId))
}

/** The places to read: the whole organization, a project with its workspaces, or these. */
export type Places =
  | 'everywhere'
  | { readonly projectId: string }
  | { readonly workspaceIds: readonly string[]; readonly projectIds: readonly string[] }

/** The most grants to read for one answer. An answer with more would take too long and is refused. */
export const MAX_GRANTS = 200_000

export function checked<Row>(rows: Row[]): Row[] {
  if (rows.length <= MAX_GRANTS) return rows
  const detail = `more than ${MAX_GRANTS} grants would have to be added up; request smaller pages, or one workspace`
  throw badRequest(detail)
}

/** The details of a custom grant as one text, because very many rows have few different values. */
const customDetails = sql<string | null>`case when tw.access = 'custom' then
  tw.runs || ' ' || tw.variables || ' ' || tw.state_versions || ' ' || tw.sentinel_mocks || ' ' ||
  tw.workspace_locking || ' ' || tw.run_tasks || ' ' || tw.policy_overrides end`

export type WorkspaceGrantRow = Pick<
  Selectable<TeamWorkspaceTable>,
  'id' | 'team_id' | 'workspace_id' | 'access'
> & { custom: string | null }

/** Parses the text of `custom`. */
export function customDetailsOf(text: string): WorkspaceDetails {
  const [runs, variables, states, mocks, locking, tasks, overrides] = text.split(' ')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the text was joined from these columns
  return toDetails({
    access: 'custom',
    runs,
    variables,
    state_versions: states,
    sentinel_mocks: mocks,
    workspace_locking: Number(locking),
    run_tasks: Number(tasks),
    policy_overrides: Number(overrides),
  } as Parameters<typeof toDetails>[0])
}

/** The grants of teams on workspaces: one row per team and workspace. */
export async function workspaceGrantsOfTeams(
  tx: Transaction,
  teamIds: readonly string[],
  places: Places,
): Promise<WorkspaceGrantRow[]> {
  if (places !== 'everywhere' && 'workspaceIds' in places && places.workspaceIds.length === 0) return []
  const rows = await inSlices(teamIds, (slice) => {
    let query = tx.db.selectFrom('team_workspaces as tw').where('tw.team_id', 'in', slice)
    if (places !== 'everywhere') {
      query =
        'projectId' in places
          ? query.where(unindexed(tx.engine, 'tw.workspace_id'), 'in', workspacesOf(places.projectId))
          : query.where('tw.workspace_id', 'in', places.workspaceIds)
    }
    return query
      .select(['tw.id', 'tw.team_id', 'tw.workspace_id', 'tw.access', customDetails.as('custom')])
      .limit(MAX_GRANTS + 1)
      .execute()
  })
  return checked(rows)
}

export type ProjectGrantRow = Selectable<TeamProjectTable>

export async function projectGrantsOfTeams(
  tx: Transaction,
  teamIds: readonly string[],
  places: Places,
): Promise<ProjectGrantRow[]> {
  if (places !== 'everywhere' && 'projectIds' in places && places.projectIds.length === 0) return []
  const rows = await inSlices(teamIds, (slice) => {
    let query = tx.db.selectFrom('team_projects as tp').where('tp.team_id', 'in', slice)
    if (places !== 'everywhere') {
      const ids = 'projectId' in places ? [places.projectId] : places.projectIds
      query = query.where('tp.project_id', 'in', ids)
    }
    return query
      .selectAll('tp')
      .limit(MAX_GRANTS + 1)
      .execute()
  })
  return checked(rows)
}

/** Stands for grants on workspaces in a project. Only their existence matters. */
export type InnerGrantRow = GrantFacts & { id: string; team_id: string; project_id: string }

/** One row per team, project and kind of grant: a grant on any workspace in a project shows the project. */
export async function innerGrantsOfTeams(
  tx: Transaction,
  teamIds: readonly string[],
  places: Places,
): Promise<InnerGrantRow[]> {
  const rows = await inSlices(teamIds, (slice) => {
    let query = tx.db
      .selectFrom('team_workspaces as tw')
      .innerJoin('workspaces', 'workspaces.id', 'tw.workspace_id')
      .where('tw.team_id', 'in', slice)
    if (places !== 'everywhere') {
      const ids = 'projectId' in places ? [places.projectId] : places.projectIds
      query = query.where('workspaces.project_id', 'in', ids)
    }
    return query
      .select((eb) => [
        eb.fn.min('tw.id').as('id'),
        'tw.team_id',
        'workspaces.project_id',
        sql<'workspace'>`'workspace'`.as('on'),
        'tw.access',
        'tw.state_versions',
        'tw.workspace_locking',
        sql<Flag>`0`.as('workspace_create'),
      ])
      .groupBy([
        'tw.team_id',
        'workspaces.project_id',
        'tw.access',
        'tw.state_versions',
        'tw.workspace_locking',
      ])
      .limit(MAX_GRANTS + 1)
      .execute()
  })
  return checked(rows).sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** The ids of the teams with a grant on one of these workspaces or projects, in order. */
export async function teamsWithGrants(
  tx: Transaction,
  { workspaceIds, projectIds }: { workspaceIds: readonly string[]; projectIds: readonly string[] },
): Promise<string[]> {
  const onWorkspaces = await inSlices(workspaceIds, (slice) =>
    tx.db
      .selectFrom('team_workspaces')
      .where('workspace_id', 'in', slice)
      .select('team_id')
      .limit(MAX_GRANTS + 1)
      .execute(),
  )
  const onProjects = await inSlices(projectIds, (slice) =>
    tx.db
      .selectFrom('team_projects')
      .where('project_id', 'in', slice)
      .select('team_id')
      .limit(MAX_GRANTS + 1)
      .execute(),
  )
  return [...new Set(checked([...onWorkspaces, ...onProjects]).map(({ team_id: id }) => id))].toSorted()
}

function workspacesOf(projectId: string) {
  return (eb: ExpressionBuilder<Tables & { tw: TeamWorkspaceTable }, 'tw'>) =>
    eb.selectFrom('workspaces').where('workspaces.project_id', '=', projectId).select('workspaces.id')
}
