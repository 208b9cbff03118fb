import type { Selectable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { inSlices } from '../database/slices.ts'
import type { MembershipTable } from '../database/tables.ts'
import { keyOf, parseUserId } from '../users/users.ts'

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
  const read = (part: readonly string[]) => {
    const query = tx.db
      .selectFrom('memberships')
      .innerJoin('users', 'users.id', 'memberships.user_id')
      .where('memberships.organization_id', '=', organizationId)
      .selectAll('memberships')
      .select('users.username_key')
    return by === 'organization-memberships'
      ? query.where('memberships.id', 'in', part).execute()
      : query
          .where('memberships.status', '=', 'active')
          .where((eb) => eb.or([eb('users.id', 'in', part), eb('users.username_key', 'in', part.map(keyOf))]))
          .execute()
  }
  for (const row of await inSlices(unique, read, IDS_A_STATEMENT)) {
    byId.set(by === 'users' ? row.user_id : row.id, row)
    if (by === 'users' && row.username_key !== null) byName.set(row.username_key, row)
  }
  // An id is never a name, so that nobody can pose as another user, also one who has left, by choosing a name.
  return (id) => byId.get(id) ?? (parseUserId(id) === undefined ? byName.get(keyOf(id)) : undefined)
}
