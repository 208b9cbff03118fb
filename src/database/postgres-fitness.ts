import type { ClientConfig } from 'pg'
import { PostgresClient } from './postgres-client.ts'
import { isSharedSession } from './postgres-errors.ts'
import { tableNames } from './table-keys.ts'

/** What an operator has to know of the server of a database. */
export type Fitness = {
  /** A line for each reason why no server of Purser can use it. */
  readonly problems: readonly string[]
  /** How many connections this role may have. */
  readonly connections: number
}

export async function examineFitness(client: PostgresClient, config: ClientConfig): Promise<Fitness> {
  const found = await Promise.all([
    encodingProblem(client),
    readOnlyProblem(client),
    otherSchemaProblem(client),
    rightsProblem(client, 'made'),
  ])
  const sessions = await sharedSessionsProblem(client, config)
  return {
    problems: [...found, sessions].filter((problem) => problem !== undefined),
    connections: await mostConnections(client),
  }
}

/** What an operator has to repair, in one line; undefined if there is no such problem. */
type Problem = Promise<string | undefined>

async function encodingProblem(client: PostgresClient): Problem {
  const { rows } = await client.query<{ server_encoding: string }>('show server_encoding')
  const encoding = rows[0]?.server_encoding
  // SQL_ASCII stores all bytes as they are, and earlier releases have made tables in such databases.
  if (encoding === 'UTF8' || encoding === 'SQL_ASCII') return undefined
  return `the database has the encoding ${encoding}, and Purser needs UTF8: make a new one with "create database … encoding 'UTF8' template template0"`
}

async function readOnlyProblem(client: PostgresClient): Problem {
  const { rows } = await client.query<{ standby: boolean; setting: string }>(
    "select pg_is_in_recovery() as standby, current_setting('transaction_read_only') as setting",
  )
  const { standby, setting } = rows[0] ?? {}
  if (standby === true) return 'the database takes no writes: this server is a standby; name the primary'
  if (setting !== 'on') return undefined
  return 'the database takes no writes: default_transaction_read_only is on; set it to off for the server, the database or the role'
}

const OTHER_SCHEMA = `select current_schema() as first, nspname as other
from pg_class join pg_namespace on pg_namespace.oid = relnamespace
where pg_class.oid = to_regclass('audit_chains') and nspname <> current_schema() and has_table_privilege(pg_class.oid, 'select')`

/**
 * An administrator has made a schema that comes before the one with the tables, such as one with the name of the role. The
 * server would make new, empty tables there. Tables that the role may not use belong to another installation.
 */
async function otherSchemaProblem(client: PostgresClient): Problem {
  const [found] = (await client.query<{ first: string; other: string }>(OTHER_SCHEMA)).rows
  if (found === undefined) return undefined
  return `the schema ${found.other} has the tables of Purser, and new ones would be made in ${found.first}, which comes before it in the search_path of the role: leave one of the two out of the search_path`
}

/** `case`, because PostgreSQL may evaluate conditions in any order, and refuses to look for rights on what is no sequence. */
const RIGHTS = `select name, coalesce(relnamespace = (select oid from pg_namespace where nspname = current_schema()), false) as there,
  coalesce(has_table_privilege(table_id, 'select') and has_table_privilege(table_id, 'insert')
    and has_table_privilege(table_id, 'update') and has_table_privilege(table_id, 'delete')
    and not exists (select from pg_depend join pg_class on pg_class.oid = objid
      where refobjid = table_id and refclassid = 'pg_class'::regclass and classid = 'pg_class'::regclass
        and case relkind when 'S' then not has_sequence_privilege(objid, 'usage') end), false) as usable,
  current_user as role
from unnest($1::text[]) as name, lateral (select to_regclass(name)::oid as table_id) as found
left join pg_class on pg_class.oid = table_id`

/**
 * @param which with `made` only tables of the own schema count; with `all` a missing table is a problem, too: a schema that the
 *   role may not use hides its tables
 */
export async function rightsProblem(client: PostgresClient, which: 'all' | 'made'): Problem {
  const { rows } = await client.query<{ name: string; there: boolean; usable: boolean; role: string }>(
    RIGHTS,
    [tableNames],
  )
  const missing = rows.filter(({ there, usable }) => (there || which === 'all') && !usable)
  const [first] = missing
  if (first === undefined) return undefined
  const names = missing.map(({ name }) => name).join(', ')
  return `the role ${first.role} may not read and write the tables ${names}: grant it select, insert, update and delete on them, and usage on their sequences and schema`
}

/** Named, because a pooler that shares sessions without following prepared statements then fails at once. */
const OWN_SESSION = { name: 'purser own session', text: 'select pg_backend_pid() as pid' }
/** Several, because other clients of a pooler may take the session that would have been shared. */
const ROUNDS = 5

const SHARED_SESSIONS =
  'a pooler lets several connections share a session of PostgreSQL: set pool_mode = session for this database in PgBouncer'

/** Opens a second connection, and finds out whether both get the same session, or one gets several. */
export async function sharedSessionsProblem(client: PostgresClient, config: ClientConfig): Problem {
  const other = new PostgresClient(config)
  try {
    // Without a second connection nothing can be found out.
    const [opened] = await Promise.allSettled([other.connect()])
    if (opened.status === 'rejected') return undefined
    const users = new Map<number, PostgresClient>()
    const sessions = new Map<PostgresClient, number>()
    for (let round = 0; round < ROUNDS; round++) {
      for (const one of [client, other]) {
        const { rows } = await one.query<{ pid: number }>(OWN_SESSION)
        const pid = rows[0]?.pid ?? 0
        const isOwn = (users.get(pid) ?? one) === one && (sessions.get(one) ?? pid) === pid
        if (!isOwn) return SHARED_SESSIONS
        users.set(pid, one)
        sessions.set(one, pid)
      }
    }
    return undefined
  } catch (error) {
    if (isSharedSession(error)) return SHARED_SESSIONS
    throw error
  } finally {
    other.cut(new Error('not needed any more'))
  }
}

async function mostConnections(client: PostgresClient): Promise<number> {
  const { rows } = await client.query<{ most: number }>(`
    select least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
      (select case when rolsuper or rolconnlimit < 0 then null else rolconnlimit end from pg_roles where rolname = session_user),
      (select case when datconnlimit < 0 then null else datconnlimit end from pg_database where datname = current_database())
    ) as most`)
  return rows[0]?.most ?? Infinity
}
