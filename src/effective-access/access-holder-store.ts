import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import type { FlagSet } from '../access/organization-flags.ts'
import { badRequest } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { countOf } from '../database/pages.ts'
import { amongFew, unindexed } from '../database/portable.ts'
import { inSlices } from '../database/slices.ts'
import type { Tables } from '../database/tables.ts'
import { membersInSlices } from '../teams/team-members-in-turns.ts'
import type { Giving, GivingGrants } from './access-holders.ts'
import { holdingTeamColumns, type HoldingTeam } from '../teams/team-store.ts'
import { checked, MAX_GRANTS } from './holdings-store.ts'
import type { Place } from './holdings.ts'

export type GivingTeam = HoldingTeam & { readonly users_count: number }

export type Person = { readonly id: string; readonly name: string }

/** Teams with no more members than this are read many at once. */
const MEMBERS_OF_SMALL_TEAM = 20
const TEAMS_A_STATEMENT = 100

/** The most teams with access to one place, and the most memberships in them, that a list looks at. */
const MAX_TEAMS = 10_000
const MAX_MEMBERSHIPS = 300_000

/**
 * Ids of the teams that have one of the flags or grants on the place, and of `owners`; some several times. An index leads to
 * each of them, so that the other teams of the organization cost nothing.
 *
 * @param giving if it is missing, any flag or grant counts
 */
function givingTeamIds(db: Kysely<Tables>, organizationId: string, place: Place, giving?: Giving) {
  const everywhere = db
    .selectFrom('teams')
    .where('teams.organization_id', '=', organizationId)
    .where(hasAnyAccess())
    .$if(giving !== undefined, (some) => some.where(isOwnersOrHas(giving?.flags ?? 0)))
  return everywhere
    .select('teams.id')
    .unionAll(grantedOnPlace(db, place, giving?.onWorkspaces).select('grant.team_id as id'))
    .unionAll(grantedOnProject(db, place.projectId, giving?.onProjects).select('grant.team_id as id'))
}

/** How many flags and grants `givingTeams` looks at, counted up to `most`. */
export async function countGiving(
  { db }: Transaction,
  organizationId: string,
  place: Place,
  most: number,
): Promise<number> {
  const all = givingTeamIds(db, organizationId, place).as('giving')
  return countOf(db.selectFrom(db.selectFrom(all).select('giving.id').limit(most).as('some')))
}

/** The teams that have one of the flags or grants on the place, and `owners`, by name. Throws 400 if they are too many. */
export async function givingTeams(
  { db, engine }: Transaction,
  organizationId: string,
  place: Place,
  giving: Giving,
): Promise<GivingTeam[]> {
  const teams = await db
    .selectFrom('teams')
    .where(amongFew(engine, 'teams.id', givingTeamIds(db, organizationId, place, giving)))
    .select([...holdingTeamColumns, 'teams.users_count'])
    // Not by the index of the names: it has all teams of the organization.
    .orderBy(unindexed(engine, 'teams.name'))
    .orderBy('teams.id')
    .limit(MAX_TEAMS + 1)
    .execute()
  const memberships = teams.reduce((sum, team) => sum + team.users_count, 0)
  if (teams.length > MAX_TEAMS || memberships > MAX_MEMBERSHIPS) {
    const detail = `more than ${MAX_TEAMS} teams, or teams with more than ${MAX_MEMBERSHIPS} members together, have access; ask with filter[may] for an action that fewer have`
    throw badRequest(detail)
  }
  return teams
}

/** Ids of the active members of the teams, without their service accounts. */
async function memberIdsOf(tx: Transaction, teams: readonly GivingTeam[]): Promise<Set<string>> {
  const ids = new Set<string>()
  const small: string[] = []
  for (const { id, users_count: count } of teams) {
    if (count <= MEMBERS_OF_SMALL_TEAM) {
      small.push(id)
      continue
    }
    for await (const members of membersInSlices(tx, id)) {
      for (const { user_id: userId, is_active: isActive } of members) if (isActive === 1) ids.add(userId)
    }
  }
  const read = (slice: readonly string[]) =>
    tx.db
      .selectFrom('team_members')
      .where('team_members.team_id', 'in', slice)
      .where('team_members.is_active', '=', 1)
      .select('team_members.user_id')
      .execute()
  for (const { user_id: userId } of await inSlices(small, read, TEAMS_A_STATEMENT)) ids.add(userId)
  return ids
}

