import { sql, type Selectable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { insertUnlessTaken, rowBy, rowsOfLists, updateUnlessTaken } from '../database/rows.ts'
import { countOf } from '../database/pages.ts'
import { lockText, locksRows, nextVersion } from '../database/portable.ts'
import { prepared, type Lists } from '../database/prepared.ts'
import type { OrganizationTable } from '../database/tables.ts'

export type OrganizationRow = Selectable<OrganizationTable>

export const findOrganizationByName = rowBy('organizations', 'name')
export const findOrganization = rowBy('organizations', 'id')

/** Returns undefined if the name is taken. */
export const insertOrganization = insertUnlessTaken('organizations', 'name')

/** Returns undefined if the new name is taken. The caller must then end the transaction. */
export const updateOrganization = updateUnlessTaken('organizations')

/** The organizations whose names differ from this one at most by case. */
export function findOrganizationsNamedLike(
  tx: Transaction,
  name: string,
): Promise<Pick<OrganizationRow, 'id' | 'name'>[]> {
  // lower() of both engines changes only ASCII letters, and a name has no others.
  return tx.db
    .selectFrom('organizations')
    .where(sql<string>`lower(name)`, '=', name.toLowerCase())
    .select(['id', 'name'])
    .execute()
}

/** Serializes the writes that take this name, in any case, until they commit. */
export async function lockOrganizationName(tx: Transaction, name: string): Promise<void> {
  await lockText(tx, `organization ${name.toLowerCase()}`)
}

/** Hides the organization, invalidates its tokens and frees its name, all at once. */
export async function markDeleted(tx: Transaction, id: string, at: string): Promise<void> {
  await tx.db
    .updateTable('organizations')
    // The colon keeps this name from colliding: names of organizations have none.
    .set({ name: `${id}:deleted`, deleted_at: at, version: nextVersion(tx.engine) })
    .where('id', '=', id)
    .execute()
}

/** Raises the version of every organization of a user, after a change of user data that their memberships show. */
export async function bumpVersionsOf(tx: Transaction, userId: string): Promise<void> {
  await tx.db
    .updateTable('organizations')
    .set({ version: nextVersion(tx.engine) })
    .where('id', 'in', (eb) =>
      eb.selectFrom('memberships').where('user_id', '=', userId).select('organization_id'),
    )
    .execute()
}

/** The number of organizations in which the user is an active member. */
export async function countOrganizationsOf(tx: Transaction, userId: string): Promise<number> {
  return countOf(tx.db.selectFrom('memberships').where('user_id', '=', userId).where('status', '=', 'active'))
}

type Bump = { id: string; teams: number; visibleTeams: number }

const bumps = prepared<Lists<Bump>>()((db, param, engine) =>
  db
    .updateTable('organizations')
    .from(
      sql<Bump>`(select id, sum(teams)::bigint as teams, sum("visibleTeams")::bigint as "visibleTeams"
        from ${rowsOfLists({ id: 'text', teams: 'bigint', visibleTeams: 'bigint' }, param)} group by id)`.as(
        'change',
      ),
    )
    .set((row) => ({
      version: nextVersion(engine),
      teams_count: row('teams_count', '+', row.ref('change.teams')),
      visible_teams_count: row('visible_teams_count', '+', row.ref('change.visibleTeams')),
    }))
    .whereRef('organizations.id', '=', 'change.id'),
)

const bump = prepared<Bump>()(
  (db, param, engine) =>
    db
      .updateTable('organizations')
      .set((row) => ({
        version: nextVersion(engine),
        teams_count: row('teams_count', '+', param('teams')),
        visible_teams_count: row('visible_teams_count', '+', param('visibleTeams')),
      }))
      .where('id', '=', param('id')),
  bumps,
)

/**
 * Must run in every transaction that changes permissions in an organization or the document of a team. Cached values of
 * the old version are then never used again.
 *
 * @param teams the change in the number of teams, and `visibleTeams` in the number of those visible to the organization
 */
export async function bumpVersion(tx: Transaction, id: string, teams = 0, visibleTeams = 0): Promise<void> {
  await tx.send(bump, { id, teams, visibleTeams })
}

/**
 * Serializes the writes of one organization on PostgreSQL, so that what a write has read stays true until it commits.
 * SQLite has only one writer.
 */
export async function lockOrganization(tx: Transaction, id: string): Promise<void> {
  if (!locksRows(tx)) return
  await tx.db.selectFrom('organizations').select('id').where('id', '=', id).forUpdate().execute()
}
