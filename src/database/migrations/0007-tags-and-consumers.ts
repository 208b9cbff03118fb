import type { Migration } from 'kysely/migration'
import { newId } from '../../core/ids.ts'
import { runScript } from '../portable.ts'

/** Tags have ids, and belong to the organization; key-value tags; who reads whose state; what tells lists apart. */
export const tagsAndConsumers: Migration = {
  async up(db) {
    await runScript(db, tables)
    const used = await db
      .selectFrom('workspace_tags')
      .innerJoin('workspaces', 'workspaces.id', 'workspace_tags.workspace_id')
      .innerJoin('organizations', 'organizations.id', 'workspaces.organization_id')
      .select(['organizations.id', 'workspace_tags.name', 'organizations.created_at'])
      .distinct()
      .execute()
    for (const { id, name, created_at } of used) {
      await db
        .insertInto('tags')
        .values({ id: newId('tag'), organization_id: id, name, created_at })
        .execute()
    }
  },
}

const tables = `
create table tags (
  id TEXT primary key,
  organization_id TEXT not null references organizations (id) on delete cascade,
  name TEXT not null,
  created_at TEXT not null,
  unique (organization_id, name)
);

create table tag_bindings (
  id TEXT primary key,
  organization_id TEXT not null,
  workspace_id TEXT references workspaces (id) on delete cascade,
  project_id TEXT references projects (id) on delete cascade,
  key TEXT not null,
  value TEXT not null,
  created_at TEXT not null,
  unique (workspace_id, key),
  unique (project_id, key)
);
create index tag_bindings_by_key on tag_bindings (organization_id, key, value);

create table remote_state_consumers (
  workspace_id TEXT not null references workspaces (id) on delete cascade,
  consumer_id TEXT not null references workspaces (id) on delete cascade,
  primary key (workspace_id, consumer_id)
);
create index remote_state_consumers_by_consumer on remote_state_consumers (consumer_id);

create index workspaces_by_change on workspaces (organization_id, updated_at, name);

WORKSPACE_VERSIONS
`
