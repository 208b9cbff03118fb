import type { Kysely } from 'kysely'
import { Migrator, type Migration, type MigrationResultSet } from 'kysely/migration'
import { firstTables } from './migrations/0001-first-tables.ts'
import { widerTeamBlocks } from './migrations/0002-wider-team-blocks.ts'
import { auditChains } from './migrations/0003-audit-chains.ts'
import { refusals } from './migrations/0004-refusals.ts'
import { deletedContent } from './migrations/0006-deleted-content.ts'
import { tagsAndConsumers } from './migrations/0007-tags-and-consumers.ts'
import { tokenPolicies } from './migrations/0008-token-policies.ts'
import { workspaceListIndexes } from './migrations/0011-workspace-list-indexes.ts'
import { workspaceTagsOfOrganizations } from './migrations/0012-workspace-tags-of-organizations.ts'
import { repeatedRefusals } from './migrations/0013-repeated-refusals.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Tables } from './tables.ts'

/** In the order of their names; a migration that has been released is never changed. */
const migrations: Record<string, Migration> = {
  '0001-first-tables': firstTables,
  '0002-wider-team-blocks': widerTeamBlocks,
  '0003-audit-chains': auditChains,
  '0004-refusals': refusals,
  '0006-deleted-content': deletedContent,
  '0007-tags-and-consumers': tagsAndConsumers,
  '0008-token-policies': tokenPolicies,
  '0011-workspace-list-indexes': workspaceListIndexes,
  '0012-workspace-tags-of-organizations': workspaceTagsOfOrganizations,
  '0013-repeated-refusals': repeatedRefusals,
}

/** The database was written by a newer Purser: nothing has been touched. */
export class NewerDatabaseError extends OperatorError {
  constructor(names: readonly string[]) {
    super(
      `the database is newer than this Purser: it knows the migrations ${names.join(', ')}, this version does not; start a newer version`,
    )
  }
}

/** Brings the tables up to date and says which migrations ran. Safe when several nodes start at once. */
export async function migrate(db: Kysely<Tables>): Promise<string[]> {
  await missingMigrations(db)
  return run((migrator) => migrator.migrateToLatest(), db)
}

/** Makes the tables as they were after the migration of this name: for what was written then. */
export async function migrateTo(db: Kysely<Tables>, name: string): Promise<string[]> {
  return run((migrator) => migrator.migrateTo(name), db)
}

async function run(
  work: (migrator: Migrator) => Promise<MigrationResultSet>,
  db: Kysely<Tables>,
): Promise<string[]> {
  const { error, results } = await work(
    new Migrator({ db, provider: { getMigrations: async () => migrations } }),
  )
  if (error !== undefined) throw error
  return (results ?? []).map((result) => result.migrationName)
}

/** What `migrate` would run, and how much ran before. Throws NewerDatabaseError for a database that knows more. */
export async function missingMigrations(db: Kysely<Tables>): Promise<{ names: string[]; applied: number }> {
  const applied = await appliedMigrations(db)
  const unknown = applied.filter((name) => !(name in migrations))
  if (unknown.length > 0) throw new NewerDatabaseError(unknown)
  return { names: knownMigrations().filter((name) => !applied.includes(name)), applied: applied.length }
}

/** The migrations that the database has, oldest first; none before the first start. */
export async function appliedMigrations(db: Kysely<Tables>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some((table) => table.name === 'kysely_migration')) return []
  const rows = await (db as unknown as Kysely<{ kysely_migration: { name: string } }>)
    .selectFrom('kysely_migration')
    .select('name')
    .orderBy('name')
    .execute()
  return rows.map((row) => row.name)
}

export function knownMigrations(): string[] {
  return Object.keys(migrations)
}
