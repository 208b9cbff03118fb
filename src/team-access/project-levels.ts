import { existing } from '../core/existing.ts'
import { Type, type Static } from 'typebox'
import { oneOf, refuse } from '../jsonapi/body.ts'
import type { ValuesOf } from '../jsonapi/body-values.ts'
import { detailProblems } from './workspace-levels.ts'

export const projectLevel = oneOf('read', 'write', 'maintain', 'admin', 'custom')
export type ProjectLevel = Static<typeof projectLevel>

/** Part of a custom grant. Only stored and shown: of all levels, only admin gives rights on the project itself. */
export const projectAccessSchemas = {
  settings: oneOf('read', 'update', 'delete'),
  teams: oneOf('none', 'read', 'manage'),
  'variable-sets': oneOf('none', 'read', 'write'),
}
export type ProjectAccess = ValuesOf<typeof projectAccessSchemas>

/** In each workspace of the project. State-versions, locking and create have an effect, the rest is only stored. */
export const workspaceAccessSchemas = {
  runs: oneOf('read', 'plan', 'apply'),
  'sentinel-mocks': oneOf('none', 'read'),
  'state-versions': oneOf('none', 'read-outputs', 'read', 'write'),
  variables: oneOf('none', 'read', 'write'),
  create: Type.Boolean(),
  locking: Type.Boolean(),
  move: Type.Boolean(),
  delete: Type.Boolean(),
  'run-tasks': Type.Boolean(),
  'policy-overrides': Type.Boolean(),
}
export type WorkspaceAccess = ValuesOf<typeof workspaceAccessSchemas>

export type ProjectDetails = { project: ProjectAccess; workspace: WorkspaceAccess }

const custom: ProjectDetails = {
  project: { settings: 'read', teams: 'none', 'variable-sets': 'none' },
  workspace: {
    runs: 'read',
    'sentinel-mocks': 'none',
    'state-versions': 'none',
    variables: 'none',
    create: false,
    locking: false,
    move: false,
    delete: false,
    'run-tasks': false,
    'policy-overrides': false,
  },
}
const write: WorkspaceAccess = {
  ...custom.workspace,
  runs: 'apply',
  'sentinel-mocks': 'read',
  'state-versions': 'write',
  variables: 'write',
  locking: true,
}
const everything: WorkspaceAccess = {
  ...write,
  create: true,
  move: true,
  delete: true,
  'run-tasks': true,
  'policy-overrides': true,
}
/** The details of each level. For custom: the details that a new grant starts with. */
export const projectLevels: Record<ProjectLevel, ProjectDetails> = {
  read: {
    project: custom.project,
    workspace: { ...custom.workspace, 'state-versions': 'read', variables: 'read' },
  },
  write: { project: custom.project, workspace: write },
  maintain: { project: custom.project, workspace: { ...everything, move: false } },
  admin: {
    project: { settings: 'delete', teams: 'manage', 'variable-sets': 'write' },
    workspace: everything,
  },
  custom,
}

export type ProjectGrant = { access: ProjectLevel; details: ProjectDetails }

export type AskedProjectGrant = {
  access?: ProjectLevel
  project: Partial<ProjectAccess>
  workspace: Partial<WorkspaceAccess>
}

/** Applies a change to a grant, by the same rule as changeWorkspaceGrant. */
export function changeProjectGrant(before: ProjectGrant | undefined, asked: AskedProjectGrant): ProjectGrant {
  const access = asked.access ?? existing(before).access
  if (access !== 'custom') {
    refuse([
      ...detailProblems(access, asked.project, '/data/attributes/project-access'),
      ...detailProblems(access, asked.workspace, '/data/attributes/workspace-access'),
    ])
    return { access, details: projectLevels[access] }
  }
  const kept = before?.details ?? projectLevels.custom
  return {
    access,
    details: {
      project: { ...kept.project, ...asked.project },
      workspace: { ...kept.workspace, ...asked.workspace },
    },
  }
}
