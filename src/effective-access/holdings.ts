import { columnSet, type ColumnSet } from '../access/decide.ts'
import { sumOfGrants, sumOnProject, type GrantFacts } from '../access/grants.ts'
import { hasFlag, organizationFlags, type OrganizationFlag } from '../access/organization-flags.ts'
import { columnsOfFlags, standingOf, type InForce, type OrganizationFacts } from '../access/standing.ts'
import type { Transaction } from '../database/database.ts'
import { toGrant } from '../team-access/team-project-store.ts'
import { toDetails } from '../team-access/team-workspace-store.ts'
import type { ProjectDetails } from '../team-access/project-levels.ts'
import type { WorkspaceDetails } from '../team-access/workspace-levels.ts'
import { projectDetailsOfLevel, workspaceDetailsOf, workspaceDetailsOfLevel } from './details.ts'
import {
  innerGrantsOfTeams,
  projectGrantsOfTeams,
  workspaceGrantsOfTeams,
  type HoldingTeam,
  type InnerGrantRow,
  type Places,
  type ProjectGrantRow,
  type WorkspaceGrantRow,
} from './holdings-store.ts'
import { levelOn, type Held, type On } from './levels.ts'

/** A user, or a team as what its token may do, with the teams that count. */
export type Holder = {
  readonly kind: 'user' | 'team'
  readonly id: string
  readonly isSiteAdmin: boolean
  readonly status: 'active' | 'invited' | undefined
  readonly teams: readonly HoldingTeam[]
}

/** What adds to what somebody may do. `columns` count on every workspace and project, or on the one of the grant. */
export type Source = {
  readonly source:
    | 'site-administrator'
    | 'organization-member'
    | 'organization-owner'
    | 'organization-access'
    | 'team-projects'
    | 'team-workspaces'
  readonly held: Held
  readonly team?: HoldingTeam
  readonly flag?: OrganizationFlag
  readonly grant?: { id: string; access: string }
  /** Of a grant on a project what it means for a workspace in it. */
  readonly workspaceDetails?: WorkspaceDetails
  readonly projectDetails?: ProjectDetails
}

export type Place = { readonly on: On; readonly id: string; readonly projectId: string }

type Grants = {
  readonly onWorkspaces: readonly WorkspaceGrantRow[]
  readonly onProjects: readonly ProjectGrantRow[]
  readonly inProjects: readonly InnerGrantRow[]
}

/** Grants of some teams on some places, by team. */
export type GrantsByTeam = ReadonlyMap<string, Grants>

/** @param on whether projects are looked at too: then also what is granted on workspaces in them */
export async function readGrants(
  tx: Transaction,
  teamIds: readonly string[],
  places: Places,
  on: 'workspaces' | 'projects too',
): Promise<GrantsByTeam> {
  const onWorkspaces = grouped(await workspaceGrantsOfTeams(tx, teamIds, places), ({ team_id }) => team_id)
  const onProjects = grouped(await projectGrantsOfTeams(tx, teamIds, places), ({ team_id }) => team_id)
  const inner = on === 'workspaces' ? [] : await innerGrantsOfTeams(tx, teamIds, places)
  const inProjects = grouped(inner, ({ team_id }) => team_id)
  return new Map(
    teamIds.map((id) => [
      id,
      {
        onWorkspaces: onWorkspaces.get(id) ?? [],
        onProjects: onProjects.get(id) ?? [],
        inProjects: inProjects.get(id) ?? [],
      },
    ]),
  )
}

function grouped<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) addTo(groups, keyOf(row), row)
  return groups
}

function addTo<Row>(groups: Map<string, Row[]>, key: string, row: Row): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [row])
  else group.push(row)
}

type OfTeam<Row> = { readonly team: HoldingTeam; readonly row: Row }

/** All that somebody's teams were granted, by workspace and project: in the order of the teams. */
export type Granted = {
  readonly onWorkspaces: ReadonlyMap<string, readonly OfTeam<WorkspaceGrantRow>[]>
  readonly onProjects: ReadonlyMap<string, readonly OfTeam<ProjectGrantRow>[]>
  readonly inProjects: ReadonlyMap<string, readonly OfTeam<InnerGrantRow>[]>
}

export function grantedTo({ teams }: Holder, grants: GrantsByTeam): Granted {
  const onWorkspaces = new Map<string, OfTeam<WorkspaceGrantRow>[]>()
  const onProjects = new Map<string, OfTeam<ProjectGrantRow>[]>()
  const inProjects = new Map<string, OfTeam<InnerGrantRow>[]>()
  for (const team of teams) {
    const found = grants.get(team.id)
    for (const row of found?.onWorkspaces ?? []) addTo(onWorkspaces, row.workspace_id, { team, row })
    for (const row of found?.onProjects ?? []) addTo(onProjects, row.project_id, { team, row })
    for (const row of found?.inProjects ?? []) addTo(inProjects, row.project_id, { team, row })
  }
  return { onWorkspaces, onProjects, inProjects }
}

