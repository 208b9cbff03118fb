import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'
import { codeOf } from '../core/error-fields.ts'
import { entriesOf } from '../core/keys.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import { isOlderRelease, version } from '../core/version.ts'
import { firstTables } from './migrations/0001-first-tables.ts'
import { workspaceCounts } from './migrations/0002-workspace-counts.ts'
import { membershipCounts } from './migrations/0003-membership-counts.ts'
import { versionSteps } from './migrations/0004-version-steps.ts'
import { projectCounts } from './migrations/0005-project-counts.ts'
import { makersAndChecks } from './migrations/0006-makers-and-checks.ts'
import { sessionAddresses } from './migrations/0008-session-addresses.ts'
import { stateBytes } from './migrations/0009-state-bytes.ts'
import { engineOf, runScript } from './portable.ts'
import type { Tables } from './tables.ts'

/**
 * A change of tables. Servers of the release before may still run beside it, so it only adds: columns with a default,
 * tables, indexes. What no supported release uses any more goes in a later release.
 */
export type TableMigration = Migration & {
  /** The oldest release that can read and write the tables after this migration. An older one does not start. */
  readonly oldestRelease: string
}

export const FIRST_MIGRATION = '0001-first-tables'

/** Sorted by name. A migration is never changed: a change of tables is a new one at the end. Tests add one. */
export const migrations: Record<string, TableMigration> = {
  [FIRST_MIGRATION]: { ...firstTables, oldestRelease: '0.1.0' },
  '0002-workspace-counts': { up: (db) => runScript(db, workspaceCounts), oldestRelease: '0.1.0' },
  '0003-membership-counts': { up: (db) => runScript(db, membershipCounts), oldestRelease: '0.1.0' },
  '0004-version-steps': { up: (db) => runScript(db, versionSteps), oldestRelease: '0.1.0' },
  '0005-project-counts': { up: (db) => runScript(db, projectCounts), oldestRelease: '0.1.0' },
  '0006-makers-and-checks': { up: (db) => runScript(db, makersAndChecks), oldestRelease: '0.1.0' },
  '0008-session-addresses': { up: (db) => runScript(db, sessionAddresses), oldestRelease: '0.1.0' },
  '0009-state-bytes': { up: (db) => runScript(db, stateBytes), oldestRelease: '0.1.0' },
}

/** A newer Purser has written the database; this one has changed nothing. */
class NewerDatabaseError extends OperatorError {
  constructor(names: readonly string[], oldest: string | undefined) {
    const needed = oldest === undefined ? 'a newer version' : `version ${oldest} or newer`
    super(
      `the database is newer than this Purser ${version}: it has the migrations ${names.join(', ')}, which need ${needed}`,
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
  const { names } = await missingMigrations(db)
  return names.length === 0 ? [] : migrateTo(db, undefined)
}

/**
 * While a migration waits for the lock of a table, requests wait behind it. So it waits for less than they do, then lets
 * them pass and tries again.
 */
const LOCK_WAIT_MS = 2_000
/** PostgreSQL's codes: waited too long for a lock, or was ended because it and a request waited for each other. */
const LOCK_ERRORS = ['55P03', '40P01']
const LOCK_PAUSE_MS = 1_000
const MAX_LOCK_TRIES = 200

/** The key of Kysely's lock, which servers of 0.1.0 take. */
const MIGRATION_LOCK = '3853314791062309107'
/** PostgreSQL's codes: there is such a table, object or function already. */
const TAKEN_NAMES = ['42P07', '42710', '42723']

/**
 * Runs the missing migrations up to the named one, for loading data of that version.
 *
 * @param last the last migration to run; all, if undefined
 */
export async function migrateTo(db: Kysely<Tables>, last: string | undefined): Promise<string[]> {
  if (db.isTransaction) return runIn(db, last)
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute((tx) => runIn(tx, last, LOCK_WAIT_MS))
    } catch (error) {
      if (!LOCK_ERRORS.includes(codeOf(error) ?? '') || attempt === MAX_LOCK_TRIES) throw error
    }
    await pause(LOCK_PAUSE_MS)
  }
}

