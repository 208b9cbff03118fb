import { existing } from '../core/existing.ts'
import { Type, type Static } from 'typebox'
import type { Problem } from '../core/errors.ts'
import { oneOf, refuse } from '../jsonapi/body.ts'
import type { ValuesOf } from '../jsonapi/body-values.ts'

export const workspaceLevel = oneOf('read', 'plan', 'write', 'admin', 'custom')
export type WorkspaceLevel = Static<typeof workspaceLevel>

/** The details of a workspace grant. state-versions and workspace-locking have an effect, the rest is only stored. */
export const detailSchemas = {
  runs: oneOf('read', 'plan', 'apply'),
  variables: oneOf('none', 'read', 'write'),
  'state-versions': oneOf('none', 'read-outputs', 'read', 'write'),
  'sentinel-mocks': oneOf('none', 'read'),
  'workspace-locking': Type.Boolean(),
  'run-tasks': Type.Boolean(),
  'policy-overrides': Type.Boolean(),
}
export type WorkspaceDetails = ValuesOf<typeof detailSchemas>

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
