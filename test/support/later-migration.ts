import { sql } from 'kysely'
import { version } from '../../src/core/version.ts'
import { laterIndexes } from '../../src/database/later-indexes.ts'
import { migrations, type TableMigration } from '../../src/database/migrate.ts'
import { runScript } from '../../src/database/portable.ts'

/**
 * A migration that only tests have. Importing this file adds it, also in another process: with `withLaterMigration` in
 * its environment. It makes tables, changes a table with rows, and writes a row for each of them.
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
alter table workspaces add column note_count INTEGER not null default 0;
drop index workspaces_listed;
create index workspaces_listed on workspaces (organization_id, name, id, project_id, note_count);
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

export const LATER_INDEX = 'workspace_notes_by_name'

laterIndexes.push({ name: LATER_INDEX, on: 'workspace_notes (name)', since: LATER_MIGRATION })

export const withLaterMigration = { NODE_OPTIONS: `--import=${import.meta.url}` }
