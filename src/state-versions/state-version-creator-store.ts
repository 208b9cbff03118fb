import type { Standing } from '../access/decide.ts'
import type { Transaction } from '../database/database.ts'
import { inSlices } from '../database/slices.ts'
import { hiddenTeamsAmong } from '../teams/team-store.ts'
import type { StateVersionRow } from './state-version-store.ts'

/**
 * The names of those who stored state versions of an organization, by their ids: of people who are in it, and of teams
 * that the caller may see.
 */
export async function namesOfCreators(
  tx: Transaction,
  organizationId: string,
  versions: readonly StateVersionRow[],
  standing: Standing,
): Promise<ReadonlyMap<string, string>> {
  const idsOf = (kind: StateVersionRow['created_by_kind']) => [
    ...new Set(versions.flatMap((one) => (one.created_by_kind === kind ? (one.created_by_id ?? []) : []))),
  ]
  const hidden = await hiddenTeamsAmong(tx, idsOf('teams'), standing)
  const seen = idsOf('teams').filter((id) => !hidden.has(id))
  const teams = await inSlices(seen, (slice) =>
    tx.db.selectFrom('teams').where('id', 'in', slice).select(['id', 'name']).execute(),
  )
  const people = await inSlices(idsOf('users'), (slice) =>
    tx.db
      .selectFrom('users')
      .innerJoin('memberships', 'memberships.user_id', 'users.id')
      .where('users.id', 'in', slice)
      .where('memberships.organization_id', '=', organizationId)
      .where('memberships.status', '=', 'active')
      .select(['users.id', 'users.username as name'])
      .execute(),
  )
  return new Map([...teams, ...people].flatMap(({ id, name }) => (name === null ? [] : [[id, name]])))
}
