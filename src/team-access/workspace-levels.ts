import { existing } from '../core/existing.ts'
import { Type } from 'typebox'
import { AppError, type Problem } from '../core/errors.ts'
import { oneOf } from '../jsonapi/body.ts'
import type { Explained } from '../jsonapi/body-values.ts'

export const workspaceLevel = oneOf('read', 'plan', 'write', 'admin', 'custom')
export type WorkspaceLevel = 'read' | 'plan' | 'write' | 'admin' | 'custom'

/** The details of a workspace grant. state-versions and workspace-locking have an effect, the rest is only stored. */
export type WorkspaceDetails = {
  runs: 'read' | 'plan' | 'apply'
  variables: 'none' | 'read' | 'write'
  'state-versions': 'none' | 'read-outputs' | 'read' | 'write'
  'sentinel-mocks': 'none' | 'read'
  'workspace-locking': boolean
  'run-tasks': boolean
  'policy-overrides': boolean
}

export const detailSchemas = {
  runs: oneOf('read', 'plan', 'apply'),
  variables: oneOf('none', 'read', 'write'),
  'state-versions': oneOf('none', 'read-outputs', 'read', 'write'),
  'sentinel-mocks': oneOf('none', 'read'),
  'workspace-locking': Type.Boolean(),
  'run-tasks': Type.Boolean(),
  'policy-overrides': Type.Boolean(),
} satisfies Record<keyof WorkspaceDetails, Explained>

const custom: WorkspaceDetails = {
  runs: 'read',
  variables: 'none',
  'state-versions': 'none',
  'sentinel-mocks': 'none',
  'workspace-locking': false,
  'run-tasks': false,
  'policy-overrides': false,
}
const read: WorkspaceDetails = { ...custom, variables: 'read', 'state-versions': 'read' }
const write: WorkspaceDetails = {
  ...custom,
  runs: 'apply',
  variables: 'write',
  'state-versions': 'write',
  'sentinel-mocks': 'read',
  'workspace-locking': true,
}
/** The details of each level. For custom: the details that a new grant starts with. */
export const workspaceLevels: Record<WorkspaceLevel, WorkspaceDetails> = {
  read,
  plan: { ...read, runs: 'plan' },
  write,
  admin: { ...write, 'run-tasks': true, 'policy-overrides': true },
  custom,
}

export type WorkspaceGrant = { access: WorkspaceLevel; details: WorkspaceDetails }

/**
 * Applies a change to a grant. Only custom access takes details. Details left out keep their value, even if it came
 * from a fixed level, because the tfe provider sends only the changed ones.
 */
export function changeWorkspaceGrant(
  before: WorkspaceGrant | undefined,
  asked: { access?: WorkspaceLevel; details: Partial<WorkspaceDetails> },
): WorkspaceGrant {
  const access = asked.access ?? existing(before).access
  if (access !== 'custom') {
    refuse(detailProblems(access, asked.details, '/data/attributes'))
    return { access, details: workspaceLevels[access] }
  }
  const kept = before?.details ?? workspaceLevels.custom
  return { access, details: { ...kept, ...asked.details } }
}

/** Problems for details given with a fixed level. The text is the platform's. */
export function detailProblems(access: string, details: object, pointer: string): Problem[] {
  return Object.keys(details).map((name) => ({
    detail:
      `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')} is read-only when access level is '${access}'; ` +
      `use the 'custom' access level to set this attribute.`,
    pointer: `${pointer}/${name}`,
  }))
}

export function refuse(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new AppError('invalid', problems)
}
