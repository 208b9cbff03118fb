import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { restore } from '../src/cli/backups.ts'
import { readConfig, type Config } from '../src/config.ts'
import { systemClock } from '../src/core/clock.ts'
import { existing } from '../src/core/existing.ts'
import { makeLaterIndexes } from '../src/database/later-indexes.ts'
import {
  appliedMigrations,
  FIRST_MIGRATION,
  migrate,
  migrations,
  missingMigrations,
  type TableMigration,
} from '../src/database/migrate.ts'
import { openDatabase, type OpenDatabase } from '../src/database/open.ts'
import type { Tables } from '../src/database/tables.ts'
import { writeBackup } from '../src/operation/backup.ts'
import { createPostgresDatabase, engines, type Engine } from './support/engines.ts'
import { LATER_INDEX, LATER_MIGRATION } from './support/later-migration.ts'
import { makeOlderDatabase, olderWorkspaces } from './support/older-database.ts'
import { SECRET_KEY, temporaryFolder } from './support/purser.ts'

const FAILING = '9001-that-fails'
/** The key of the advisory lock that Kysely holds during migrations. */
const KYSELY_LOCK = '3853314791062309107'

async function newConfig(engine: Engine): Promise<Config> {
  const settings = { data: join(temporaryFolder(), 'data'), secretKey: SECRET_KEY }
  if (engine === 'sqlite') return readConfig(settings, {})
  const { url, drop } = await createPostgresDatabase()
  onTestFinished(drop)
  return readConfig({ ...settings, databaseUrl: url }, {})
}

async function opened<T>(config: Config, work: (open: OpenDatabase) => Promise<T>): Promise<T> {
  mkdirSync(config.data, { recursive: true })
  const open = await openDatabase(config)
  try {
    return await work(open)
  } finally {
    await open.database.close()
  }
}

const migrateIn = (config: Config) => opened(config, ({ withConnection }) => withConnection(migrate))

async function backUpOlder(engine: Engine): Promise<string> {
  const config = await newConfig(engine)
  await makeOlderDatabase(config)
  const file = join(temporaryFolder(), 'backup')
  const { migrations: names } = await opened(config, (open) => writeBackup(open, file, systemClock))
  expect(names).toEqual([FIRST_MIGRATION])
  return file
}

/** Until the test ends, this is a release before the later migration. */
function forgetLaterMigration(): TableMigration {
  const later = existing(migrations[LATER_MIGRATION])
  delete migrations[LATER_MIGRATION]
  onTestFinished(() => void (migrations[LATER_MIGRATION] = later))
  return later
}

/** The migrations that the older database lacks. */
const laterOnes = () => Object.keys(migrations).filter((name) => name !== FIRST_MIGRATION)

/** Migrates while another transaction has locked a table and then works. */
const migrateBeside = (config: Config, work: (db: Kysely<Tables>) => Promise<unknown>) =>
  opened(config, async ({ database }) => {
    let migrating: Promise<string[]> | undefined
    await database.write(async ({ db }) => {
      await sql`lock table workspaces in share mode`.execute(db)
      migrating = migrateIn(config)
      await work(db)
    })
    expect(await migrating).toEqual(laterOnes())
  })

/** The number of workspaces that the later migration has changed, of its notes, and as it is kept of their project. */
const changedIn = (config: Config) =>
  opened(config, ({ database }) =>
    database.read(async ({ db }) => {
      const workspaces = await sql`select id from workspaces where note_count = 1`.execute(db)
      const notes = await sql`select workspace_id from workspace_notes`.execute(db)
      const kept = await db.selectFrom('workspace_counts').selectAll().execute()
      expect(kept.map(({ project_id }) => project_id)).toEqual(['prj-a'])
      const projects = await db.selectFrom('projects').selectAll().execute()
      const counted = await db.selectFrom('project_counts').selectAll().execute()
      expect(counted.map(({ count }) => count)).toEqual([projects.length])
      return [workspaces.rows.length, notes.rows.length, kept[0]?.count]
    }),
  )
/** What it returns after all migrations. */
const changed = [olderWorkspaces, olderWorkspaces, olderWorkspaces]

