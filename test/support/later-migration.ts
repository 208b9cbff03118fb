import { sql } from 'kysely'
import { version } from '../../src/core/version.ts'
import { laterIndexes } from '../../src/database/later-indexes.ts'
import { migrations, type TableMigration } from '../../src/database/migrate.ts'
import { runScript } from '../../src/database/portable.ts'

/**
 * A migration that only tests have. Importing this file adds it, also in another process: with `withLaterMigration` in
 * its environment. It makes a table with an index, changes a table with rows, which gets an index later, and writes a row
 * for each of them.
 */
export const LATER_MIGRATION = '9000-of-the-tests'

const laterMigration: TableMigration = {
  oldestRelease: version,
  async up(db) {
    await runScript(
      db,
      `
create table workspace_notes (
  workspace_id TEXT primary key references workspaces (id) on delete cascade,
  name TEXT not null
);
create index workspace_notes_by_name on workspace_notes (name);
alter table workspaces add column note_count INTEGER not null default 0;
`,
    )
    const rows = await db.selectFrom('workspaces').select(['id', 'name']).execute()
    for (const { id, name } of rows) {
      await sql`insert into workspace_notes (workspace_id, name) values (${id}, ${name})`.execute(db)
    }
    await sql`update workspaces set note_count = 1`.execute(db)
  },
}

migrations[LATER_MIGRATION] = laterMigration

export const LATER_INDEX = 'workspaces_by_note_count'

laterIndexes.push({ name: LATER_INDEX, on: 'workspaces (note_count)', since: LATER_MIGRATION })

export const withLaterMigration = { NODE_OPTIONS: `--import=${import.meta.url}` }