/** Kysely's own tables are made in the same transaction, so that a migration that fails leaves nothing behind. */
async function runIn(db: Kysely<Tables>, last?: string, lockWaitMs?: number): Promise<string[]> {
  if (engineOf(db) === 'postgres') {
    // What another node has migrated while this one waited must be visible.
    if (lockWaitMs !== undefined) await sql`set transaction isolation level read committed`.execute(db)
    await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)}::bigint)`.execute(db)
    if (lockWaitMs !== undefined) await sql.raw(`set local lock_timeout = ${lockWaitMs}`).execute(db)
  }
  await makeTableOfMigrations(db)
  const migrator = new Migrator({ db, provider: { getMigrations: async () => notingMigrations() } })
  const { error, results } = await (last === undefined
    ? migrator.migrateToLatest()
    : migrator.migrateTo(last))
  if (error !== undefined) throw isOfAnother(error) ? notOurs(reasonOf(error)) : error
  return (results ?? []).map((result) => result.migrationName)
}

/** As Kysely makes it. In a transaction, Kysely would hide why it cannot: it looks for the table once more. */
async function makeTableOfMigrations(db: Kysely<Tables>): Promise<void> {
  if ((await namesOfTables(db)).includes('kysely_migration')) return
  await db.schema
    .createTable('kysely_migration')
    .addColumn('name', 'varchar(255)', (column) => column.notNull().primaryKey())
    .addColumn('timestamp', 'varchar(255)', (column) => column.notNull())
    .execute()
}

/** Whether a name of ours is taken. A migration runs once, so Purser cannot have taken it. */
function isOfAnother(error: unknown): boolean {
  if (TAKEN_NAMES.includes(codeOf(error) ?? '')) return true
  return codeOf(error) === 'ERR_SQLITE_ERROR' && reasonOf(error).endsWith(' already exists')
}

function notOurs(reason: string): OperatorError {
  return new OperatorError(
    `the database has tables of another program (${reason}), and nothing was changed: give Purser an empty database`,
  )
}

/** The migrations, each of which also stores the oldest release that it admits. */
function notingMigrations(): Record<string, Migration> {
  return Object.fromEntries(
    entriesOf(migrations).map(([name, migration]) => [
      name,
      {
        up: async (db: Kysely<Tables>) => {
          await migration.up(db)
          const known = await oldestRelease(db)
          if (known !== undefined && !isOlderRelease(known, migration.oldestRelease)) return
          // The table has no key. With a publication of all tables, PostgreSQL refuses to delete even no row of it.
          if (known !== undefined) await sql`delete from compatibility`.execute(db)
          await sql`insert into compatibility (oldest_release) values (${migration.oldestRelease})`.execute(
            db,
          )
        },
      },
    ]),
  )
}

async function oldestRelease(db: Kysely<Tables>): Promise<string | undefined> {
  const { rows } = await sql<{ oldest_release: string }>`select oldest_release from compatibility`.execute(db)
  return rows[0]?.oldest_release
}

type MissingMigrations = {
  /** What `migrate` would run. */
  readonly names: string[]
  /** The number of those that ran. */
  readonly applied: number
  /** Those of a newer release, whose tables this one can use. */
  readonly newer: string[]
}

/** Throws OperatorError if this release cannot use the tables. */
export async function missingMigrations(db: Kysely<Tables>): Promise<MissingMigrations> {
  const applied = await appliedMigrations(db)
  const newer = applied.filter((name) => !(name in migrations))
  const names = Object.keys(migrations).filter((name) => !applied.includes(name))
  if (newer.length > 0) {
    if (!applied.includes(FIRST_MIGRATION)) throw notOurs(`migrations ${newer.join(', ')}`)
    const oldest = (await namesOfTables(db)).includes('compatibility') ? await oldestRelease(db) : undefined
    if (oldest === undefined || isOlderRelease(version, oldest)) throw new NewerDatabaseError(newer, oldest)
    // A migration expects the tables of those before it, and nothing of those after it.
    if (names.length > 0) {
      throw new OperatorError(
        `the database is of another Purser than this ${version}: it has the migrations ${newer.join(', ')}, which this one does not know, and lacks ${names.join(', ')}, which cannot follow them: use the Purser that migrated it`,
      )
    }
  }
  return { names, applied: applied.length, newer }
}

/** For work that must know every table, such as a backup. */
export async function refuseNewerTables(db: Kysely<Tables>): Promise<void> {
  const { newer } = await missingMigrations(db)
  if (newer.length > 0) {
    throw new OperatorError(
      `the database has tables of a newer Purser (${newer.join(', ')}), which this version would leave out: use the newer one`,
    )
  }
}

/** The migrations that the database has, oldest first; empty before the first start. Throws during a move into it. */
export async function appliedMigrations(db: Kysely<Tables>): Promise<string[]> {
  const tables = await namesOfTables(db)
  if (tables.includes(UNFINISHED_MOVE)) {
    throw new OperatorError(
      'an unfinished purser move has filled only a part of this database: run that move again',
    )
  }
  if (!tables.includes('kysely_migration')) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map((row) => row.name)
}
