import type { Insertable, Selectable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import type { MembershipTable } from '../database/tables.ts'

/** A membership with its user's email and the organization's name. */
export type MembershipRow = Selectable<MembershipTable> & { email: string | null; organization_name: string }

const selectMemberships = (tx: Transaction) =>
  tx.db
    .selectFrom('memberships')
    .innerJoin('users', 'users.id', 'memberships.user_id')
    .innerJoin('organizations', 'organizations.id', 'memberships.organization_id')
    .selectAll('memberships')
    .select(['users.email', 'organizations.name as organization_name'])

export function findMembership(tx: Transaction, id: string): Promise<MembershipRow | undefined> {
  return selectMemberships(tx).where('memberships.id', '=', id).executeTakeFirst()
}

export async function findMemberships(tx: Transaction, ids: readonly string[]): Promise<MembershipRow[]> {
  if (ids.length === 0) return []
  return selectMemberships(tx).where('memberships.id', 'in', ids).orderBy('memberships.id').execute()
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

/** A team as a membership's document names it. */
export type TeamOfMembership = { membership_id: string; id: string; visibility: 'secret' | 'organization' }

/** The teams of each of the memberships, by name. */
export async function teamsOfMemberships(
  tx: Transaction,
  ids: readonly string[],
): Promise<TeamOfMembership[]> {
  if (ids.length === 0) return []
  return tx.db
    .selectFrom('team_members')
    .innerJoin('teams', 'teams.id', 'team_members.team_id')
    .where('team_members.membership_id', 'in', ids)
    .select(['team_members.membership_id', 'teams.id', 'teams.visibility'])
    .orderBy('teams.name')
    .execute()
}
