import type { Insertable, Selectable } from 'kysely'
import type { Actor } from '../access/actor.ts'
import { letsTokenIn } from '../access/token-policy-store.ts'
import type { TeamFacts } from '../access/decide.ts'
import type { Transaction } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import { inSlices } from '../database/slices.ts'
import type { MembershipTable } from '../database/tables.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { teamFacts } from '../teams/team-store.ts'

/** A membership with its user's email and the organization's name. */
export type MembershipRow = Selectable<MembershipTable> & { email: string | null; organization_name: string }

export const selectMemberships = ({ db }: Pick<Transaction, 'db'>) =>
  db
    .selectFrom('memberships')
    .innerJoin('users', 'users.id', 'memberships.user_id')
    .innerJoin('organizations', 'organizations.id', 'memberships.organization_id')
    .selectAll('memberships')
    .select(['users.email', 'organizations.name as organization_name'])

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

/** False when the user has a membership of the organization already. */
export async function insertMembership(tx: Transaction, row: Insertable<MembershipTable>): Promise<boolean> {
  const result = await tx.db
    .insertInto('memberships')
    .values(row)
    .onConflict((conflict) => conflict.columns(['user_id', 'organization_id']).doNothing())
    .executeTakeFirst()
  return result.numInsertedOrUpdatedRows === 1n
}

export function findMembershipOf(
  tx: Transaction,
  organizationId: string,
  userId: string,
): Promise<Selectable<MembershipTable> | undefined> {
  return tx.db
    .selectFrom('memberships')
    .where('user_id', '=', userId)
    .where('organization_id', '=', organizationId)
    .selectAll()
    .executeTakeFirst()
}

/** One in which both the caller and the user are active, and which lets the caller's token in. */
export async function findSharedOrganization(
  tx: Transaction,
  actor: Actor,
  userId: string,
  now: Date,
): Promise<OrganizationRow | undefined> {
  let query = tx.db
    .selectFrom('memberships as theirs')
    .innerJoin('organizations', 'organizations.id', 'theirs.organization_id')
    .where('theirs.user_id', '=', userId)
    .where('theirs.status', '=', 'active')
    .where('organizations.deleted_at', 'is', null)
    .where((eb) => letsTokenIn(eb, actor, now))
  query =
    actor.kind === 'organization'
      ? query.where('organizations.id', '=', actor.organizationId ?? '')
      : query.where('organizations.id', 'in', (eb) =>
          eb
            .selectFrom('memberships as own')
            .where('own.user_id', '=', actor.userId)
            .where('own.status', '=', 'active')
            .select('own.organization_id'),
        )
  return query.selectAll('organizations').orderBy('organizations.id').limit(1).executeTakeFirst()
}

/** Of people, the invited ones among them. */
export async function countMemberships(tx: Transaction, organizationId: string): Promise<number> {
  const { count } = await tx.db
    .selectFrom('memberships')
    .where('organization_id', '=', organizationId)
    .where('is_service_account', '=', 0)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

export async function activateMembership(tx: Transaction, id: string): Promise<void> {
  await tx.db.updateTable('memberships').set({ status: 'active' }).where('id', '=', id).execute()
}

export type TeamOfMembership = { membershipId: string; team: TeamFacts }

const selectTeams = ({ db }: Pick<Transaction, 'db'>) =>
  db
    .selectFrom('team_members')
    .innerJoin('teams', 'teams.id', 'team_members.team_id')
    .select(['team_members.membership_id', 'teams.id', 'teams.visibility'])
    .select(['teams.is_owners', 'teams.allow_member_token_management'])
    .orderBy('teams.name')

const teamsOfOne = prepared<{ id: string }>()((db, param) =>
  selectTeams({ db }).where('team_members.membership_id', '=', param('id')),
)

/** The teams of each of the memberships, by name. */
export async function teamsOfMemberships(
  tx: Transaction,
  ids: readonly string[],
): Promise<TeamOfMembership[]> {
  const [id] = ids
  const rows =
    ids.length === 1 && id !== undefined
      ? await tx.all(teamsOfOne, { id })
      : await inSlices(ids, (slice) =>
          selectTeams(tx).where('team_members.membership_id', 'in', slice).execute(),
        )
  return rows.map((row) => ({ membershipId: row.membership_id, team: teamFacts(row) }))
}

export async function deleteMembership(tx: Transaction, id: string): Promise<void> {
  await tx.db.deleteFrom('memberships').where('id', '=', id).execute()
}

/** Every membership of a user, by organization. */
export function membershipsOfUser(tx: Transaction, userId: string): Promise<MembershipRow[]> {
  return selectMemberships(tx)
    .where('memberships.user_id', '=', userId)
    .orderBy('memberships.organization_id')
    .execute()
}
