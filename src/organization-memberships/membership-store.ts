import type { Insertable, Selectable } from 'kysely'
import type { Actor } from '../access/actor.ts'
import { letsTokenIn } from '../access/token-policy-store.ts'
import type { TeamFacts } from '../access/decide.ts'
import type { Transaction } from '../database/database.ts'
import { isTextIn } from '../database/portable.ts'
import { prepared } from '../database/prepared.ts'
import { inSlices } from '../database/slices.ts'
import type { MembershipTable } from '../database/tables.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { holdingTeamColumns, teamFacts } from '../teams/team-store.ts'

/** A membership with the organization's name and an email: the user's, or the invited one. */
export type MembershipRow = Selectable<MembershipTable> & { email: string | null; organization_name: string }

export const selectMemberships = ({ db }: Pick<Transaction, 'db'>) =>
  db
    .selectFrom('memberships')
    .innerJoin('users', 'users.id', 'memberships.user_id')
    .innerJoin('organizations', 'organizations.id', 'memberships.organization_id')
    .selectAll('memberships')
    .select((eb) => [
      eb
        .case()
        .when('memberships.status', '=', 'invited')
        .then(eb.fn.coalesce('memberships.invited_email', 'users.email'))
        .else(eb.ref('users.email'))
        .end()
        .as('email'),
      'organizations.name as organization_name',
    ])

const byId = prepared<{ id: string }>()((db, param) =>
  selectMemberships({ db }).where('memberships.id', '=', param('id')),
)

export function findMembership(tx: Transaction, id: string): Promise<MembershipRow | undefined> {
  return tx.first(byId, { id })
}

export function findMemberships(tx: Transaction, ids: readonly string[]): Promise<MembershipRow[]> {
  return inSlices(ids.toSorted(), (slice) =>
    selectMemberships(tx).where('memberships.id', 'in', slice).orderBy('memberships.id').execute(),
  )
}

/** Returns false if the user is already a member or invited. */
export async function insertMembership(tx: Transaction, row: Insertable<MembershipTable>): Promise<boolean> {
  const result = await tx.db
    .insertInto('memberships')
    .values(row)
    .onConflict((conflict) => conflict.columns(['user_id', 'organization_id']).doNothing())
    .executeTakeFirst()
  return result.numInsertedOrUpdatedRows === 1n
}

const ofUser = prepared<{ organizationId: string; userId: string }>()((db, param) =>
  db
    .selectFrom('memberships')
    .where('user_id', '=', param('userId'))
    .where('organization_id', '=', param('organizationId'))
    .selectAll(),
)

export function findMembershipOf(
  tx: Transaction,
  organizationId: string,
  userId: string,
): Promise<Selectable<MembershipTable> | undefined> {
  return tx.first(ofUser, { organizationId, userId })
}

/** An organization in which both the caller and the user are active, and which accepts the caller's token. */
export async function findSharedOrganization(
  tx: Transaction,
  actor: Actor,
  userId: string,
  now: Date,
): Promise<OrganizationRow | undefined> {
  const query = tx.db
    .selectFrom('organizations')
    .where('organizations.deleted_at', 'is', null)
    .where((eb) => letsTokenIn(eb, actor, now, tx.engine))
    .where((eb) =>
      actor.kind === 'organization'
        ? eb('organizations.id', '=', actor.organizationId ?? '')
        : eb('organizations.id', 'in', (own) =>
            own
              .selectFrom('memberships as own')
              .where('own.user_id', '=', actor.userId)
              .where('own.status', '=', 'active')
              .select('own.organization_id'),
          ),
    )
    // A scalar subquery, which no engine turns into a join. So the caller's organizations are read first, and the time
    // does not reveal the number of the user's.
    .where(
      (eb) =>
        eb
          .selectFrom('memberships as theirs')
          .where('theirs.user_id', '=', userId)
          .whereRef('theirs.organization_id', '=', 'organizations.id')
          .select('theirs.status'),
      '=',
      'active',
    )
  return query.selectAll('organizations').orderBy('organizations.id').limit(1).executeTakeFirst()
}

const countOf = prepared<{ organizationId: string }>()((db, param) =>
  db.selectFrom('membership_counts').where('organization_id', '=', param('organizationId')).select('count'),
)

/** The number of people, including invited ones. Triggers keep it. */
export async function countMemberships(tx: Transaction, organizationId: string): Promise<number> {
  return (await tx.first(countOf, { organizationId }))?.count ?? 0
}

export async function activateMembership(tx: Transaction, id: string): Promise<void> {
  await tx.db.updateTable('memberships').set({ status: 'active' }).where('id', '=', id).execute()
}

export type TeamOfMembership = { membershipId: string; team: TeamFacts }

const selectTeams = ({ db }: Pick<Transaction, 'db'>) =>
  db
    .selectFrom('team_members')
    .innerJoin('teams', 'teams.id', 'team_members.team_id')
    .select('team_members.membership_id')
    .select(holdingTeamColumns)

const teamsOfOne = prepared<{ id: string }>()((db, param) =>
  selectTeams({ db }).where('team_members.membership_id', '=', param('id')).orderBy('teams.name'),
)

// No ORDER BY: the database would read all rows for it, despite the limit.
const teamsOfSome = prepared<{ ids: string; limit: number }>()((db, param, engine) =>
  selectTeams({ db })
    .where(isTextIn(engine, 'team_members.membership_id', param('ids')))
    .limit(param('limit')),
)

/** The teams of a membership, by name. */
export async function teamsOfMembership(tx: Transaction, id: string): Promise<TeamFacts[]> {
  return (await tx.all(teamsOfOne, { id })).map(teamFacts)
}

/** The teams of each membership, by name. Undefined if there are more than `limit` in total. */
export async function teamsOfMemberships(
  tx: Transaction,
  ids: readonly string[],
  limit: number,
): Promise<TeamOfMembership[] | undefined> {
  if (ids.length === 0) return []
  const rows = await tx.all(teamsOfSome, { ids: JSON.stringify(ids), limit: limit + 1 })
  if (rows.length > limit) return undefined
  rows.sort((a, b) => (a.name < b.name ? -1 : 1))
  return rows.map((row) => ({ membershipId: row.membership_id, team: teamFacts(row) }))
}

/** The next teams of a membership after a team id, by id. */
export async function someTeamsOfMembership(
  tx: Transaction,
  id: string,
  after: string,
  limit: number,
): Promise<TeamFacts[]> {
  const rows = await selectTeams(tx)
    .where('team_members.membership_id', '=', id)
    .where('team_members.team_id', '>', after)
    .orderBy('team_members.team_id')
    .limit(limit)
    .execute()
  return rows.map(teamFacts)
}

export async function deleteMembership(tx: Transaction, id: string): Promise<void> {
  await tx.db.deleteFrom('memberships').where('id', '=', id).execute()
}

/** All memberships of a user, by organization id. */
export function membershipsOfUser(tx: Transaction, userId: string): Promise<MembershipRow[]> {
  return selectMemberships(tx)
    .where('memberships.user_id', '=', userId)
    .orderBy('memberships.organization_id')
    .execute()
}
