import { isKeyOf } from '../core/keys.ts'
import {
  projectLevels,
  type ProjectAccess,
  type ProjectDetails,
  type WorkspaceAccess,
} from '../team-access/project-levels.ts'
import { workspaceLevels, type WorkspaceDetails } from '../team-access/workspace-levels.ts'
import type { Source } from './holdings.ts'
import { levelOn } from './levels.ts'

/** The values of all details, from least to most. */
const order = ['none', 'read-outputs', 'read', 'plan', 'update', 'write', 'manage', 'apply', 'delete']

/** The sum of details: the highest value of each. Runs are `none` without any grant. */
type Sum<D> = { [N in keyof D]: D[N] | 'none' }
type WorkspaceSum = Sum<WorkspaceDetails>
type ProjectSum = { 'project-access': Sum<ProjectAccess>; 'workspace-access': Sum<WorkspaceAccess> }

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

/** A source without a grant gives the details of the level that it amounts to. */
export function sumOfWorkspaceDetails(sources: readonly Source[]): WorkspaceSum {
  const all = sources.flatMap(({ grant, held }) => {
    if (grant !== undefined) return grant.workspaceDetails ?? []
    const level = levelOn('workspace', held)
    return isKeyOf(workspaceLevels, level) && level !== 'custom' ? workspaceLevels[level] : []
  })
  return most<WorkspaceSum>({ ...workspaceLevels.custom, runs: 'none' }, all)
}

export function sumOfProjectDetails(sources: readonly Source[]): ProjectSum {
  const all = sources.flatMap(({ grant, held }) => {
    if (grant !== undefined) return grant.projectDetails ?? []
    const level = levelOn('project', held)
    return isKeyOf(projectLevels, level) && level !== 'custom' ? projectLevels[level] : []
  })
  const { project, workspace } = projectLevels.custom
  return {
    'project-access': most<Sum<ProjectAccess>>(
      { ...project, settings: 'none' },
      all.map((details) => details.project),
    ),
    'workspace-access': most<Sum<WorkspaceAccess>>(
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
