import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'

/**
 * A workspace's tags say whose they are: so what is counted and found by a tag is found by an index of the organization's
 * own, without looking at each workspace.
 */
export const workspaceTagsOfOrganizations: Migration = {
  async up(db) {
    await runScript(db, script)
  },
}

const script = `
alter table workspace_tags add column organization_id TEXT not null default '';
update workspace_tags set organization_id = (select organization_id from workspaces where workspaces.id = workspace_tags.workspace_id);
drop index workspace_tags_by_name;
create index workspace_tags_by_name on workspace_tags (organization_id, name, workspace_id);
`
