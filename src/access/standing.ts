import type { Flag } from '../database/tables.ts'
import { NO_ID } from '../core/ids.ts'
import { columnSet, type ColumnSet, type Standing } from './decide.ts'
import { allFlags, flagSet, hasFlag, withIncluded, type FlagSet } from './organization-flags.ts'
import type { TokenPolicy } from './token-policy.ts'

/** The facts about the organization that a standing depends on. Every change that may affect one raises the version. */
export type OrganizationFacts = {
  readonly id: string
  readonly version: number
  readonly delegated_team_management: Flag
  readonly deleted_at: string | null
} & TokenPolicy

/** Replaces a missing organization. The caller is an outsider in it, so a 404 takes as long as for a hidden one. */
export const nowhere: OrganizationFacts = {
  id: NO_ID,
  version: 0,
  delegated_team_management: 0,
  deleted_at: null,
  user_tokens_enabled: 1,
  max_ttl_enabled: 0,
  max_ttl_user_ms: null,
  settings: '{}',
}

/** The standing of a caller without any role in an organization. */
export const noStanding: Standing = {
  columns: 0,
  teamIds: new Set(),
  flags: 0,
  lacks: allFlags,
  seesSecretTeams: false,
  membersManageTokens: false,
}

/** What is in force. Flags that the dialect or the emulated release does not know are stored but not in force. */
export type InForce = { readonly flags: FlagSet; readonly memberTokenManagement: boolean }

/** The facts about a team that give its members their standing. */
type TeamStanding = {
  readonly id: string
  readonly is_owners: Flag
  readonly organization_access: FlagSet
}

/** A user, or the service account of a team, in one organization. */
type Belonging = {
  readonly kind: 'user' | 'team'
  readonly isSiteAdmin: boolean
  /** The status of the membership. Undefined if there is none. */
  readonly status: 'active' | 'invited' | undefined
  /** The teams of an active member; empty for others. */
  readonly teams: readonly TeamStanding[]
}

/** The standing of a user or a team in an organization: site administration, membership and all teams together. */
export function standingOf(
  { kind, isSiteAdmin, status, teams }: Belonging,
  organization: Pick<OrganizationFacts, 'delegated_team_management'>,
  inForce: InForce,
): Standing {
  const isOwner = teams.some((team) => team.is_owners === 1)
  const flags = teams.reduce((set, team) => set | team.organization_access, 0) & inForce.flags

  let columns: ColumnSet = isSiteAdmin ? columnSet('SA') : 0
  if (isOwner) columns |= columnSet('OW')
  if (status === undefined) columns |= columnSet('OUT')
  else if (status === 'invited') columns |= columnSet('IN')
  else columns |= columnSet(kind === 'team' ? 'TT' : 'PM') | columnsOfFlags(flags, organization)
  return {
    columns,
    teamIds: new Set(teams.map((team) => team.id)),
    flags,
    lacks: inForce.flags & ~withIncluded(flags),
    seesSecretTeams: isSiteAdmin || isOwner || hasFlag(flags, 'access-secret-teams'),
    membersManageTokens: inForce.memberTokenManagement,
  }
}

/** The columns of the table that an active member gets from flags. */
export function columnsOfFlags(
  flags: FlagSet,
  organization: Pick<OrganizationFacts, 'delegated_team_management'>,
): ColumnSet {
  let columns = 0
  if (hasFlag(flags, 'manage-membership')) columns |= columnSet('MM')
  if (hasFlag(flags, 'manage-workspaces')) columns |= columnSet('MW')
  if (hasFlag(flags, 'manage-projects')) columns |= columnSet('MP')
  if ((flags & flagSet('read-workspaces', 'read-projects')) !== 0) columns |= columnSet('RO')
  if (hasFlag(flags, 'read-audit')) columns |= columnSet('AU')
  if (organization.delegated_team_management === 1) {
    if (hasFlag(flags, 'manage-teams')) columns |= columnSet('MT')
    if (hasFlag(flags, 'manage-organization-access')) columns |= columnSet('MO')
  }
  return columns
}