describe.each(engines)('a database of an older version on %s', (engine) => {
  afterEach(() => delete migrations[FAILING])
  const onPostgres = engine === 'postgres' ? test : undefined

  test('gets the later migrations, with its rows', async () => {
    const config = await newConfig(engine)
    await makeOlderDatabase(config)
    expect(await migrateIn(config)).toEqual(laterOnes())
    expect(await changedIn(config)).toEqual(changed)
    expect(await migrateIn(config)).toEqual([])
  })

  test('stays as it was when one of them fails, and gets all of them later', async () => {
    const config = await newConfig(engine)
    await makeOlderDatabase(config)
    migrations[FAILING] = { up: () => Promise.reject(new Error('on purpose')), oldestRelease: '0.1.0' }
    await expect(migrateIn(config)).rejects.toThrow('on purpose')
    expect(await opened(config, ({ withConnection }) => withConnection(appliedMigrations))).toEqual([
      FIRST_MIGRATION,
    ])
    await expect(changedIn(config)).rejects.toThrow(/note_count/)
    delete migrations[FAILING]
    expect(await migrateIn(config)).toEqual(laterOnes())
  })

  test('gets the indexes of later releases once, and anew if one is unfinished', async () => {
    const config = await newConfig(engine)
    await makeOlderDatabase(config)
    const makeIndexes = () => opened(config, ({ withConnection }) => withConnection(makeLaterIndexes))
    // Its column is not there yet.
    expect(await makeIndexes()).not.toContain(LATER_INDEX)
    await migrateIn(config)
    // With SQLite there is only one server.
    const made = await Promise.all(engine === 'sqlite' ? [makeIndexes()] : [makeIndexes(), makeIndexes()])
    expect(made.flat().filter((name) => name === LATER_INDEX)).toHaveLength(1)
    expect(await makeIndexes()).toEqual([])
    if (engine === 'sqlite') return
    // As after a crash while the index was made.
    await opened(config, ({ withConnection }) =>
      withConnection((db) =>
        sql`update pg_index set indisvalid = false where indexrelid = to_regclass(${LATER_INDEX})`.execute(
          db,
        ),
      ),
    )
    expect(await makeIndexes()).toEqual([LATER_INDEX])
  })

  onPostgres?.('is migrated although the server ends long statements and pauses', async () => {
    const config = await newConfig(engine)
    await makeOlderDatabase(config)
    const name = new URL(existing(config.databaseUrl)).pathname.slice(1)
    await opened(config, ({ withConnection }) =>
      withConnection(async (db) => {
        for (const timeout of ['statement_timeout', 'idle_in_transaction_session_timeout']) {
          await sql.raw(`alter database ${name} set ${timeout} = '500ms'`).execute(db)
        }
      }),
    )
    migrations[FAILING] = {
      oldestRelease: '0.1.0',
      async up(db) {
        await sql`select pg_sleep(1)`.execute(db)
        await pause(1_000)
        await sql`select 1`.execute(db)
      },
    }
    expect(await migrateIn(config)).toContain(FAILING)
  })

  test('is refused by releases that its newest migration does not admit, and used by others', async () => {
    const config = await newConfig(engine)
    await migrateIn(config)
    const later = forgetLaterMigration()
    const missing = () => opened(config, ({ withConnection }) => withConnection(missingMigrations))
    expect(await missing()).toEqual({
      names: [],
      applied: Object.keys(migrations).length + 1,
      newer: [LATER_MIGRATION],
    })
    expect(await migrateIn(config)).toEqual([])
    const file = join(temporaryFolder(), 'backup')
    await expect(opened(config, (open) => writeBackup(open, file, systemClock))).rejects.toThrow(
      `tables of a newer Purser (${LATER_MIGRATION})`,
    )
    migrations[LATER_MIGRATION] = { ...later, oldestRelease: '99.1.0' }
    const refusing = await newConfig(engine)
    await migrateIn(refusing)
    delete migrations[LATER_MIGRATION]
    await expect(opened(refusing, ({ withConnection }) => withConnection(missingMigrations))).rejects.toThrow(
      /it has the migrations 9000-of-the-tests, which need version 99\.1\.0 or newer/,
    )
  })

  test('is refused by a release that it admits if it lacks one of the migrations of that release', async () => {
    const config = await newConfig(engine)
    await migrateIn(config)
    forgetLaterMigration()
    migrations[FAILING] = { up: () => Promise.reject(new Error('on purpose')), oldestRelease: '0.1.0' }
    await expect(migrateIn(config)).rejects.toThrow(
      /it has the migrations 9000-of-the-tests, which this one does not know, and lacks 9001-that-fails, which cannot follow them/,
    )
  })

  onPostgres?.('says how the connection was lost while a migration waited', async () => {
    const config = await newConfig(engine)
    await makeOlderDatabase(config)
    await opened(config, ({ database }) =>
      database.write(async ({ db }) => {
        await sql`lock table workspaces in share mode`.execute(db)
        const failing = expect(migrateIn(config)).rejects.toMatchObject({
          code: 'unavailable',
          cause: { code: '57P01' },
        })
        const ending = sql`
          select pg_terminate_backend(pid) from pg_locks
          where relation = 'workspaces'::regclass and not granted`
        await vi.waitUntil(async () => (await ending.execute(db)).rows.length > 0, 30_000)
        await failing
      }),
    )
    expect(await migrateIn(config)).toEqual(laterOnes())
  })

  onPostgres?.('waits for a lock of a table only in short turns', async () => {
    const config = await newConfig(engine)
    await makeOlderDatabase(config)
    // Longer than one turn.
    await migrateBeside(config, (db) => sql`select pg_sleep(2.5)`.execute(db))
  })

  onPostgres?.('is migrated again after a deadlock with a request', async () => {
    const config = await newConfig(engine)
    await makeOlderDatabase(config)
    // PostgreSQL ends who looks for a deadlock and finds one. The migration looks later than by default, but before it stops
    // waiting, so that this transaction has time to wait, too. This one looks when all is over.
    const name = new URL(existing(config.databaseUrl)).pathname.slice(1)
    await opened(config, ({ withConnection }) =>
      withConnection((db) => sql.raw(`alter database ${name} set deadlock_timeout = '1900ms'`).execute(db)),
    )
    await migrateBeside(config, async (db) => {
      await sql`set local deadlock_timeout = '30s'`.execute(db)
      const waiting = sql<{ count: number }>`
        select count(*)::int as count from pg_locks
        where relation = 'workspaces'::regclass and not granted`
      await vi.waitUntil(async () => (await waiting.execute(db)).rows[0]?.count === 1, 30_000)
      // The migration holds this lock of Kysely.
      await sql`select pg_advisory_xact_lock(${sql.lit(KYSELY_LOCK)}::bigint)`.execute(db)
    })
    await opened(config, async ({ database }) => {
      const deadlocks = () =>
        database.read(async ({ db }) => {
          const counted = await sql<{ deadlocks: number }>`
            select deadlocks from pg_stat_database where datname = current_database()`.execute(db)
          return counted.rows[0]?.deadlocks
        })
      await vi.waitUntil(async () => (await deadlocks()) === 1, 30_000)
    })
  })

  test('is restored from its backup, with the later migrations', async () => {
    const file = await backUpOlder(engine)
    const config = await newConfig(engine)
    await restore(config, file, undefined)
    expect(await changedIn(config)).toEqual(changed)
  })

  test('is not restored from its backup into newer tables', async () => {
    const file = await backUpOlder(engine)
    const config = await newConfig(engine)
    await migrateIn(config)
    await expect(restore(config, file, undefined)).rejects.toThrow(/newer tables than the backup/)
  })
})

