import { PostgresAdapter, sql, type Kysely, type RawBuilder } from 'kysely'
import type { Transaction } from './database.ts'
import type { Tables } from './tables.ts'

/** The differences between the two engines are in this file or behind their drivers. */
export type Engine = 'sqlite' | 'postgres'

const words: Record<Engine, Record<string, string>> = {
  sqlite: {
    TEXT: 'text',
    INTEGER: 'integer',
    BLOB: 'blob',
    IDENTITY: 'integer primary key autoincrement',
    // Team names in blocks of 512 neighbours. Each block has a version, which is the cache key of its search data.
    // Block -1 stands for the whole organization.
    TEAM_SEARCH: `
create table team_name_blocks (organization_id text not null, number integer not null, version integer not null, primary key (organization_id, number)) without rowid;
create trigger team_names_insert after insert on teams begin insert into team_name_blocks values (new.organization_id, new.number / 512, 1), (new.organization_id, -1, 1) on conflict do update set version = version + 1; end;
create trigger team_names_delete after delete on teams begin update team_name_blocks set version = version + 1 where organization_id = old.organization_id and number in (-1, old.number / 512); end;
create trigger team_names_update after update of name, visibility on teams when old.name <> new.name or old.visibility <> new.visibility begin update team_name_blocks set version = version + 1 where organization_id = new.organization_id and number in (-1, new.number / 512); end;
create trigger team_names_end after delete on organizations begin delete from team_name_blocks where organization_id = old.id; end;`,
    // The same with blocks of 1024.
    WIDER_TEAM_BLOCKS: `
drop trigger team_names_insert;
drop trigger team_names_delete;
drop trigger team_names_update;
delete from team_name_blocks;
insert into team_name_blocks select distinct organization_id, number / 1024, 1 from teams union select organization_id, -1, 1 from teams;
create trigger team_names_insert after insert on teams begin insert into team_name_blocks values (new.organization_id, new.number / 1024, 1), (new.organization_id, -1, 1) on conflict do update set version = version + 1; end;
create trigger team_names_delete after delete on teams begin update team_name_blocks set version = version + 1 where organization_id = old.organization_id and number in (-1, old.number / 1024); end;
create trigger team_names_update after update of name, visibility on teams when old.name <> new.name or old.visibility <> new.visibility begin update team_name_blocks set version = version + 1 where organization_id = new.organization_id and number in (-1, new.number / 1024); end;
`,
    // For each organization a version that grows with every change of a workspace document, and the number of
    // workspaces. Both are in the cache keys of list pages.
    WORKSPACE_VERSIONS: `
create table workspace_versions (organization_id text primary key, version integer not null, count integer not null) without rowid;
insert into workspace_versions select organization_id, 1, count(*) from workspaces group by organization_id;
create trigger workspace_versions_insert after insert on workspaces begin insert into workspace_versions values (new.organization_id, 1, 1) on conflict do update set version = version + 1, count = count + 1; end;
create trigger workspace_versions_delete after delete on workspaces begin update workspace_versions set version = version + 1, count = count - 1 where organization_id = old.organization_id; end;
create trigger workspace_versions_update after update on workspaces begin update workspace_versions set version = version + 1 where organization_id = new.organization_id; end;
create trigger workspace_versions_tag after insert on workspace_tags begin update workspace_versions set version = version + 1 where organization_id = (select organization_id from workspaces where id = new.workspace_id); end;
create trigger workspace_versions_untag after delete on workspace_tags begin update workspace_versions set version = version + 1 where organization_id = (select organization_id from workspaces where id = old.workspace_id); end;
create trigger workspace_versions_state after update of resources_count on state_versions when old.resources_count is not new.resources_count begin update workspace_versions set version = version + 1 where organization_id = new.organization_id; end;
create trigger workspace_versions_project after update of settings on projects when old.settings <> new.settings begin update workspace_versions set version = version + 1 where organization_id = new.organization_id; end;
create trigger workspace_versions_end after delete on organizations begin delete from workspace_versions where organization_id = old.id; end;
`,
    // The first two triggers were dropped with their table. Rows left of a deleted tag change no document.
    WORKSPACE_TAG_VERSIONS: `
create trigger workspace_versions_tag after insert on workspace_tags begin update workspace_versions set version = version + 1 where organization_id = (select organization_id from workspaces where id = new.workspace_id); end;
create trigger workspace_versions_untag after delete on workspace_tags when exists (select 1 from tags where id = old.tag_id) begin update workspace_versions set version = version + 1 where organization_id = (select organization_id from workspaces where id = old.workspace_id); end;
create trigger workspace_versions_tags after delete on tags begin update workspace_versions set version = version + 1 where organization_id = old.organization_id; end;
`,
  },
  postgres: {
    // Byte order, like SQLite's default, so that both engines sort lists alike.
    TEXT: 'text collate "C"',
    INTEGER: 'bigint',
    BLOB: 'bytea',
    IDENTITY: 'bigint generated by default as identity primary key',
    TEAM_SEARCH: `
create extension if not exists pg_trgm;
create index teams_by_name_part on teams using gin (lower(name) gin_trgm_ops);`,
    WIDER_TEAM_BLOCKS: '',
    WORKSPACE_VERSIONS: '',
    WORKSPACE_TAG_VERSIONS: '',
  },
}

