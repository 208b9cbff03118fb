import type { Standing } from '../access/decide.ts'
import type { Transaction } from '../database/database.ts'

/** The ids of the teams that the caller may not see. No document may name them. */
export async function secretTeamsAmong(
  tx: Transaction,
  ids: readonly string[],
  standing: Standing,
): Promise<ReadonlySet<string>> {
  const unknown = [...new Set(ids)].filter((id) => !standing.teamIds.has(id))
  if (standing.seesSecretTeams || unknown.length === 0) return new Set()
  const visible = await tx.db
    .selectFrom('teams')
    .where('id', 'in', unknown)
    .where('visibility', '=', 'organization')
    .select('id')
    .execute()
  const seen = new Set(visible.map((team) => team.id))
  return new Set(unknown.filter((id) => !seen.has(id)))
}
