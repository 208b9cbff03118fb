import type { Insertable, Selectable, Updateable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { isUniqueViolation } from '../database/portable.ts'
import { prepared } from '../database/prepared.ts'
import type { OrganizationTable } from '../database/tables.ts'

export type OrganizationRow = Selectable<OrganizationTable>

/** Columns of attributes that rule something; one that is left out has its default, or stays as it is. */
export type RulingColumns = Pick<
  Updateable<OrganizationTable>,
  'delegated_team_management' | 'user_tokens_enabled' | 'max_ttl_enabled'
>

const byName = prepared<{ name: string }>()((db, param) =>
  db.selectFrom('organizations').where('name', '=', param('name')).selectAll(),
)

const byId = prepared<{ id: string }>()((db, param) =>
  db.selectFrom('organizations').where('id', '=', param('id')).selectAll(),
)

export function findOrganizationByName(tx: Transaction, name: string): Promise<OrganizationRow | undefined> {
  return tx.first(byName, { name })
}

export function findOrganization(tx: Transaction, id: string): Promise<OrganizationRow | undefined> {
  return tx.first(byId, { id })
}

/** False when the name is taken. */
export async function insertOrganization(
  tx: Transaction,
  row: Insertable<OrganizationTable>,
): Promise<boolean> {
  const result = await tx.db
    .insertInto('organizations')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .executeTakeFirst()
  return result.numInsertedOrUpdatedRows === 1n
}

/** False when the new name is taken; the caller must then end the transaction. */
export async function updateOrganization(
  tx: Transaction,
  id: string,
  changes: Updateable<OrganizationTable>,
): Promise<boolean> {
  try {
    await tx.db.updateTable('organizations').set(changes).where('id', '=', id).execute()
    return true
  } catch (error) {
    if (isUniqueViolation(error)) return false
    throw error
  }
}

/** Where a person is a member, after a change of what those memberships say of him. */
export async function bumpVersionsOf(tx: Transaction, userId: string): Promise<void> {
  await tx.db
    .updateTable('organizations')
    .set((row) => ({ version: row('version', '+', 1) }))
    .where('id', 'in', (eb) =>
      eb.selectFrom('memberships').where('user_id', '=', userId).select('organization_id'),
    )
    .execute()
}

/** In how many a user is an active member. */
export async function countOrganizationsOf(tx: Transaction, userId: string): Promise<number> {
  const { count } = await tx.db
    .selectFrom('memberships')
    .where('user_id', '=', userId)
    .where('status', '=', 'active')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

const bump = prepared<{ id: string; teams: number; visibleTeams: number }>()((db, param) =>
  db
    .updateTable('organizations')
    .set((row) => ({
      version: row('version', '+', 1),
      teams_count: row('teams_count', '+', param('teams')),
      visible_teams_count: row('visible_teams_count', '+', param('visibleTeams')),
    }))
    .where('id', '=', param('id')),
)

/**
 * Must run in every transaction that changes who may do what in an organization, or what a team's document says: what
 * is kept under the old version is then never looked at again.
 *
 * @param teams by how many the number of teams grows, and of those open to the organization
 */
export async function bumpVersion(tx: Transaction, id: string, teams = 0, visibleTeams = 0): Promise<void> {
  await tx.all(bump, { id, teams, visibleTeams })
}
