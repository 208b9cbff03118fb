import type { Actor } from './actor.ts'
import type { FlagSet } from './organization-flags.ts'
import { cells, columns, rules, type Cell, type Column, type Permission } from './rules.ts'

/** A set of columns of the table, a bit for each. */
export type ColumnSet = number

export function columnSet(...names: readonly Column[]): ColumnSet {
  return names.reduce((set, name) => set | (1 << columns.indexOf(name)), 0)
}

/** What a rule has to know about a team. */
export type TeamFacts = {
  readonly id: string
  readonly visibility: 'secret' | 'organization'
  readonly isOwners: boolean
  readonly allowMemberTokenManagement: boolean
  readonly flags: FlagSet
  /** Only of a team that a delegate may want to change; a rule that needs it and does not have it says no. */
  readonly ungivable?: UngivableGrants
}

/** Whether a team has grants that nothing granted to the caller lets them give, on workspaces and on projects. */
export type UngivableGrants = { readonly onWorkspaces: boolean; readonly onProjects: boolean }

/** What the caller is in one organization. */
export type Standing = {
  readonly columns: ColumnSet
  readonly teamIds: ReadonlySet<string>
  /** Their flags that are in force. */
  readonly flags: FlagSet
  /** The flags that are in force and that none of the caller's teams has. */
  readonly lacks: FlagSet
  readonly seesSecretTeams: boolean
  /** Whether a team may let its members manage its tokens: an emulated older release has no such thing. */
  readonly membersManageTokens: boolean
}

/** What the request is about; a rule that needs a fact that is not there says no. */
export type Target = {
  /** The user that the thing belongs to. */
  readonly userId?: string | null
  /** It is about whoever calls, who may be no user at all. */
  readonly isCallers?: true
  readonly team?: TeamFacts
  /** All teams of the user concerned. */
  readonly teamsOfUser?: readonly TeamFacts[]
  readonly sharesOrganization?: boolean
  /** What the caller holds on the workspace or project: columns R … pA. */
  readonly grants?: ColumnSet
}

type CompiledRule = readonly (readonly [cell: Cell, columns: ColumnSet])[]

const compiledRules = new Map<Permission, CompiledRule>(
  (Object.keys(rules) as Permission[]).map((permission) => {
    const row = rules[permission].split(/\s+/)
    if (row.length !== columns.length) throw new Error(`the row of ${permission} has ${row.length} cells`)
    for (const text of row) {
      if (text !== '.' && text !== '-' && !cells.includes(text as Cell)) {
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

const memberOfTeam = columnSet('TM')

/** What a team's token may not do by its team's flags and grants, but only as the owners' token. */
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
])
const asTeamToken = columnSet('OW', 'TT')

/** Every column that the caller is in, for this target. */
export function heldColumns(standing: Standing, target: Target): ColumnSet {
  const held = standing.columns | (target.grants ?? 0)
  return target.team !== undefined && standing.teamIds.has(target.team.id) ? held | memberOfTeam : held
}

/** The one decision: does the table let this caller do this to that? */
export function isPermitted(
  permission: Permission,
  actor: Actor,
  standing: Standing,
  target: Target,
): boolean {
  if (actor.auditTrailOf !== null && permission !== 'audit-trail:read') return false
  let held = heldColumns(standing, target)
  if (actor.kind === 'team' && personal.has(permission)) held &= asTeamToken
  for (const [cell, set] of compiledRules.get(permission) as CompiledRule) {
    if ((set & held) !== 0 && holds[cell](actor, standing, target)) return true
  }
  return false
}

/** The `permissions` of a document: each as the row of the table says, false for what nobody may do here. */
export function shownPermissions(
  rows: Readonly<Record<string, Permission | false>>,
  may: (permission: Permission) => boolean,
): Record<string, boolean> {
  return Object.fromEntries(
    Object.entries(rows).map(([name, permission]) => [name, permission !== false && may(permission)]),
  )
}

/** Those whom the strength of a team binds, and those who are never bound by it. */
const delegates = columnSet('MM', 'MT', 'MO')
const unbound = columnSet('SA', 'OW', 'OG')

/** Whether it depends on the strength of teams what this permission lets somebody do. */
export function asksForStrength(permission: Permission): boolean {
  const rule = compiledRules.get(permission) as CompiledRule
  return rule.some(([cell]) => cell === 'v5' || cell === 'v3')
}

/** Whether the caller may change teams, and only those that are no stronger than they are. */
export function isDelegate(standing: Standing): boolean {
  return (standing.columns & unbound) === 0 && (standing.columns & delegates) !== 0
}

/** Whether the caller has all flags of a team that are in force. */
export function hasFlagsOf(standing: Standing, team: TeamFacts): boolean {
  return (team.flags & standing.lacks) === 0
}

/** Whether the caller may give grants without having been granted anything on the workspace or project themselves. */
export function givesEverywhere(
  on: 'workspaces' | 'projects',
  { actor, standing }: { actor: Actor; standing: Standing },
): boolean {
  return isPermitted(
    on === 'workspaces' ? 'team-access:manage' : 'project-access:manage',
    actor,
    standing,
    {},
  )
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

/** Specification 5.1: teams open to the organization, and the secret ones that the caller is in. */
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
