/** Tags of workspaces, and key-value tags of workspaces and projects. */
export const tagTables = `
create table tags (
  id TEXT primary key,
  organization_id TEXT not null references organizations (id) on delete cascade,
  name TEXT not null,
  created_at TEXT not null,
  unique (organization_id, name)
);

create table workspace_tags (
  workspace_id TEXT not null references workspaces (id) on delete cascade,
  tag_id TEXT not null,
  primary key (workspace_id, tag_id)
);
create index workspace_tags_by_tag on workspace_tags (tag_id, workspace_id);

-- Deleted tags of which rows of workspace_tags may be left.
create table deleted_tags (id TEXT primary key);

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
`
