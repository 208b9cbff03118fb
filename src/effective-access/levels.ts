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
/** One bit per action. For a project, the project actions come above the workspace actions. */
export type ActionSet = number

const ofWorkspace = Object.entries(workspaceActions)
const ofProject = Object.entries(projectActions)

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

function actionsOf(actions: typeof ofWorkspace | typeof ofProject, columns: ColumnSet): ActionSet {
  return actions.reduce(
    (set, [, permission], place) =>
      isPermitted(permission, somebody, { ...noStanding, columns }, {}) ? set | (1 << place) : set,
    0,
  )
}

/** Cached, because there are few different sums of columns and very many workspaces. */
function memoized(read: (columns: ColumnSet) => ActionSet): (columns: ColumnSet) => ActionSet {
  const known = new Map<ColumnSet, ActionSet>()
  return (columns) => {
    let actions = known.get(columns)
    if (actions === undefined) known.set(columns, (actions = read(columns)))
    return actions
  }
}

const inWorkspace = memoized((columns) => actionsOf(ofWorkspace, columns))
const inProject = memoized((columns) => actionsOf(ofProject, columns))

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
    : inWorkspace(inWorkspaces) | (inProject(columns) << ofWorkspace.length)
}

/** `{"read-workspace": true, …}`. For a project: the actions in its workspaces; its own are in shownProjectActions. */
export function shownActions(actions: ActionSet): Record<string, boolean> {
  return Object.fromEntries(ofWorkspace.map(([name], place) => [name, (actions & (1 << place)) !== 0]))
}

export function shownProjectActions(actions: ActionSet): Record<string, boolean> {
  const own = actions >> ofWorkspace.length
  return Object.fromEntries(ofProject.map(([name], place) => [name, (own & (1 << place)) !== 0]))
}

/** The names of the actions. For a project, actions in its workspaces begin with `workspaces/`. */
export function namesOfActions(on: On, actions: ActionSet): string[] {
  const names = (shown: Record<string, boolean>) => Object.keys(shown).filter((name) => shown[name])
  if (on === 'workspace') return names(shownActions(actions))
  return [
    ...names(shownProjectActions(actions)),
    ...names(shownActions(actions)).map((name) => `workspaces/${name}`),
  ]
}

/** The permission that decides each action, by its name in `gives`. In the order of the actions' bits. */
export const permissionsOn: Readonly<Record<On, Readonly<Record<string, Permission>>>> = {
  workspace: workspaceActions,
  project: {
    ...Object.fromEntries(ofWorkspace.map(([name, permission]) => [`workspaces/${name}`, permission])),
    ...projectActions,
  },
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

const named = {
  workspace: [
    ['read-outputs', levelOfGrant('workspace', 'custom')],
    ['read', levelOfGrant('workspace', 'read')],
    ['write', levelOfGrant('workspace', 'write')],
  ],
  project: [
    ['read-outputs', levelOfGrant('project', 'custom')],
    ['read', levelOfGrant('project', 'read')],
    ['write', levelOfGrant('project', 'write')],
    ['maintain', levelOfGrant('project', 'maintain')],
  ],
} as const
const admin = {
  workspace: levelOfGrant('workspace', 'admin'),
  project: levelOfGrant('project', 'admin'),
}
const sees = { workspace: 1, project: 1 << ofWorkspace.length }

/**
 * The level whose grant gives exactly these actions. `admin` for that and more, `none` if the place is not visible, and
 * `custom` for anything between two levels.
 */
export function levelOn(on: On, held: Held): LevelName {
  const actions = actionsOn(on, held)
  if ((actions & sees[on]) === 0) return 'none'
  if ((actions & admin[on]) === admin[on]) return 'admin'
  const level = named[on].find(([, of]) => of === actions)?.[0] ?? 'custom'
  return level === 'read' && held.plans ? 'plan' : level
}
