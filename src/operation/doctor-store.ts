import { sql } from 'kysely'
import type { Config } from '../config.ts'
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

/** Organizations whose states take most of what they may take. */
export async function findFullOrganizations(
  tx: Transaction,
  { maxOrganizationBytes }: Config,
): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('organization_bytes')
    .innerJoin('organizations', 'organizations.id', 'organization_bytes.organization_id')
    .where('bytes', '>', Math.floor(maxOrganizationBytes * 0.9))
    .select(['organizations.name', 'bytes'])
    .orderBy('bytes', 'desc')
    .limit(MAX_NAMED)
    .execute()
  return rows.map(
    ({ name, bytes }) =>
      `the states of ${name} take ${bytes} of ${maxOrganizationBytes} bytes (PURSER_MAX_ORGANIZATION_BYTES)`,
  )
}

/** Organizations for which other bytes are kept than are stored. Measures every row. */
export async function findMiscounted(tx: Transaction): Promise<string[]> {
  const { rows: real } = await sql<{ id: string | null; bytes: number }>`
    select coalesce(known.organization_id, versions.organization_id) as id, cast(sum(pieces.bytes) as bigint) as bytes
    from (
      select state_version_id, octet_length(sealed) as bytes from state_chunks
      union all select state_version_id, octet_length(sealed) from output_blocks
    ) pieces
    left join state_version_bytes known on known.state_version_id = pieces.state_version_id
    left join state_versions versions on versions.id = pieces.state_version_id
    group by 1`.execute(tx.db)
  const kept = await tx.db.selectFrom('organization_bytes').selectAll().execute()
  const keptOf = new Map(kept.map((row) => [row.organization_id, row.bytes]))
  // Pieces of no organization were never counted, and the sweep deletes them.
  const realOf = new Map(real.flatMap(({ id, bytes }) => (id === null ? [] : [[id, bytes] as const])))
  const wrong = [...new Set([...keptOf.keys(), ...realOf.keys()])].filter(
    (id) => (keptOf.get(id) ?? 0) !== (realOf.get(id) ?? 0),
  )
  return wrong
    .slice(0, MAX_NAMED)
    .map((id) => `${id}: ${keptOf.get(id) ?? 0} bytes are counted, and ${realOf.get(id) ?? 0} are stored`)
}
