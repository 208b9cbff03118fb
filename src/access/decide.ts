import { isOneOf, keysOf } from '../core/keys.ts'
import { existing } from '../core/existing.ts'
import type { Actor } from './actor.ts'
import type { FlagSet } from './organization-flags.ts'
import { cells, columns, rules, type Cell, type Column, type Permission } from './rules.ts'

/** A set of columns of the table, one bit per column. */
export type ColumnSet = number

export function columnSet(...names: readonly Column[]): ColumnSet {
  return names.reduce((set, name) => set | (1 << columns.indexOf(name)), 0)
}

/** The facts about a team that rules need. */
export type TeamFacts = {
  readonly id: string
  readonly visibility: 'secret' | 'organization'
  readonly isOwners: boolean
  readonly allowMemberTokenManagement: boolean
  readonly flags: FlagSet
  /** Set only for a team that a delegate may want to change. A rule that needs it denies if it is missing. */
  readonly ungivable?: UngivableGrants
}

/** Whether the team has grants, on workspaces or projects, that the caller's own grants do not allow them to give. */
type UngivableGrants = { readonly onWorkspaces: boolean; readonly onProjects: boolean }

/** The caller's role in one organization. */
export type Standing = {
  readonly columns: ColumnSet
  readonly teamIds: ReadonlySet<string>
  /** The flags of the caller's teams that are in force. */
  readonly flags: FlagSet
  /** The flags in force that none of the caller's teams has. */
  readonly lacks: FlagSet
  readonly seesSecretTeams: boolean
  /** Whether a team may let its members manage its tokens. False if the emulated release lacks that feature. */
  readonly membersManageTokens: boolean
}

/** Who asks for something in an organization. */
export type Caller = { readonly actor: Actor; readonly standing: Standing }

/** The object of the request. A rule denies if it needs a fact that is missing here. */
export type Target = {
  /** The user who owns the object. */
  readonly userId?: string | null
  /** The request is about the caller, who may be a team or an organization instead of a user. */
  readonly isCallers?: true
  readonly team?: TeamFacts
  /** All teams of the user that the request is about. */
  readonly teamsOfUser?: readonly TeamFacts[]
  readonly sharesOrganization?: boolean
  /** The columns R … pA that the caller holds on the workspace or project. */
  readonly grants?: ColumnSet
}

type CompiledRule = readonly (readonly [cell: Cell, columns: ColumnSet])[]

const compiledRules = new Map<Permission, CompiledRule>(
  keysOf(rules).map((permission) => {
    const row = rules[permission].split(/\s+/)
    if (row.length !== columns.length) throw new Error(`the row of ${permission} has ${row.length} cells`)
    for (const text of row) {
      if (text !== '.' && text !== '-' && !isOneOf(cells, text)) {
        throw new Error(`the row of ${permission} has an unknown cell ${text}`)
      }
    }
    return [
      permission,
      cells
        .map((cell) => [cell, columnSet(...columns.filter((_, place) => row[place] === cell))] as const)
        .filter(([, set]) => set !== 0),
    ]
  }),
)

/** The permissions that a column gives on every object of the organization, whatever is true of the object. */
export function permissionsOf(column: Column): Permission[] {
  const everywhere = ([cell, set]: CompiledRule[number]) => cell === 'Y' && (set & columnSet(column)) !== 0
  return [...compiledRules].flatMap(([permission, rule]) => (rule.some(everywhere) ? permission : []))
}

const memberOfTeam = columnSet('TM')

/** A team token has these permissions only if it is the owners' token, never from the flags and grants of its team. */
const personal: ReadonlySet<Permission> = new Set<Permission>([
  'organization:create',
  'membership:accept',
  'team:manage',
  'team:grant',
  'team:update-members',
  'team:tokens',
  'organization:token',
  'user:tokens',
  'users:administer',
  'organizations:administer',
])
const asTeamToken = columnSet('OW', 'TT')

/** All columns that the caller holds for this target. */
export function heldColumns(standing: Standing, target: Target): ColumnSet {
  const held = standing.columns | (target.grants ?? 0)
  return target.team !== undefined && standing.teamIds.has(target.team.id) ? held | memberOfTeam : held
}

