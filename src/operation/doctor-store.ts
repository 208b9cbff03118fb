import { sql } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { countOf } from '../database/pages.ts'
import { OWNERS_TEAM } from '../teams/teams.ts'

type Counts = { failedJobs: string[]; expiredTokens: number; hasStates: boolean }

/** So many are named, each by a line. */
const MAX_NAMED = 20

/** Names from before they were unique without case: of organizations, and of teams that look like `owners`. */
export async function findLikeNames(tx: Transaction): Promise<string[]> {
  const lowered = sql<string>`lower(organizations.name)`
  const organizations = await tx.db
    .selectFrom('organizations')
    .groupBy(lowered)
    .having((eb) => eb.fn.countAll<number>(), '>', 1)
    .select([lowered.as('name'), (eb) => eb.fn.min('name').as('first'), (eb) => eb.fn.max('name').as('last')])
    .orderBy('name')
    .limit(MAX_NAMED)
    .execute()
  const teams = await tx.db
    .selectFrom('teams')
    .innerJoin('organizations', 'organizations.id', 'teams.organization_id')
    .where(sql<string>`lower(teams.name)`, '=', OWNERS_TEAM)
    .where('teams.is_owners', '=', 0)
    .where('organizations.deleted_at', 'is', null)
    .select(['teams.name', 'teams.id', 'organizations.name as organization'])
    .orderBy('teams.id')
    .limit(MAX_NAMED)
    .execute()
  return [
    ...organizations.map(
      ({ first, last }) =>
        `the names of the organizations ${first} and ${last} differ only by case: rename one`,
    ),
    ...teams.map(
      ({ name, id, organization }) =>
        `the team ${name} (${id}) of the organization ${organization} looks like its team owners: rename it`,
    ),
  ]
}

/** The newest state versions with a failed job (failed for good or waiting for a retry), and expired tokens. */
export async function findTrouble(tx: Transaction, now: string): Promise<Counts> {
  const failed = await tx.db
    .selectFrom('state_versions')
    .where('last_failure', 'is not', null)
    .select(['id', 'attempts', 'last_failure'])
    .orderBy('created_at', 'desc')
    .limit(20)
    .execute()
  const expired = tx.db.selectFrom('authentication_tokens').where('expires_at', '<=', now)
  const some = await tx.db.selectFrom('state_versions').select('id').limit(1).execute()
  return {
    hasStates: some.length > 0,
    failedJobs: failed.map((row) => `${row.id} (tried ${row.attempts} times: ${row.last_failure})`),
    expiredTokens: await countOf(expired),
  }
}