describe.each(engines)('a new database on %s', (engine) => {
  test.each(['create table users (id text)', 'create view users as select 1 as id'])(
    'is refused after %s, and nothing is left behind',
    async (statement) => {
      const config = await newConfig(engine)
      await opened(config, ({ withConnection }) => withConnection((db) => sql.raw(statement).execute(db)))
      await expect(migrateIn(config)).rejects.toThrow(
        /has tables of another program \(.*users.* already exists\), and nothing was changed: give Purser an empty/,
      )
      const left = await opened(config, ({ withConnection }) =>
        withConnection((db) => db.introspection.getTables({ withInternalKyselyTables: true })),
      )
      expect(left.map(({ name }) => name)).toEqual(['users'])
    },
  )

  test('is not mistaken for one of another program that uses Kysely', async () => {
    const config = await newConfig(engine)
    await opened(config, ({ withConnection }) =>
      withConnection(async (db) => {
        await sql`create table kysely_migration (name text, timestamp text)`.execute(db)
        await sql`insert into kysely_migration values ('2020-of-another', '2020-01-01')`.execute(db)
      }),
    )
    await expect(migrateIn(config)).rejects.toThrow('another program (migrations 2020-of-another)')
  })

  const onPostgres = engine === 'postgres' ? test : undefined
  onPostgres?.('is not what other schemas have', async () => {
    const config = await newConfig(engine)
    await opened(config, ({ withConnection }) =>
      withConnection(async (db) => {
        await sql`create schema other`.execute(db)
        for (const name of ['kysely_migration', 'kysely_migration_lock', 'compatibility', 'users']) {
          await sql`create table ${sql.table(`other.${name}`)} (name text)`.execute(db)
        }
        await sql`insert into other.kysely_migration values ('2020-of-another')`.execute(db)
      }),
    )
    expect(await migrateIn(config)).toEqual(Object.keys(migrations))
    expect(await migrateIn(config)).toEqual([])
  })
})
