import type { UserActor } from '../access/actor.ts'
import { columnSet, isPermitted, type ColumnSet } from '../access/decide.ts'
import { NO_ID } from '../core/ids.ts'
import { columnsOfGrant, noDetails, type GrantFacts } from '../access/grants.ts'
import type { Permission } from '../access/rules.ts'
import { noStanding } from '../access/standing.ts'

/** The actions on a workspace, and the permission of the table that decides each. */
export const workspaceActions = {
  'read-workspace': 'workspace:read',
  'read-current-outputs': 'outputs:read-current',
  'read-outputs': 'outputs:read',
  'read-state': 'state-version:read',
  'write-state': 'state-version:create',
  lock: 'workspace:lock',
  'force-unlock': 'workspace:force-unlock',
  'manage-workspace': 'workspace:manage',
  'manage-team-access': 'team-access:manage',
  'manage-state-content': 'state-content:manage',
} as const satisfies Record<string, Permission>

/** The actions on a project itself. */
export const projectActions = {
  'read-project': 'project:read',
  'create-workspaces': 'workspace:create',
  'manage-project': 'project:manage',
  'manage-team-access': 'project-access:manage',
} as const satisfies Record<string, Permission>

export type On = GrantFacts['on']

/**
 * The permission that decides each action, by its name in `gives`. For a project, actions in its workspaces begin with
 * `workspaces/`.
 */
export const permissionsOn: Readonly<Record<On, Readonly<Record<string, Permission>>>> = {
  workspace: workspaceActions,
  project: {
    ...projectActions,
    ...Object.fromEntries(
      Object.entries(workspaceActions).map(([name, permission]) => [`workspaces/${name}`, permission]),
    ),
  },
}

/** One bit per action, in the order of `permissionsOn`. */
export type ActionSet = number

/** The table looks at the caller only for objects that belong to a user. None of these do. */
export const somebody: UserActor = {
  kind: 'user',
  tokenId: '',
  tokenMadeAt: '',
  tokenExpiresAt: '',
  userId: NO_ID,
  teamId: null,
  organizationId: null,
  isSiteAdmin: false,
  auditTrailOf: null,
  name: '',
}

/** Cached, because there are few different sums of columns and very many workspaces. */
function memoized(actions: Readonly<Record<string, Permission>>): (columns: ColumnSet) => ActionSet {
  const known = new Map<ColumnSet, ActionSet>()
  return (columns) => {
    let set = known.get(columns)
    if (set === undefined) {
      set = 0
      for (const [place, permission] of Object.values(actions).entries()) {
        if (isPermitted(permission, somebody, { ...noStanding, columns }, {})) set |= 1 << place
      }
      known.set(columns, set)
    }
    return set
  }
}

const inWorkspace = memoized(workspaceActions)
const inProject = memoized(projectActions)
const PROJECT_BITS = Object.keys(projectActions).length

/** What a user or team holds on a place. `plans`: a grant allows planning, which only affects the level's name. */
export type Held = {
  readonly columns: ColumnSet
  /** For a project: the columns that apply in each of its workspaces. */
  readonly inWorkspaces: ColumnSet
  readonly plans: boolean
}

export function actionsOn(on: On, { columns, inWorkspaces }: Held): ActionSet {
  return on === 'workspace'
    ? inWorkspace(columns)
    : inProject(columns) | (inWorkspace(inWorkspaces) << PROJECT_BITS)
}

export function namesOfActions(on: On, actions: ActionSet): string[] {
  return Object.keys(permissionsOn[on]).filter((_, place) => (actions & (1 << place)) !== 0)
}

/** `{"read-workspace": true, …}`: which of the named actions the set has. They are its first ones, in their order. */
export function shownActions(names: object, actions: ActionSet): Record<string, boolean> {
  return Object.fromEntries(Object.keys(names).map((name, place) => [name, (actions & (1 << place)) !== 0]))
}

export function allActions(on: On): ActionSet {
  return (1 << Object.keys(permissionsOn[on]).length) - 1
}

const ofMembers = columnSet('PM', 'TT')

/** The actions that a plain member does not have, or only the named one of them. */
export function actionsBeyondMembers(on: On, name?: string): ActionSet {
  const beyond = allActions(on) & ~actionsOn(on, heldEverywhere(ofMembers))
  const named = name === undefined ? 0 : 1 << Object.keys(permissionsOn[on]).indexOf(name)
  // Everybody has an action of plain members, so it leaves out nobody.
  return (beyond & named) === 0 ? beyond : named
}

/** Columns that hold on every workspace and project. */
export function heldEverywhere(columns: ColumnSet): Held {
  return { columns, inWorkspaces: columns, plans: false }
}

export const levelNames = [
  'none',
  'read-outputs',
  'read',
  'plan',
  'write',
  'maintain',
  'admin',
  'custom',
] as const
export type LevelName = (typeof levelNames)[number]

function levelOfGrant(on: On, access: GrantFacts['access']): ActionSet {
  const grant = { ...noDetails, on, access, state_versions: 'read-outputs' } as const
  return actionsOn(on, heldEverywhere(columnsOfGrant(grant)))
}

function levelsOf(on: On, ...fixed: ('read' | 'write' | 'maintain')[]): ReadonlyMap<ActionSet, LevelName> {
  return new Map<ActionSet, LevelName>([
    [levelOfGrant(on, 'custom'), 'read-outputs'],
    ...fixed.map((level) => [levelOfGrant(on, level), level] as const),
  ])
}

const levels = {
  workspace: levelsOf('workspace', 'read', 'write'),
  project: levelsOf('project', 'read', 'write', 'maintain'),
}
const admin = {
  workspace: levelOfGrant('workspace', 'admin'),
  project: levelOfGrant('project', 'admin'),
}
/** The first action on a workspace and on a project. */
const SEES = 1

/**
 * The level whose grant gives exactly these actions. `admin` for that and more, `none` if the place is not visible, and
 * `custom` for anything between two levels.
 */
export function levelOn(on: On, held: Held): LevelName {
  const actions = actionsOn(on, held)
  if ((actions & SEES) === 0) return 'none'
  if ((actions & admin[on]) === admin[on]) return 'admin'
  const level = levels[on].get(actions) ?? 'custom'
  return level === 'read' && held.plans ? 'plan' : level
}
