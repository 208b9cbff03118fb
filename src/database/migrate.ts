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
import { orderOfStateVersions } from './migrations/0015-order-of-state-versions.ts'
import { partsAndTags } from './migrations/0017-parts-and-tags.ts'
import { sharedRefusals } from './migrations/0018-shared-refusals.ts'
import { managedResources } from './migrations/0019-managed-resources.ts'
import { ageOfTokens } from './migrations/0021-age-of-tokens.ts'
import { invitedEmails } from './migrations/0030-invited-emails.ts'
import { peopleOfOrganizations } from './migrations/0031-people-of-organizations.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Tables } from './tables.ts'

export const FIRST_MIGRATION = '0001-first-tables'

/** Sorted by name. A released migration is never changed. */
const migrations: Record<string, Migration> = {
  [FIRST_MIGRATION]: firstTables,
  '0002-wider-team-blocks': widerTeamBlocks,
  '0003-audit-chains': auditChains,
  '0004-refusals': refusals,
  '0006-deleted-content': deletedContent,
  '0007-tags-and-consumers': tagsAndConsumers,
  '0008-token-policies': tokenPolicies,
  '0011-workspace-list-indexes': workspaceListIndexes,
  '0012-workspace-tags-of-organizations': workspaceTagsOfOrganizations,
  '0013-repeated-refusals': repeatedRefusals,
  '0015-order-of-state-versions': orderOfStateVersions,
  '0017-parts-and-tags': partsAndTags,
  '0018-shared-refusals': sharedRefusals,
  '0019-managed-resources': managedResources,
  '0021-age-of-tokens': ageOfTokens,
  '0030-invited-emails': invitedEmails,
  '0031-people-of-organizations': peopleOfOrganizations,
}

/** A newer Purser has written the database; this one has changed nothing. */
export class NewerDatabaseError extends OperatorError {
  constructor(names: readonly string[]) {
    super(
      `the database is newer than this Purser: it knows the migrations ${names.join(', ')}, this version does not; start a newer version`,
    )
  }
}

/** Before 2026-11-22 migrations on SQLite did not run in one transaction, so one could be left unfinished. */
class HalfMadeDatabaseError extends OperatorError {
  constructor() {
    super(
      'the database has tables of a migration that an older Purser did not finish: restore a backup into a new data folder, or delete the database when nothing was in it yet',
    )
  }
}

function isHalfMade(error: unknown): boolean {
  return (
    error instanceof Error && /^(table|index) \S+ already exists|^duplicate column name/.test(error.message)
  )
}

/**
 * Runs all missing migrations in one transaction and returns their names. Several nodes may call it at the same time.
 */
export async function migrate(db: Kysely<Tables>): Promise<string[]> {
  await missingMigrations(db)
  return run((migrator) => migrator.migrateToLatest(), db)
}

/** Migrates only up to the named migration: for loading data of that version. */
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
  if (isHalfMade(error)) throw new HalfMadeDatabaseError()
  if (error !== undefined) throw error
  return (results ?? []).map((result) => result.migrationName)
}

/**
 * The migrations that `migrate` would run, and the number applied. Throws NewerDatabaseError if the database has more.
 */
export async function missingMigrations(db: Kysely<Tables>): Promise<{ names: string[]; applied: number }> {
  const applied = await appliedMigrations(db)
  const unknown = applied.filter((name) => !(name in migrations))
  if (unknown.length > 0) throw new NewerDatabaseError(unknown)
  return { names: knownMigrations().filter((name) => !applied.includes(name)), applied: applied.length }
}

/** The migrations that the database has, oldest first; empty before the first start. */
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
