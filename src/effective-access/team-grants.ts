import { entriesOf } from '../core/keys.ts'
import { existing } from '../core/existing.ts'
import { sumOfGrants, sumOnProject, type GrantFacts } from '../access/grants.ts'
import type { Transaction } from '../database/database.ts'
import { toGrant } from '../team-access/team-project-store.ts'
import type { ProjectDetails } from '../team-access/project-levels.ts'
import {
  workspaceLevels,
  type WorkspaceDetails,
  type WorkspaceLevel,
} from '../team-access/workspace-levels.ts'
import { workspaceDetailsOf } from './details.ts'
import {
  customDetailsOf,
  innerGrantsOfTeams,
  projectGrantsOfTeams,
  workspaceGrantsOfTeams,
  type InnerGrantRow,
  type Places,
  type ProjectGrantRow,
  type WorkspaceGrantRow,
} from './holdings-store.ts'
import type { Held, On } from './levels.ts'

/** A grant and what it gives alone. Computed once per grant, because a project grant affects very many workspaces. */
export type Grant = {
  readonly source: 'team-workspaces' | 'team-projects'
  readonly id: string
  /** The id of the workspace or project that the grant is on. */
  readonly placeId: string
  readonly access: string
  readonly held: Readonly<Record<On, Held>>
  readonly workspaceDetails?: WorkspaceDetails
  readonly projectDetails?: ProjectDetails
}

/** The grants of one team. */
export type Grants = {
  readonly onWorkspaces: readonly Grant[]
  readonly onProjects: readonly Grant[]
  readonly inProjects: readonly Grant[]
}

/** What a grant gives, by the functions that decide requests. */
export function heldBy(facts: GrantFacts, plans: boolean): Record<On, Held> {
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

function kindOf(access: WorkspaceLevel, details: WorkspaceDetails): Kind {
  const facts: GrantFacts = {
    on: 'workspace',
    access,
    state_versions: details['state-versions'],
    workspace_locking: details['workspace-locking'] ? 1 : 0,
    workspace_create: 0,
  }
  return { held: heldBy(facts, details.runs !== 'read'), workspaceDetails: details }
}

/** Computed once per kind, because very many workspace grants have few kinds. */
const fixedKinds = new Map(
  entriesOf(workspaceLevels).map(([access, details]) => [access, kindOf(access, details)]),
)

function workspaceGrant({ id, workspace_id, access, custom }: WorkspaceGrantRow): Grant {
  const { held, workspaceDetails } =
    custom === null ? existing(fixedKinds.get(access)) : kindOf('custom', customDetailsOf(custom))
  return { source: 'team-workspaces', id, placeId: workspace_id, access, held, workspaceDetails }
}

function projectGrant(row: ProjectGrantRow): Grant {
  const { details } = toGrant(row)
  return {
    source: 'team-projects',
    id: row.id,
    placeId: row.project_id,
    access: row.access,
    held: heldBy({ ...row, on: 'project' }, details.workspace.runs !== 'read'),
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
  }
}

/** Grants of teams on places, by team id. */
export type GrantsByTeam = ReadonlyMap<string, Grants>

/** @param on 'projects too' also reads grants on the workspaces in the projects */
export async function readGrants(
  tx: Transaction,
  teamIds: readonly string[],
  places: Places,
  on: 'workspaces' | 'projects too',
): Promise<GrantsByTeam> {
  const onWorkspaces = byTeam(await workspaceGrantsOfTeams(tx, teamIds, places), workspaceGrant)
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
  const groups = Map.groupBy(rows, (row) => row.team_id)
  return new Map([...groups].map(([teamId, ofTeam]) => [teamId, ofTeam.map(make)]))
}
