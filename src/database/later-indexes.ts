import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import { existing } from '../core/existing.ts'
import { appliedMigrations, FIRST_MIGRATION } from './migrate.ts'
import { engineOf } from './portable.ts'
import type { Tables } from './tables.ts'

type LaterIndex = {
  readonly name: string
  /** Table and columns or expressions, such as `workspaces (organization_id, name)`. */
  readonly on: string
  /** The migration after which the columns exist. */
  readonly since: string
}

/**
 * Indexes that were added after the first release. On PostgreSQL, making one inside a migration would block the writes of
 * all nodes, so these are made after the migrations, concurrently. Tests add one.
 */
export const laterIndexes: LaterIndex[] = [
  {
    name: 'users_listed',
    on: 'users (is_service_account, (coalesce(username_key, email_key)), id)',
    since: FIRST_MIGRATION,
  },
  // Not unique: organizations of releases before 0.2 may differ only by case.
  { name: 'organizations_by_lower_name', on: 'organizations ((lower(name)))', since: FIRST_MIGRATION },
  {
    name: 'authentication_tokens_by_creator',
    on: 'authentication_tokens (created_by_id)',
    since: FIRST_MIGRATION,
  },
  {
    // Few of the teams of an organization may do something everywhere in it.
    name: 'teams_with_access',
    on: 'teams (organization_id) where (is_owners = 1 or organization_access <> 0)',
    since: FIRST_MIGRATION,
  },
]

/** Any number that no other program uses as the key of an advisory lock in this database. */
const LOCK = 7_883_203
const PAUSE_MS = 500

/** The later indexes that are missing, and those that an interrupted start left unfinished. */
export async function missingLaterIndexes(db: Kysely<Tables>): Promise<LaterIndex[]> {
  const applied = await appliedMigrations(db)
  const wanted = laterIndexes.filter(({ since }) => applied.includes(since))
  if (wanted.length === 0) return []
  const complete =
    engineOf(db) === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_master where type = 'index'`
      : sql<{ name: string }>`
          select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
          where indisvalid and relnamespace = (select oid from pg_namespace where nspname = current_schema())`
  const names = new Set((await complete.execute(db)).rows.map(({ name }) => name))
  return wanted.filter(({ name }) => !names.has(name))
}

/** Makes them. Returns their names. */
export async function makeLaterIndexes(db: Kysely<Tables>): Promise<string[]> {
  const missing = await missingLaterIndexes(db)
  if (missing.length === 0) return []
  if (engineOf(db) === 'postgres') return makeConcurrently(db)
  for (const { name, on } of missing) await sql.raw(`create index if not exists ${name} on ${on}`).execute(db)
  return missing.map(({ name }) => name)
}

async function makeConcurrently(db: Kysely<Tables>): Promise<string[]> {
  // A node that waited inside a statement for the lock would keep the index from being finished.
  while (!(await mayMake(db))) await pause(PAUSE_MS)
  try {
    // Another installation in the same database may have an index of this name in its own schema.
    const found = await sql<{ schema: string }>`select current_schema() as schema`.execute(db)
    const { schema } = existing(found.rows[0])
    // Another node may have made some meanwhile.
    const missing = await missingLaterIndexes(db)
    for (const { name, on } of missing) {
      await sql`drop index concurrently if exists ${sql.id(schema, name)}`.execute(db)
      await sql.raw(`create index concurrently ${name} on ${on}`).execute(db)
    }
    return missing.map(({ name }) => name)
  } finally {
    // If the connection is lost, so is the lock. What lost it is more useful.
    await sql
      .raw(`select pg_advisory_unlock(${LOCK})`)
      .execute(db)
      .catch(() => {})
  }
}

async function mayMake(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql.raw<{ is: boolean }>(`select pg_try_advisory_lock(${LOCK}) as is`).execute(db)
  return rows[0]?.is === true
}