/** The only place that decides: does the table let this caller use this permission on this target? */
export function isPermitted(
  permission: Permission,
  actor: Actor,
  standing: Standing,
  target: Target,
): boolean {
  if (actor.auditTrailOf !== null && permission !== 'audit-trail:read') return false
  let held = heldColumns(standing, target)
  if (actor.kind === 'team' && personal.has(permission)) held &= asTeamToken
  for (const [cell, set] of existing(compiledRules.get(permission))) {
    if ((set & held) !== 0 && holds[cell](actor, standing, target)) return true
  }
  return false
}

/** The `permissions` of a document. Each name maps to a permission of the table, or to false if no caller has it. */
export function shownPermissions(
  rows: Readonly<Record<string, Permission | false>>,
  may: (permission: Permission) => boolean,
): Record<string, boolean> {
  return Object.fromEntries(
    Object.entries(rows).map(([name, permission]) => [name, permission !== false && may(permission)]),
  )
}

/** The strength of a team limits callers in the `delegates` columns, and never callers in the `unbound` columns. */
const delegates = columnSet('MM', 'MT', 'MO')
const unbound = columnSet('SA', 'OW', 'OG')

/** Whether the result for this permission can depend on the strength of a team. */
export function asksForStrength(permission: Permission): boolean {
  const rule = existing(compiledRules.get(permission))
  return rule.some(([cell]) => cell === 'v5' || cell === 'v3')
}

/** Whether the caller may change teams, but only teams that are no stronger than the caller. */
export function isDelegate(standing: Standing): boolean {
  return (standing.columns & unbound) === 0 && (standing.columns & delegates) !== 0
}

/** Whether the caller has every flag of the team that is in force. */
export function hasFlagsOf(standing: Standing, team: TeamFacts): boolean {
  return (team.flags & standing.lacks) === 0
}

/** Whether the caller may give grants on every workspace or project, even without any grant of their own. */
export function givesEverywhere(on: 'workspaces' | 'projects', { actor, standing }: Caller): boolean {
  const permission = on === 'workspaces' ? 'team-access:manage' : 'project-access:manage'
  return isPermitted(permission, actor, standing, {})
}

function isNoStronger(actor: Actor, standing: Standing, team: TeamFacts): boolean {
  const { ungivable } = team
  return (
    ungivable !== undefined &&
    hasFlagsOf(standing, team) &&
    (!ungivable.onWorkspaces || givesEverywhere('workspaces', { actor, standing })) &&
    (!ungivable.onProjects || givesEverywhere('projects', { actor, standing }))
  )
}

function mayBeChanged(actor: Actor, standing: Standing, team: TeamFacts): boolean {
  return !team.isOwners && canSeeTeam(standing, team) && isNoStronger(actor, standing, team)
}

/** Callers see the teams that are visible to the organization, and the secret teams that they are members of. */
export function canSeeTeam(standing: Standing, team: TeamFacts): boolean {
  return standing.seesSecretTeams || team.visibility === 'organization' || standing.teamIds.has(team.id)
}

const holds: Record<Cell, (actor: Actor, standing: Standing, target: Target) => boolean> = {
  Y: () => true,
  v: (_, standing, { team }) => team === undefined || (!team.isOwners && canSeeTeam(standing, team)),
  s: (actor, _, { userId, isCallers }) =>
    isCallers === true || (actor.userId !== null && actor.userId === userId),
  seen: (_, standing, { team }) => team === undefined || canSeeTeam(standing, team),
  own: (_, standing, { team }) => team !== undefined && standing.teamIds.has(team.id),
  both: (actor, _, { userId, sharesOrganization }) =>
    sharesOrganization === true || (actor.userId !== null && actor.userId === userId),
  Y6: (_, _standing, { team }) => team !== undefined && !team.isOwners,
  Y7: (actor, standing, { team }) =>
    actor.kind === 'user' &&
    standing.membersManageTokens &&
    team !== undefined &&
    team.allowMemberTokenManagement,
  v5: (actor, standing, { team }) => team === undefined || mayBeChanged(actor, standing, team),
  v3: (actor, standing, { teamsOfUser }) =>
    teamsOfUser !== undefined && teamsOfUser.every((team) => mayBeChanged(actor, standing, team)),
}
