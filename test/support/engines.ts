import { randomBytes } from 'node:crypto'
import { Client, type QueryResultRow } from 'pg'
import { isLong } from './runs.ts'

export type Engine = 'sqlite' | 'postgres'

const postgresUrl = process.env.PURSER_TEST_POSTGRES_URL
/** Set by vitest.config.ts. */
const isWithoutSqlite = process.env['PURSER_TEST_ENGINES'] === 'postgres'

/** Every HTTP test runs on each. Includes PostgreSQL if PURSER_TEST_POSTGRES_URL names a server for test databases. */
export const engines: readonly Engine[] = (['sqlite', 'postgres'] as const).filter((engine) =>
  engine === 'sqlite' ? !isWithoutSqlite : postgresUrl !== undefined,
)

/** PostgreSQL, if there is one. A file whose tests all need it is left out without (vitest.config.ts finds these). */
export const onlyPostgres = engines.filter((engine) => engine === 'postgres')

/**
 * For tests of what runs above the interface, such as commands that send requests: other tests show that the requests do the
 * same on both engines. The long mode runs them on each.
 */
export const oneEngine: readonly Engine[] = isLong ? engines : ['sqlite']

export async function createPostgresDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `purser_test_${randomBytes(6).toString('hex')}`
  await onServer(`create database ${name}`)
  // A function of a test can then replace clock_timestamp(), see moveDatabaseClock.
  await onServer(`alter database ${name} set search_path = public, pg_catalog`)
  const url = new URL(postgresUrl as string)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => onServer(`drop database if exists ${name} with (force)`) }
}

async function onServer(statement: string): Promise<void> {
  await query(postgresUrl as string, statement)
}

async function query<Row extends QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(statement)).rows
  } finally {
    await client.end()
  }
}

/** The tables whose rows PostgreSQL has statistics of. */
export async function analyzedTables(url: string): Promise<string[]> {
  const rows = await query<{ tablename: string }>(
    url,
    `select distinct tablename from pg_stats where schemaname = 'public'`,
  )
  return rows.map(({ tablename }) => tablename)
}

/** Moves the clock that PostgreSQL shows to all connections of this database. */
export async function moveDatabaseClock(url: string, milliseconds: number): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ shift: number }>(
      'select extract(epoch from clock_timestamp() - pg_catalog.clock_timestamp())::float8 as shift',
    )
    const seconds = Math.round((rows[0]?.shift ?? 0) + milliseconds / 1000)
    await client.query(
      `create or replace function public.clock_timestamp() returns timestamptz language sql volatile as
       $$ select pg_catalog.clock_timestamp() + interval '${seconds} s' $$`,
    )
  } finally {
    await client.end()
  }
}
