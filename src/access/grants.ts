import type { Flag } from '../database/tables.ts'
import { columnSet, type ColumnSet } from './decide.ts'

/** A team's grant on a workspace or on a project, as far as access depends on it. */
export type GrantFacts = {
  /** Which of the two it is on. */
  readonly on: 'workspace' | 'project'
  readonly access: 'read' | 'plan' | 'write' | 'maintain' | 'admin' | 'custom'
  readonly state_versions: 'none' | 'read-outputs' | 'read' | 'write'
  readonly workspace_locking: Flag
  /** May create workspaces in the project; 0 for a workspace. */
  readonly workspace_create: Flag
}

const levels = {
  read: columnSet('R'),
  plan: columnSet('R'),
  write: columnSet('W'),
  maintain: columnSet('A', 'pC'),
  admin: columnSet('A'),
}
const ofFixedLevel = {
  workspace: levels,
  project: { ...levels, admin: columnSet('A', 'pC', 'pA') },
}

const ofStateVersions = {
  none: 0,
  'read-outputs': columnSet('cO'),
  read: columnSet('cR'),
  write: columnSet('cW'),
} as const

/** The columns of the table that a grant puts its team in. A custom one gives what its details say, and never administers. */
export function columnsOfGrant(grant: GrantFacts): ColumnSet {
  if (grant.access !== 'custom') return ofFixedLevel[grant.on][grant.access]
  return (
    ofStateVersions[grant.state_versions] |
    (grant.workspace_locking === 1 ? columnSet('cL') : 0) |
    (grant.workspace_create === 1 ? columnSet('pC') : 0)
  )
}

/** What grants add up to on a workspace: those on it, and those on its project. */
export function sumOfGrants(grants: readonly GrantFacts[]): ColumnSet {
  return grants.reduce((sum, grant) => sum | columnsOfGrant(grant), 0)
}

/** Seeing a project because of a workspace in it: the least of what the columns give on a project. */
const seesProject = columnSet('cO')

/** What grants add up to on a project: one on a workspace in it lets see the project, no more. */
export function sumOnProject(grants: readonly GrantFacts[]): ColumnSet {
  return grants.reduce((sum, grant) => {
    const columns = columnsOfGrant(grant)
    return sum | (grant.on === 'project' || columns === 0 ? columns : seesProject)
  }, 0)
}
