import type { Flag } from '../database/tables.ts'
import { NO_ID } from '../core/ids.ts'
import { columnSet, type ColumnSet, type Standing } from './decide.ts'
import { flagSet, hasFlag, withIncluded, type FlagSet } from './organization-flags.ts'
import type { TokenPolicy } from './token-policy.ts'

/** What a standing depends on, of the organization. Its version grows whenever a standing in it may have changed. */
export type OrganizationFacts = {
  readonly id: string
  readonly version: number
  readonly delegated_team_management: Flag
  readonly deleted_at: string | null
} & TokenPolicy

/** No organization: what is missing is judged in it, as an outsider, so that it costs what a hidden organization does. */
export const nowhere: OrganizationFacts = {
  id: NO_ID,
  version: 0,
  delegated_team_management: 0,
  deleted_at: null,
  user_tokens_enabled: 1,
  max_ttl_enabled: 0,
  max_ttl_user_ms: null,
}

/** What the dialect or the emulated release does not know is stored and not in force. */
export type InForce = { readonly flags: FlagSet; readonly memberTokenManagement: boolean }

/** Of a team, what its members stand by. */
export type TeamStanding = {
  readonly id: string
  readonly is_owners: Flag
  readonly organization_access: FlagSet
}

/** A user, or a team's service account, in one organization. */
export type Belonging = {
  readonly kind: 'user' | 'team'
  readonly isSiteAdmin: boolean
  /** Of the membership; undefined where there is none. */
  readonly status: 'active' | 'invited' | undefined
  /** Those of an active member. */
  readonly teams: readonly TeamStanding[]
}

/** What a user or a team stands for in an organization: site administration, membership, and all of the teams together. */
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

/** The columns of the table that flags put an active member in. */
export function columnsOfFlags(
  flags: FlagSet,
  organization: Pick<OrganizationFacts, 'delegated_team_management'>,
): ColumnSet {
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
