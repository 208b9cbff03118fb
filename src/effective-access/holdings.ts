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
  readonly grant?: Grant
}

export type Place = { readonly on: On; readonly id: string; readonly projectId: string }

/** A grant with what it gives alone. One on a project counts on very many workspaces, so this is made of it once. */
export type Grant = {
  readonly source: 'team-workspaces' | 'team-projects'
  readonly id: string
  /** The workspace or the project that it is on. */
  readonly placeId: string
  readonly access: string
  readonly held: Readonly<Record<On, Held>>
  readonly workspaceDetails: WorkspaceDetails | undefined
  readonly projectDetails: ProjectDetails | undefined
}

type Grants = {
  readonly onWorkspaces: readonly Grant[]
  readonly onProjects: readonly Grant[]
  readonly inProjects: readonly Grant[]
}

/** What a grant gives, by the functions that requests are judged by. */
function heldBy(facts: GrantFacts, plans: boolean): Record<On, Held> {
  const columns = sumOfGrants([facts])
  return {
    workspace: { columns, inWorkspaces: columns, plans },
    project: {
      columns: sumOnProject([facts]),
      inWorkspaces: facts.on === 'project' ? columns : 0,
      plans: plans && facts.on === 'project',
    },
  }
}

type Kind = Pick<Grant, 'held' | 'workspaceDetails'>

/** Of very many grants on workspaces there are few kinds: what one gives is worked out once for each. */
function workspaceGrants(): (row: WorkspaceGrantRow) => Grant {
  const kinds = new Map<string, Kind>()
  return (row) => {
    const { access, runs, variables, state_versions: states, sentinel_mocks: mocks } = row
    const flags = row.workspace_locking + 2 * row.run_tasks + 4 * row.policy_overrides
    const key = `${access} ${runs} ${variables} ${states} ${mocks} ${flags}`
    let kind = kinds.get(key)
    if (kind === undefined) kinds.set(key, (kind = kindOf(row)))
    const { held, workspaceDetails } = kind
    return {
      source: 'team-workspaces',
      id: row.id,
      placeId: row.workspace_id,
      access,
      held,
      workspaceDetails,
      projectDetails: undefined,
    }
  }
}

function kindOf(row: WorkspaceGrantRow): Kind {
  const facts: GrantFacts = {
    on: 'workspace',
    access: row.access,
    state_versions: row.state_versions,
    workspace_locking: row.workspace_locking,
    workspace_create: 0,
  }
  return { held: heldBy(facts, row.runs !== 'read'), workspaceDetails: toDetails(row) }
}

function projectGrant(row: ProjectGrantRow): Grant {
  const { details } = toGrant(row)
  const facts: GrantFacts = {
    on: 'project',
    access: row.access,
    state_versions: row.state_versions,
    workspace_locking: row.workspace_locking,
    workspace_create: row.workspace_create,
  }
  return {
    source: 'team-projects',
    id: row.id,
    placeId: row.project_id,
    access: row.access,
    held: heldBy(facts, details.workspace.runs !== 'read'),
    workspaceDetails: workspaceDetailsOf(details),
    projectDetails: details,
  }
}

function innerGrant(row: InnerGrantRow): Grant {
  return {
    source: 'team-workspaces',
    id: row.id,
    placeId: row.project_id,
    access: row.access,
    held: heldBy(row, false),
    workspaceDetails: undefined,
    projectDetails: undefined,
  }
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
  const onWorkspaces = byTeam(await workspaceGrantsOfTeams(tx, teamIds, places), workspaceGrants())
  const onProjects = byTeam(await projectGrantsOfTeams(tx, teamIds, places), projectGrant)
  const inner = on === 'workspaces' ? [] : await innerGrantsOfTeams(tx, teamIds, places)
  const inProjects = byTeam(inner, innerGrant)
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

function byTeam<Row extends { team_id: string }>(
  rows: readonly Row[],
  make: (row: Row) => Grant,
): Map<string, Grant[]> {
  const groups = new Map<string, Grant[]>()
  for (const row of rows) addTo(groups, row.team_id, make(row))
  return groups
}

function addTo<Item>(groups: Map<string, Item[]>, key: string, item: Item): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [item])
  else group.push(item)
}

type OfTeam = { readonly team: HoldingTeam; readonly grant: Grant }

/** All that somebody's teams were granted, by workspace and project: in the order of the teams. */
export type Granted = {
  readonly onWorkspaces: ReadonlyMap<string, readonly OfTeam[]>
  readonly onProjects: ReadonlyMap<string, readonly OfTeam[]>
  readonly inProjects: ReadonlyMap<string, readonly OfTeam[]>
}

export function grantedTo({ teams }: Holder, grants: GrantsByTeam): Granted {
  const onWorkspaces = new Map<string, OfTeam[]>()
  const onProjects = new Map<string, OfTeam[]>()
  const inProjects = new Map<string, OfTeam[]>()
  for (const team of teams) {
    const found = grants.get(team.id)
    for (const grant of found?.onWorkspaces ?? []) addTo(onWorkspaces, grant.placeId, { team, grant })
    for (const grant of found?.onProjects ?? []) addTo(onProjects, grant.placeId, { team, grant })
    for (const grant of found?.inProjects ?? []) addTo(inProjects, grant.placeId, { team, grant })
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

const nobodys: readonly OfTeam[] = []

/** The grants that count on a place: on its project, and on it or, of a project, on what is in it. */
function grantsOn(granted: Granted, { on, id, projectId }: Place): (readonly OfTeam[])[] {
  const own = on === 'workspace' ? granted.onWorkspaces : granted.inProjects
  return [granted.onProjects.get(projectId) ?? nobodys, own.get(id) ?? nobodys]
}

/** What somebody holds on a place in all: columns add up. Loops, since there may be very many places. */
export function heldOn(columns: ColumnSet, granted: Granted, place: Place): Held {
  const sum = { columns, inWorkspaces: columns, plans: false }
  for (const grants of grantsOn(granted, place)) {
    for (const { grant } of grants) {
      const alone = grant.held[place.on]
      sum.columns |= alone.columns
      sum.inWorkspaces |= alone.inWorkspaces
      sum.plans ||= alone.plans
    }
  }
  return sum
}

/** The grants that add up on a place, each with what it gives alone, after what counts everywhere. */
export function sourcesOn(everywhere: readonly Source[], granted: Granted, place: Place): Source[] {
  const sources = [...everywhere]
  for (const grants of grantsOn(granted, place)) {
    for (const { team, grant } of grants) {
      sources.push({ source: grant.source, held: grant.held[place.on], team, grant })
    }
  }
  return sources
}

/** The details that a source adds: those of the grant, or else of the level that it comes to. */
export function workspaceDetailsOfSource({ grant, held }: Source) {
  return grant === undefined ? workspaceDetailsOfLevel(levelOn('workspace', held)) : grant.workspaceDetails
}

export function projectDetailsOfSource({ grant, held }: Source) {
  return grant === undefined ? projectDetailsOfLevel(levelOn('project', held)) : grant.projectDetails
}
