import type { Selectable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import type { MembershipTable } from '../database/tables.ts'
import { keyOf } from '../users/users.ts'

/** A membership that a request wants to add to a team. */
export type MemberCandidate = Selectable<MembershipTable> & { username_key: string | null }

/** Each row binds several values, so a statement takes fewer rows. */
const IDS_A_STATEMENT = 500

/** Looks up the members of an organization that a request names. `users` finds only active members. */
export async function findMemberCandidates(
  tx: Transaction,
  organizationId: string,
  by: 'users' | 'organization-memberships',
  ids: readonly string[],
): Promise<(id: string) => MemberCandidate | undefined> {
  const unique = [...new Set(ids.filter((id) => !id.includes('\0')))]
  const byId = new Map<string, MemberCandidate>()
  const byName = new Map<string, MemberCandidate>()
  for (let from = 0; from < unique.length; from += IDS_A_STATEMENT) {
    const part = unique.slice(from, from + IDS_A_STATEMENT)
    const query = tx.db
      .selectFrom('memberships')
      .innerJoin('users', 'users.id', 'memberships.user_id')
      .where('memberships.organization_id', '=', organizationId)
      .selectAll('memberships')
      .select('users.username_key')
    const rows =
      by === 'organization-memberships'
        ? await query.where('memberships.id', 'in', part).execute()
        : await query
            .where('memberships.status', '=', 'active')
            .where((eb) =>
              eb.or([eb('users.id', 'in', part), eb('users.username_key', 'in', part.map(keyOf))]),
            )
            .execute()
    for (const row of rows) {
      byId.set(by === 'users' ? row.user_id : row.id, row)
      if (by === 'users' && row.username_key !== null) byName.set(row.username_key, row)
    }
  }
  // Ids win over names, so that nobody can pose as another user by choosing a name.
  return (id) => byId.get(id) ?? byName.get(keyOf(id))
}
