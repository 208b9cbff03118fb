import type { Transaction } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import type { Flag } from '../database/tables.ts'
import type { Actor } from './actor.ts'
import { columnSet, type ColumnSet, type Standing } from './decide.ts'
import { Kept } from './kept.ts'
import { flagSet, hasFlag, type FlagSet } from './organization-flags.ts'
import type { TokenPolicy } from './token-policy.ts'

/** What a standing depends on, of the organization. Its version grows whenever a standing in it may have changed. */
export type OrganizationFacts = {
  readonly id: string
  readonly version: number
  readonly delegated_team_management: Flag
  readonly deleted_at: string | null
} & TokenPolicy

const membershipQuery = prepared<{ userId: string; organizationId: string }>()((db, param) =>
  db
    .selectFrom('memberships')
    .where('user_id', '=', param('userId'))
    .where('organization_id', '=', param('organizationId'))
    .select('status'),
)

const teamsQuery = prepared<{ userId: string; organizationId: string }>()((db, param) =>
  db
    .selectFrom('team_members')
    .innerJoin('teams', 'teams.id', 'team_members.team_id')
    .where('team_members.user_id', '=', param('userId'))
    .where('team_members.organization_id', '=', param('organizationId'))
    .where('team_members.is_active', '=', 1)
    .select(['teams.id', 'teams.is_owners', 'teams.organization_access']),
)

const nothing: Standing = {
  columns: 0,
  teamIds: new Set(),
  flags: 0,
  seesSecretTeams: false,
  membersManageTokens: false,
}

/** Where a caller stands outside any organization: for what belongs to a user or to the whole site. */
export function standingOutside(actor: Actor): Standing {
  const own = { user: 'OUT', team: 'TT', organization: 'OG' } as const
  return { ...nothing, columns: columnSet(own[actor.kind]) | (actor.isSiteAdmin ? columnSet('SA') : 0) }
}

/** Of all standings that are kept: somebody may be in very many teams. */
const MAX_KEPT_TEAM_IDS = 300_000
/** What a standing weighs beside the ids of its teams. */
const STANDING_WEIGHT = 10

/**
 * Reads where callers stand in organizations. A standing is kept by (organization, its version, caller), which never
 * changes its meaning, so any node may keep it. Only what is committed is kept.
 */
export class Standings {
  readonly #kept = new Kept<Standing>(MAX_KEPT_TEAM_IDS, ({ teamIds }) => STANDING_WEIGHT + teamIds.size)
  readonly #knownFlags: FlagSet
  readonly #membersManageTokens: boolean
  /** One request asks for its caller's more than once. */
  #last: { actor: Actor; organization: OrganizationFacts; standing: Promise<Standing> } | undefined

  /** What the dialect or the emulated release does not know is stored and not in force. */
  constructor(known: { flags: FlagSet; memberTokenManagement: boolean }) {
    this.#knownFlags = known.flags
    this.#membersManageTokens = known.memberTokenManagement
  }

  in(tx: Transaction, actor: Actor, organization: OrganizationFacts): Promise<Standing> {
    const last = this.#last
    // What is being written may change while these stay the same.
    if (last?.actor === actor && last.organization === organization && tx.mode === 'read')
      return last.standing
    const standing = this.#find(tx, actor, organization)
    this.#last = { actor, organization, standing }
    return standing
  }

  async #find(tx: Transaction, actor: Actor, organization: OrganizationFacts): Promise<Standing> {
    const key = `${actor.kind} ${actor.userId ?? actor.organizationId}${actor.isSiteAdmin ? ' admin' : ''}`
    let standing = this.#kept.get(organization, key)
    if (standing === undefined) {
      standing = await this.#read(tx, actor, organization)
      if (tx.mode === 'read') this.#kept.set(organization, key, standing)
    }
    return standing
  }

  async #read(tx: Transaction, actor: Actor, organization: OrganizationFacts): Promise<Standing> {
    if (actor.kind === 'organization') {
      if (actor.organizationId !== organization.id) return nothing
      return { ...nothing, columns: columnSet('OG'), seesSecretTeams: true }
    }
    const values = { userId: actor.userId as string, organizationId: organization.id }
    const membership = await tx.first(membershipQuery, values)
    const teams = membership?.status === 'active' ? await tx.all(teamsQuery, values) : []
    const isOwner = teams.some((team) => team.is_owners === 1)
    const flags = teams.reduce((set, team) => set | team.organization_access, 0) & this.#knownFlags

    let columns: ColumnSet = actor.isSiteAdmin ? columnSet('SA') : 0
    if (isOwner) columns |= columnSet('OW')
    if (membership === undefined) columns |= columnSet('OUT')
    else if (membership.status === 'invited') columns |= columnSet('IN')
    else columns |= columnSet(actor.kind === 'team' ? 'TT' : 'PM') | columnsOfFlags(flags, organization)
    return {
      columns,
      teamIds: new Set(teams.map((team) => team.id)),
      flags,
      seesSecretTeams: actor.isSiteAdmin || isOwner || hasFlag(flags, 'access-secret-teams'),
      membersManageTokens: this.#membersManageTokens,
    }
  }
}

function columnsOfFlags(flags: FlagSet, organization: OrganizationFacts): ColumnSet {
  let columns = 0
  if (hasFlag(flags, 'manage-membership')) columns |= columnSet('MM')
  if (hasFlag(flags, 'manage-workspaces')) columns |= columnSet('MW')
  if (hasFlag(flags, 'manage-projects')) columns |= columnSet('MP')
  if ((flags & flagSet('read-workspaces', 'read-projects')) !== 0) columns |= columnSet('RO')
  if (organization.delegated_team_management === 1) {
    if (hasFlag(flags, 'manage-teams')) columns |= columnSet('MT')
    if (hasFlag(flags, 'manage-organization-access')) columns |= columnSet('MO')
  }
  return columns
}