/** The active members of the teams, by user name. */
export async function peopleIn(tx: Transaction, teams: readonly GivingTeam[]): Promise<Person[]> {
  const ids = [...(await memberIdsOf(tx, teams))]
  const people = await inSlices(ids, (slice) =>
    tx.db
      .selectFrom('users')
      .where('users.id', 'in', slice)
      .where('users.is_service_account', '=', 0)
      .select((eb) => ['users.id', eb.fn.coalesce('users.username', 'users.id').as('name')])
      .execute(),
  )
  const isBefore = (one: Person, other: Person) =>
    one.name === other.name ? one.id < other.id : one.name < other.name
  return people.sort((one, other) => (isBefore(one, other) ? -1 : 1))
}

/** The teams of active members that an answer about the place can name, by name. */
export async function namedTeamsOfUsers(
  tx: Transaction,
  organizationId: string,
  userIds: readonly string[],
  place: Place,
): Promise<(HoldingTeam & { user_id: string })[]> {
  if (userIds.length === 0) return []
  const rows = await tx.db
    .selectFrom('team_members')
    .innerJoin('teams', 'teams.id', 'team_members.team_id')
    .where('team_members.user_id', 'in', userIds)
    .where('team_members.organization_id', '=', organizationId)
    .where('team_members.is_active', '=', 1)
    .where((eb) =>
      eb.or([
        eb('teams.is_owners', '=', 1),
        eb('teams.organization_access', '!=', 0),
        eb('teams.id', 'in', grantedOnPlace(tx.db, place).select('grant.team_id')),
        eb('teams.id', 'in', grantedOnProject(tx.db, place.projectId).select('grant.team_id')),
      ]),
    )
    .select(holdingTeamColumns)
    .select('team_members.user_id')
    .orderBy('teams.name')
    .orderBy('teams.id')
    .limit(MAX_GRANTS + 1)
    .execute()
  return checked(rows)
}

function isOwnersOrHas(flags: FlagSet): Expression<SqlBool> {
  return sql<SqlBool>`(${sql.ref('teams.is_owners')} = 1 or (${sql.ref('teams.organization_access')} & ${sql.lit(flags)}) <> 0)`
}

/** The condition of the index `teams_with_access`. */
function hasAnyAccess(): Expression<SqlBool> {
  return sql<SqlBool>`(${sql.ref('teams.is_owners')} = 1 or ${sql.ref('teams.organization_access')} <> 0)`
}

/** The grants on the workspace, or on a workspace in the project. */
function grantedOnPlace(db: Kysely<Tables>, { on, id }: Place, giving?: GivingGrants) {
  const grants = db.selectFrom('team_workspaces as grant')
  const there =
    on === 'workspace'
      ? grants.where('grant.workspace_id', '=', id)
      : grants.where('grant.workspace_id', 'in', (inner) =>
          inner.selectFrom('workspaces').where('workspaces.project_id', '=', id).select('workspaces.id'),
        )
  return giving === undefined ? there : there.where(gives(giving, 'team_workspaces'))
}

function grantedOnProject(db: Kysely<Tables>, projectId: string, giving?: GivingGrants) {
  const grants = db.selectFrom('team_projects as grant').where('grant.project_id', '=', projectId)
  return giving === undefined ? grants : grants.where(gives(giving, 'team_projects'))
}

function gives(
  { levels, states, locking, creating }: GivingGrants,
  table: 'team_workspaces' | 'team_projects',
) {
  const among = (column: string, values: readonly string[]) =>
    values.length === 0 ? sql<SqlBool>`1 = 0` : sql<SqlBool>`${sql.ref(column)} in (${sql.join(values)})`
  const parts = [
    among('grant.state_versions', states),
    ...(locking ? [sql<SqlBool>`${sql.ref('grant.workspace_locking')} = 1`] : []),
    ...(creating && table === 'team_projects'
      ? [sql<SqlBool>`${sql.ref('grant.workspace_create')} = 1`]
      : []),
  ]
  return sql<SqlBool>`(${among('grant.access', levels)} or (${sql.ref('grant.access')} = 'custom' and (${sql.join(parts, sql` or `)})))`
}