/** What holds on every workspace and project alike, and what it adds up to: the standing that requests are judged by. */
export function standingSources(
  holder: Holder,
  organization: Pick<OrganizationFacts, 'delegated_team_management'>,
  inForce: InForce,
): { columns: ColumnSet; sources: Source[] } {
  const sources: Source[] = []
  const add = (source: Omit<Source, 'held'>, columns: ColumnSet) => {
    if (columns !== 0) sources.push({ ...source, held: { columns, inWorkspaces: columns, plans: false } })
  }
  if (holder.isSiteAdmin) add({ source: 'site-administrator' }, columnSet('SA'))
  if (holder.status === 'active') {
    add({ source: 'organization-member' }, columnSet(holder.kind === 'team' ? 'TT' : 'PM'))
    for (const team of holder.teams) {
      // All flags are true on `owners`, and nothing beside what the owners may do anyway.
      if (team.is_owners === 1) {
        add({ source: 'organization-owner', team }, columnSet('OW'))
        continue
      }
      const inForceHere = team.organization_access & inForce.flags
      for (const flag of organizationFlags) {
        if (!hasFlag(inForceHere, flag)) continue
        const columns = columnsOfFlags(1 << organizationFlags.indexOf(flag), organization)
        add({ source: 'organization-access', team, flag }, columns)
      }
    }
  }
  return { columns: standingOf(holder, organization, inForce).columns, sources }
}

const factsOfWorkspaceGrant = (row: WorkspaceGrantRow): GrantFacts => ({
  on: 'workspace',
  access: row.access,
  state_versions: row.state_versions,
  workspace_locking: row.workspace_locking,
  workspace_create: 0,
})

const factsOfProjectGrant = (row: ProjectGrantRow): GrantFacts => ({
  on: 'project',
  access: row.access,
  state_versions: row.state_versions,
  workspace_locking: row.workspace_locking,
  workspace_create: row.workspace_create,
})

type WorkspaceRow = WorkspaceGrantRow | InnerGrantRow

/** The grants that count on a place. */
function rowsOn(granted: Granted, { on, id, projectId }: Place) {
  const workspaces: readonly OfTeam<WorkspaceRow>[] =
    (on === 'workspace' ? granted.onWorkspaces : granted.inProjects).get(id) ?? []
  return { workspaces, projects: granted.onProjects.get(projectId) ?? [] }
}

const nothing: Held = { columns: 0, inWorkspaces: 0, plans: false }

/** What grants come to on a place, by the functions that requests are judged by. */
function heldByGrants(
  on: On,
  workspaces: readonly OfTeam<WorkspaceRow>[],
  projects: readonly OfTeam<ProjectGrantRow>[],
): Held {
  if (workspaces.length === 0 && projects.length === 0) return nothing
  const ofProjects = projects.map(({ row }) => factsOfProjectGrant(row))
  const all = [
    ...workspaces.map(({ row }) => ('on' in row ? row : factsOfWorkspaceGrant(row))),
    ...ofProjects,
  ]
  return {
    columns: on === 'project' ? sumOnProject(all) : sumOfGrants(all),
    inWorkspaces: sumOfGrants(on === 'project' ? ofProjects : all),
    plans:
      projects.some(({ row }) => plansOfProject(row)) ||
      workspaces.some(({ row }) => 'runs' in row && row.runs !== 'read'),
  }
}

function plansOfProject(row: ProjectGrantRow): boolean {
  return row.access === 'custom' && toGrant(row).details.workspace.runs !== 'read'
}

/** What somebody holds on a place in all. */
export function heldOn(columns: ColumnSet, granted: Granted, place: Place): Held {
  const { workspaces, projects } = rowsOn(granted, place)
  const held = heldByGrants(place.on, workspaces, projects)
  return {
    columns: columns | held.columns,
    inWorkspaces: columns | held.inWorkspaces,
    plans: held.plans,
  }
}

/** The grants that add up on a place, each with what it gives alone. */
export function grantSources(granted: Granted, place: Place): Source[] {
  const { on } = place
  const { workspaces, projects } = rowsOn(granted, place)
  return [
    ...projects.map((one): Source => {
      const { details } = toGrant(one.row)
      return {
        source: 'team-projects',
        held: heldByGrants(on, [], [one]),
        team: one.team,
        grant: one.row,
        workspaceDetails: workspaceDetailsOf(details),
        projectDetails: details,
      }
    }),
    ...workspaces.map((one): Source => ({
      source: 'team-workspaces',
      held: heldByGrants(on, [one], []),
      team: one.team,
      grant: one.row,
      ...('runs' in one.row ? { workspaceDetails: toDetails(one.row) } : {}),
    })),
  ]
}

/** The details that a source adds: those of the grant, or else of the level that it comes to. */
export function workspaceDetailsOfSource({ workspaceDetails, grant, held }: Source) {
  return grant === undefined ? workspaceDetailsOfLevel(levelOn('workspace', held)) : workspaceDetails
}

export function projectDetailsOfSource({ projectDetails, grant, held }: Source) {
  return grant === undefined ? projectDetailsOfLevel(levelOn('project', held)) : projectDetails
}