/** Runs a script written with the words above. Each statement ends with a semicolon at the end of a line. */
export async function runScript(db: Kysely<Tables>, script: string): Promise<void> {
  const engine = db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite'
  const text = script.replace(/\b[A-Z_]{4,}\b/g, (word) => words[engine][word] ?? word)
  for (const statement of text.split(/;\s*$/m)) {
    if (statement.trim() !== '') await sql.raw(statement).execute(db)
  }
}

/** The next value of a table's counter, for code that needs it before the insert. */
export function nextNumber(engine: Engine, table: string): RawBuilder<number> {
  return engine === 'sqlite'
    ? sql<number>`(select coalesce(max(seq), 0) + 1 from sqlite_sequence where name = ${sql.lit(table)})`
    : sql<number>`nextval(pg_get_serial_sequence(${sql.lit(table)}, 'number'))`
}

/** The numbers of `count` new rows of a table, of which the first one is known already. */
export async function nextNumbers(
  { db, engine }: Pick<Transaction, 'db' | 'engine'>,
  table: string,
  first: number,
  count: number,
): Promise<number[]> {
  if (count === 1) return [first]
  if (engine === 'sqlite') return Array.from({ length: count }, (_, index) => first + index)
  const { rows } = await sql<{ number: number }>`
    select ${nextNumber(engine, table)} as number from generate_series(2, ${count}::integer)`.execute(db)
  return [first, ...rows.map(({ number }) => number)]
}

type Locking = Pick<Transaction, 'engine' | 'mode'>

/** Whether a transaction locks the rows that it is going to change. SQLite has one writer anyway. */
export function locksRows({ engine, mode }: Locking): boolean {
  return engine === 'postgres' && mode === 'write'
}

/** For `$call`: locks the rows that the query finds until the write ends; does nothing in a read, and on SQLite. */
export function forUpdate(tx: Locking): <Query extends { forUpdate(): Query }>(query: Query) => Query {
  return (query) => (locksRows(tx) ? query.forUpdate() : query)
}

/** Whether a write violated a unique constraint, on either engine. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { errcode, code } = error as { errcode?: number; code?: string }
  return errcode === 2067 || errcode === 1555 || code === '23505'
}

/**
 * A column to compare with a long list, without its index: SQLite would look up every value of the list for each row.
 */
export function unindexed(engine: Engine, column: string): RawBuilder<string> {
  return engine === 'sqlite' ? sql<string>`+${sql.ref(column)}` : sql.ref<string>(column)
}

/** Whether a column contains a text, ignoring the case of ASCII letters. No character is a wildcard. */
export function holdsText(engine: Engine, column: string, text: string): RawBuilder<boolean> {
  // lower() of both engines changes only ASCII letters, so this must do the same.
  const part = text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  return engine === 'sqlite'
    ? sql<boolean>`instr(lower(${sql.ref(column)}), ${part}) > 0`
    : sql<boolean>`strpos(lower(${sql.ref(column)}), ${part}) > 0`
}

/** The same of a column that PostgreSQL has an index of parts for; `part` is in lower case. */
export function holdsIndexedText(engine: Engine, column: string, part: string): RawBuilder<boolean> {
  return engine === 'sqlite'
    ? sql<boolean>`instr(lower(${sql.ref(column)}), ${part}) > 0`
    : sql<boolean>`lower(${sql.ref(column)}) like ${`%${part.replace(/[\\_%]/g, '\\$&')}%`}`
}
