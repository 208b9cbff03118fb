import type { Transaction } from '../database/database.ts'
import { pageOf } from '../database/pages.ts'
import { holdsText } from '../database/portable.ts'
import { prepared } from '../database/prepared.ts'
import type { Page } from '../jsonapi/paging.ts'
import type { OrganizationRow } from './organization-store.ts'

/** So many owners are named. The number of all is beside them. */
const MAX_OWNERS = 5

export type OrganizationUsage = Pick<OrganizationRow, 'id' | 'name' | 'email' | 'created_at'> & {
  readonly bytes: number
  readonly workspaces: number
  readonly members: number
  readonly owners_count: number
  readonly owners: readonly string[]
}

const ownersQuery = prepared<{ teamId: string }>()((db, param) =>
  db
    .selectFrom('team_members')
    .innerJoin('users', 'users.id', 'team_members.user_id')
    .where('team_members.team_id', '=', param('teamId'))
    .where('team_members.is_active', '=', 1)
    .where('users.is_service_account', '=', 0)
    .select('users.username')
    .orderBy('team_members.user_id')
    .limit(MAX_OWNERS),
)

/** A page of all organizations of the site, those whose states take most bytes first. */
export async function listOrganizationUsages(
  tx: Transaction,
  q: string | undefined,
  page: Page,
): Promise<{ usages: OrganizationUsage[]; total: number }> {
  let query = tx.db.selectFrom('organizations').where('organizations.deleted_at', 'is', null)
  if (q !== undefined) {
    const has = (column: string) => holdsText(tx.engine, `organizations.${column}`, q)
    query = query.where((eb) => eb.or([has('name'), has('email')]))
  }
  const { rows, total } = await pageOf(query, page, (found) =>
    found
      .leftJoin('organization_bytes as stored', 'stored.organization_id', 'organizations.id')
      .leftJoin('workspace_versions as workspaces', 'workspaces.organization_id', 'organizations.id')
      .leftJoin('membership_counts as members', 'members.organization_id', 'organizations.id')
      .innerJoin('teams as owners', 'owners.id', 'organizations.owners_team_id')
      .select(['organizations.id', 'organizations.name', 'organizations.email', 'organizations.created_at'])
      .select(['organizations.owners_team_id', 'owners.users_count as owners_count'])
      .select((eb) => [
        eb.fn.coalesce('stored.bytes', eb.lit(0)).as('bytes'),
        eb.fn.coalesce('workspaces.count', eb.lit(0)).as('workspaces'),
        eb.fn.coalesce('members.count', eb.lit(0)).as('members'),
      ])
      .orderBy('bytes', 'desc')
      .orderBy('organizations.name'),
  )
  const usages: OrganizationUsage[] = []
  for (const row of rows) {
    const owners = await tx.all(ownersQuery, { teamId: row.owners_team_id })
    usages.push({ ...row, owners: owners.flatMap(({ username }) => username ?? []) })
  }
  return { usages, total }
}
