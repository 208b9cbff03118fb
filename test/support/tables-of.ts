import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { SQLITE_FILE } from '../../src/database/open.ts'
import type { Settings } from './purser.ts'

const inPostgres = `
select 'column ' || attrelid::regclass || '.' || attname as name,
       concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated,
         attcollation::regcollation, pg_get_expr(adbin, adrelid)) as text
  from pg_attribute join pg_class on pg_class.oid = attrelid
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where relnamespace = 'public'::regnamespace and relkind = 'r' and attnum > 0 and not attisdropped
union all select 'table ' || relname, concat_ws(' ', reloptions) from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'r'
union all select 'index ' || indexname, indexdef from pg_indexes where schemaname = 'public'
union all select 'constraint ' || conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
  from pg_constraint where connamespace = 'public'::regnamespace
union all select 'trigger ' || tgrelid::regclass || '.' || tgname, pg_get_triggerdef(oid)
  from pg_trigger where not tgisinternal
union all select 'function ' || proname, pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
`
const inSqlite = `select type || ' ' || name as name, coalesce(sql, '') as text from sqlite_schema`

/** The tables, columns, indexes, constraints, triggers and functions in the database of these settings, without rows. */
export async function tablesOf({ PURSER_DATABASE_URL: url, PURSER_DATA: data }: Settings) {
  const found = url === undefined ? inFile(join(data as string, SQLITE_FILE)) : await inDatabase(url)
  return Object.fromEntries(found.map(({ name, text }) => [name, text]))
}

type Part = { name: string; text: string }

function inFile(file: string): Part[] {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return database.prepare(inSqlite).all() as Part[]
  } finally {
    database.close()
  }
}

async function inDatabase(url: string): Promise<Part[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Part>(inPostgres)).rows
  } finally {
    await client.end()
  }
}
