import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Lists of workspaces are counted and leafed through by indexes alone, which hold what their filters look at: reading the
 * rows of a very large organization takes ten times as long.
 */
export const workspaceListIndexes: Migration = {
  async up(db) {
    for (const statement of [
      'create index workspaces_listed on workspaces (organization_id, name, id, project_id)',
      'drop index workspaces_by_project',
      'create index workspaces_by_project on workspaces (project_id, name, id)',
      'drop index workspaces_by_change',
      'create index workspaces_by_change on workspaces (organization_id, updated_at, name, id, project_id)',
    ]) {
      await sql.raw(statement).execute(db)
    }
  },
}
