import { sql, type Selectable, type Updateable } from 'kysely'
import type { TeamFacts, Standing } from '../access/decide.ts'
import type { Transaction } from '../database/database.ts'
import { insertionOf, rowBy, rowByName } from '../database/rows.ts'
import { prepared } from '../database/prepared.ts'
import { deleteInSlices, inSlices } from '../database/slices.ts'
import { filterOnly, unlessTaken, isTextIn, nextVersion } from '../database/portable.ts'
import type { TeamTable } from '../database/tables.ts'

export type TeamRow = Selectable<TeamTable>

const holdingColumns = [
  'id',
  'name',
  'visibility',
  'is_owners',
  'allow_member_token_management',
  'organization_access',
] as const

/** The fields of a team that its members' access depends on, and those that decide whether it may be named. */
export type HoldingTeam = Pick<TeamRow, (typeof holdingColumns)[number]>

/** For statements that join the teams. */
export const holdingTeamColumns = holdingColumns.map((column) => `teams.${column}` as const)

export const findTeam = rowBy('teams', 'id')

export const findTeamByName = rowByName('teams')

/**
 * The teams of the organization with these ids. Other ids are ignored. Without statistics, SQLite would read all teams of the
 * organization.
 */
export function findTeams(
  tx: Transaction,
  organizationId: string,
  ids: readonly string[],
): Promise<TeamRow[]> {
  return inSlices(ids.toSorted(), (slice) =>
    tx.db
      .selectFrom('teams')
      .where('id', 'in', slice)
      .where(filterOnly(tx.engine, 'organization_id'), '=', organizationId)
      .selectAll()
      .orderBy('id')
      .execute(),
  )
}

const ofServiceAccount = prepared<{ userId: string }>()((db, param) =>
  db
    .selectFrom('team_members')
    .innerJoin('teams', 'teams.id', 'team_members.team_id')
    .where('team_members.user_id', '=', param('userId'))
    .where('teams.service_account_id', '=', param('userId'))
    .selectAll('teams'),
)

export function findTeamOfServiceAccount(tx: Transaction, userId: string): Promise<TeamRow | undefined> {
  return tx.first(ofServiceAccount, { userId })
}

/** The facts about a team that access rules need. */
export function teamFacts(team: Omit<HoldingTeam, 'name'>): TeamFacts {
  return {
    id: team.id,
    visibility: team.visibility,
    isOwners: team.is_owners === 1,
    allowMemberTokenManagement: team.allow_member_token_management === 1,
    flags: team.organization_access,
  }
}

type Inserted = Omit<TeamRow, 'number' | 'users_count' | 'service_account_id' | 'version'>
const defaults = {
  sso_team_id: null,
  visibility: 'secret',
  allow_member_token_management: 1,
  is_owners: 0,
} as const
type Defaulted = keyof typeof defaults
type NewTeam = Omit<Inserted, Defaulted> & Partial<Pick<Inserted, Defaulted>>

const insertion = insertionOf(
  'teams',
  {
    id: 'text',
    organization_id: 'text',
    name: 'text',
    sso_team_id: 'text',
    visibility: 'text',
    organization_access: 'bigint',
    allow_member_token_management: 'bigint',
    is_owners: 'bigint',
    created_at: 'text',
    updated_at: 'text',
  },
  ['organization_id', 'name'],
)

/** Returns undefined if the organization already has a team of this name. */
export function insertTeam(tx: Transaction, team: NewTeam): Promise<TeamRow | undefined> {
  return tx.first(insertion, { ...defaults, ...team })
}

/** Returns undefined if another team has the new name. The caller must then end the transaction. */
export function updateTeam(
  tx: Transaction,
  id: string,
  changes: Updateable<TeamTable>,
): Promise<TeamRow | undefined> {
  return unlessTaken(
    tx.db
      .updateTable('teams')
      .set({ ...changes, version: nextVersion(tx.engine) })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
}

/** Deletes the team with its service account, tokens, memberships and grants. */
export async function deleteTeam(tx: Transaction, team: TeamRow): Promise<void> {
  for (const table of ['team_members', 'team_workspaces', 'team_projects'] as const) {
    await deleteInSlices(tx, table, sql`team_id = ${team.id}`)
  }
  await tx.db.deleteFrom('teams').where('id', '=', team.id).execute()
  if (team.service_account_id !== null) {
    await tx.db.deleteFrom('users').where('id', '=', team.service_account_id).execute()
  }
}

const selectMembers = (db: Transaction['db']) =>
  db.selectFrom('team_members').select(['user_id', 'membership_id', 'is_active']).orderBy('user_id')

const membersOfTeamsQuery = prepared<{ teamIds: string; limit: number }>()((db, param, engine) =>
  selectMembers(db)
    .select('team_id')
    .where(isTextIn(engine, 'team_id', param('teamIds')))
    .limit(param('limit')),
)

/**
 * All members of some teams, by team id. Undefined if there are more than `most` of them. A team without members has no
 * entry.
 */
export async function membersOfTeams(
  tx: Transaction,
  teamIds: readonly string[],
  most: number,
): Promise<ReadonlyMap<string, TeamMember[]> | undefined> {
  const members = await tx.all(membersOfTeamsQuery, { teamIds: JSON.stringify(teamIds), limit: most + 1 })
  return members.length > most ? undefined : Map.groupBy(members, ({ team_id: teamId }) => teamId)
}

const someMembersQuery = prepared<{ teamId: string; after: string; limit: number }>()((db, param) =>
  selectMembers(db)
    .where('team_id', '=', param('teamId'))
    .where('user_id', '>', param('after'))
    .limit(param('limit')),
)

export type TeamMember = { user_id: string; membership_id: string; is_active: 0 | 1 }

/** The next members after a user id, including invited ones. */
export function someTeamMembers(
  tx: Transaction,
  teamId: string,
  after: string,
  limit: number,
): Promise<TeamMember[]> {
  return tx.all(someMembersQuery, { teamId, after, limit })
}

/** The ids of the teams that the caller may not see. No document may name them. */
export async function hiddenTeamsAmong(
  tx: Transaction,
  ids: readonly string[],
  standing: Standing,
): Promise<ReadonlySet<string>> {
  const unknown = [...new Set(ids)].filter((id) => !standing.teamIds.has(id))
  if (standing.seesSecretTeams || unknown.length === 0) return new Set()
  const visible = await tx.db
    .selectFrom('teams')
    .where('id', 'in', unknown)
    .where('visibility', '=', 'organization')
    .select('id')
    .execute()
  const seen = new Set(visible.map((team) => team.id))
  return new Set(unknown.filter((id) => !seen.has(id)))
}
