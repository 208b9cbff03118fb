import type { Flag } from '../database/tables.ts'
import { columnSet, type ColumnSet } from './decide.ts'

/** The fields of a team's grant, on a workspace or on a project, that access depends on. */
export type GrantFacts = {
  readonly on: 'workspace' | 'project'
  readonly access: 'read' | 'plan' | 'write' | 'maintain' | 'admin' | 'custom'
  readonly state_versions: 'none' | 'read-outputs' | 'read' | 'write'
  readonly workspace_locking: Flag
  /** Whether the team may create workspaces in the project. 0 for a grant on a workspace. */
  readonly workspace_create: Flag
}

/** The details of a grant of a fixed level, and of a custom grant that gives nothing. */
export const noDetails = { state_versions: 'none', workspace_locking: 0, workspace_create: 0 } as const

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

/** The columns of the table that a grant gives. A custom grant gives what its details say, never the admin column. */
export function columnsOfGrant(grant: GrantFacts): ColumnSet {
  if (grant.access !== 'custom') return ofFixedLevel[grant.on][grant.access]
  return (
    ofStateVersions[grant.state_versions] |
    (grant.workspace_locking === 1 ? columnSet('cL') : 0) |
    (grant.workspace_create === 1 ? columnSet('pC') : 0)
  )
}

/** The columns on a workspace: the sum of the grants on it and on its project. */
export function sumOfGrants(grants: readonly GrantFacts[]): ColumnSet {
  return grants.reduce((sum, grant) => sum | columnsOfGrant(grant), 0)
}

/** Lets a caller see a project because of a workspace in it. cO is the column that gives least on a project. */
const seesProject = columnSet('cO')

/** The columns on a project. A grant on a workspace in it only lets the caller see the project. */
export function sumOnProject(grants: readonly GrantFacts[]): ColumnSet {
  return grants.reduce((sum, grant) => {
    const columns = columnsOfGrant(grant)
    return sum | (grant.on === 'project' || columns === 0 ? columns : seesProject)
  }, 0)
}
