import { isKeyOf } from '../core/keys.ts'
import {
  projectLevels,
  type ProjectAccess,
  type ProjectDetails,
  type WorkspaceAccess,
} from '../team-access/project-levels.ts'
import { workspaceLevels, type WorkspaceDetails } from '../team-access/workspace-levels.ts'
import type { LevelName } from './levels.ts'

/** The values of all details, from least to most. */
const order = ['none', 'read-outputs', 'read', 'plan', 'update', 'write', 'manage', 'apply', 'delete']

/** The sum of details: the highest value of each. Runs are `none` without any grant. */
type Sum<D> = { [N in keyof D]: D[N] | 'none' }
type WorkspaceSum = Sum<WorkspaceDetails>
type ProjectSum = { project: Sum<ProjectAccess>; workspace: Sum<WorkspaceAccess> }

function most<D extends Record<string, string | boolean>>(nothing: D, all: readonly D[]): D {
  const sum: Record<string, string | boolean> = { ...nothing }
  for (const details of all) {
    for (const [name, value] of Object.entries(details)) {
      const before = sum[name]
      if (typeof value === 'boolean') sum[name] = value || before === true
      else if (order.indexOf(value) > order.indexOf(String(before))) sum[name] = value
    }
  }
  // It has the members of `nothing`, and values of `all`.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return sum as D
}

export function sumOfWorkspaceDetails(all: readonly WorkspaceDetails[]): WorkspaceSum {
  return most<WorkspaceSum>({ ...workspaceLevels.custom, runs: 'none' }, all)
}

export function sumOfProjectDetails(all: readonly ProjectDetails[]): ProjectSum {
  const { project, workspace } = projectLevels.custom
  return {
    project: most<ProjectSum['project']>(
      { ...project, settings: 'none' },
      all.map((details) => details.project),
    ),
    workspace: most<ProjectSum['workspace']>(
      { ...workspace, runs: 'none' },
      all.map((details) => details.workspace),
    ),
  }
}

/** The details that a project grant gives on each workspace of the project. */
export function workspaceDetailsOf({ workspace }: ProjectDetails): WorkspaceDetails {
  return {
    runs: workspace.runs,
    variables: workspace.variables,
    'state-versions': workspace['state-versions'],
    'sentinel-mocks': workspace['sentinel-mocks'],
    'workspace-locking': workspace.locking,
    'run-tasks': workspace['run-tasks'],
    'policy-overrides': workspace['policy-overrides'],
  }
}

/** For access without a grant: the details of the level that it amounts to. */
export function workspaceDetailsOfLevel(level: LevelName): WorkspaceDetails | undefined {
  return isKeyOf(workspaceLevels, level) && level !== 'custom' ? workspaceLevels[level] : undefined
}

export function projectDetailsOfLevel(level: LevelName): ProjectDetails | undefined {
  return isKeyOf(projectLevels, level) && level !== 'custom' ? projectLevels[level] : undefined
}
