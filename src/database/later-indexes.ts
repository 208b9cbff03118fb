import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import { appliedMigrations } from './migrate.ts'
import { engineOf } from './portable.ts'
import type { Tables } from './tables.ts'

type LaterIndex = {
  readonly name: string
  /** Table and columns, such as `workspaces (organization_id, name)`. */
  readonly on: string
  /** The migration after which the columns exist. */
  readonly since: string
}

/**
 * Indexes that were added after the first release. On PostgreSQL, making one inside a migration would block the writes of
 * all nodes, so these are made after the migrations, concurrently. Tests add one.
 */
export const laterIndexes: LaterIndex[] = []

/** Any number that no other program uses as the key of an advisory lock in this database. */
const LOCK = 7_883_203
const PAUSE_MS = 500

/** Makes the later indexes that are missing, and those that an interrupted start left unfinished. Returns their names. */
export async function makeLaterIndexes(db: Kysely<Tables>): Promise<string[]> {
  const applied = await appliedMigrations(db)
  const wanted = laterIndexes.filter(({ since }) => applied.includes(since))
  if (wanted.length === 0) return []
  return engineOf(db) === 'sqlite' ? makeAtOnce(db, wanted) : makeConcurrently(db, wanted)
}

async function makeAtOnce(db: Kysely<Tables>, wanted: readonly LaterIndex[]): Promise<string[]> {
  const there = await sql<{ name: string }>`select name from sqlite_master where type = 'index'`.execute(db)
  const missing = wanted.filter(({ name }) => there.rows.every((row) => row.name !== name))
  for (const { name, on } of missing) await sql.raw(`create index if not exists ${name} on ${on}`).execute(db)
  return missing.map(({ name }) => name)
}

async function makeConcurrently(db: Kysely<Tables>, wanted: readonly LaterIndex[]): Promise<string[]> {
  const made: string[] = []
  // A node that waited inside a statement for the lock would keep the index from being finished.
  while (!(await isTrue(db, `select pg_try_advisory_lock(${LOCK}) as is`))) await pause(PAUSE_MS)
  try {
    for (const { name, on } of wanted) {
      if (await isTrue(db, `select indisvalid as is from pg_index where indexrelid = to_regclass('${name}')`))
        continue
      await sql.raw(`drop index concurrently if exists ${name}`).execute(db)
      await sql.raw(`create index concurrently ${name} on ${on}`).execute(db)
      made.push(name)
    }
  } finally {
    await sql.raw(`select pg_advisory_unlock(${LOCK})`).execute(db)
  }
  return made
}

async function isTrue(db: Kysely<Tables>, query: string): Promise<boolean> {
  const { rows } = await sql.raw<{ is: boolean }>(query).execute(db)
  return rows[0]?.is === true
}
