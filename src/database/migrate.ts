import { sql, type Kysely } from 'kysely'
import { Migrator, type Migration, type MigrationResultSet } from 'kysely/migration'
import { firstTables } from './migrations/0001-first-tables.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Tables } from './tables.ts'

export const FIRST_MIGRATION = '0001-first-tables'

/** Sorted by name. A migration is never changed: a change of tables is a new one at the end. Tests add one. */
export const migrations: Record<string, Migration> = {
  [FIRST_MIGRATION]: firstTables,
}

/** A newer Purser has written the database; this one has changed nothing. */
export class NewerDatabaseError extends OperatorError {
  constructor(names: readonly string[]) {
    super(
      `the database is newer than this Purser: it knows the migrations ${names.join(', ')}, this version does not; start a newer version`,
    )
  }
}

/** A table that `purser move` makes in its target. While it exists, the target lacks rows. */
export const UNFINISHED_MOVE = 'unfinished_move'

export async function hasUnfinishedMove(db: Kysely<Tables>): Promise<boolean> {
  return (await namesOfTables(db)).includes(UNFINISHED_MOVE)
}

async function namesOfTables(db: Kysely<Tables>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  return tables.map(({ name }) => name)
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

/** The migrations that the database has, oldest first; empty before the first start. Throws during a move into it. */
export async function appliedMigrations(db: Kysely<Tables>): Promise<string[]> {
  const tables = await namesOfTables(db)
  if (tables.includes(UNFINISHED_MOVE)) {
    throw new OperatorError('an unfinished purser move fills this database: run the same command again')
  }
  if (!tables.includes('kysely_migration')) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map((row) => row.name)
}

export function knownMigrations(): string[] {
  return Object.keys(migrations)
}
