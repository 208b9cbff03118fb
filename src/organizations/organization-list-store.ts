import type { Actor } from '../access/actor.ts'
import { letsTokenIn } from '../access/token-policy-store.ts'
import type { Transaction } from '../database/database.ts'
import { pageOf } from '../database/pages.ts'
import { holdsText } from '../database/portable.ts'
import type { Page } from '../jsonapi/paging.ts'
import type { OrganizationRow } from './organization-store.ts'

/** Each matches a part of a text; `q` matches in the name or the email. */
type OrganizationFilter = { readonly q?: string; readonly name?: string; readonly email?: string }

/** A page of the organizations that the caller may see, by name. The same rule as `organization:read`, in SQL. */
export async function listOrganizations(
  tx: Transaction,
  actor: Actor,
  { q, name, email }: OrganizationFilter,
  page: Page,
  now: Date,
): Promise<{ rows: OrganizationRow[]; total: number }> {
  let query = tx.db.selectFrom('organizations').where('organizations.deleted_at', 'is', null)
  if (actor.kind === 'organization') {
    query = query.where('organizations.id', '=', actor.organizationId ?? '')
  } else if (!actor.isSiteAdmin) {
    query = query.where('organizations.id', 'in', (eb) =>
      eb
        .selectFrom('memberships')
        .where('memberships.user_id', '=', actor.userId)
        .where('memberships.status', '=', 'active')
        .select('memberships.organization_id'),
    )
    query = query.where((eb) => letsTokenIn(eb, actor, now, tx.engine))
  }
  const has = (column: string, part: string) => holdsText(tx.engine, `organizations.${column}`, part)
  if (q !== undefined) query = query.where((eb) => eb.or([has('name', q), has('email', q)]))
  if (name !== undefined) query = query.where(has('name', name))
  if (email !== undefined) query = query.where(has('email', email))
  return pageOf(query, page, (found) => found.selectAll('organizations').orderBy('organizations.name'))
}
