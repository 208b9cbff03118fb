/** Projects, and workspaces with their readers. */
export const workspaceTables = `
create table projects (
  id TEXT primary key,
  organization_id TEXT not null references organizations (id) on delete cascade,
  name TEXT not null,
  description TEXT,
  settings TEXT not null,
  created_at TEXT not null,
  updated_at TEXT not null,
  unique (organization_id, name)
);

create table workspaces (
  id TEXT primary key,
  organization_id TEXT not null references organizations (id) on delete cascade,
  project_id TEXT not null references projects (id),
  name TEXT not null,
  description TEXT,
  terraform_version TEXT not null,
  locked_by_id TEXT,
  locked_by_kind TEXT,
  lock_reason TEXT,
  current_state_version_id TEXT,
  settings TEXT not null,
  created_at TEXT not null,
  updated_at TEXT not null,
  unique (organization_id, name)
);

-- Lists of workspaces are counted and read from these indexes alone. Reading the rows takes ten times as long.
create index workspaces_listed on workspaces (organization_id, name, id, project_id);
create index workspaces_by_project on workspaces (project_id, name, id);
create index workspaces_by_change on workspaces (organization_id, updated_at, name, id, project_id);

create table remote_state_consumers (
  workspace_id TEXT not null references workspaces (id) on delete cascade,
  consumer_id TEXT not null references workspaces (id) on delete cascade,
  primary key (workspace_id, consumer_id)
);
create index remote_state_consumers_by_consumer on remote_state_consumers (consumer_id);
`
