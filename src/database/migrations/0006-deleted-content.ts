import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'

/** The content of a state version may be deleted, a version may be a rollback to another, or not be current yet. */
export const deletedContent: Migration = {
  async up(db) {
    await runScript(db, columns)
  },
}

const columns = `
alter table state_versions add column soft_deleted_at TEXT;
alter table state_versions add column rollback_of_id TEXT;
create index state_versions_intermediate on state_versions (workspace_id, created_at, id) where is_intermediate = 1;
`
