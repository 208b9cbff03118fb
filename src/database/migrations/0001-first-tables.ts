import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'

export const firstTables: Migration = {
  async up(db) {
    await runScript(db, tables)
  },
}

const tables = `
create table meta (
  key TEXT primary key,
  value TEXT not null
);

create table users (
  id TEXT primary key,
  username TEXT,
  username_key TEXT unique,
  email TEXT,
  email_key TEXT unique,
  password_hash TEXT,
  is_site_admin INTEGER not null default 0,
  is_service_account INTEGER not null default 0,
  is_suspended INTEGER not null default 0,
  created_at TEXT not null
);

create table organizations (
  id TEXT primary key,
  name TEXT not null unique,
  email TEXT not null,
  version INTEGER not null default 1,
  teams_count INTEGER not null default 0,
  visible_teams_count INTEGER not null default 0,
  delegated_team_management INTEGER not null default 0,
  default_project_id TEXT not null,
  owners_team_id TEXT not null,
  settings TEXT not null,
  created_at TEXT not null,
  updated_at TEXT not null,
  deleted_at TEXT
);

-- What is deleted, and on its way out: mostly nothing.
create index organizations_deleted on organizations (deleted_at) where deleted_at is not null;

create table memberships (
  id TEXT primary key,
  organization_id TEXT not null references organizations (id) on delete cascade,
  user_id TEXT not null references users (id) on delete cascade,
  status TEXT not null,
  is_service_account INTEGER not null default 0,
  created_at TEXT not null,
  unique (user_id, organization_id)
);
create index memberships_by_organization on memberships (organization_id, created_at, id);

create table teams (
  number IDENTITY,
  id TEXT not null unique,
  organization_id TEXT not null references organizations (id) on delete cascade,
  name TEXT not null,
  sso_team_id TEXT,
  visibility TEXT not null,
  organization_access INTEGER not null default 0,
  allow_member_token_management INTEGER not null default 1,
  is_owners INTEGER not null default 0,
  users_count INTEGER not null default 0,
  service_account_id TEXT,
  version INTEGER not null default 1,
  created_at TEXT not null,
  updated_at TEXT not null,
  unique (organization_id, name)
);
create index teams_by_visibility on teams (organization_id, visibility, name, id);

create table team_members (
  team_id TEXT not null references teams (id) on delete cascade,
  membership_id TEXT not null references memberships (id) on delete cascade,
  user_id TEXT not null,
  organization_id TEXT not null,
  is_active INTEGER not null,
  primary key (team_id, user_id)
);
create index team_members_by_user on team_members (user_id, organization_id);
create index team_members_by_membership on team_members (membership_id);

create table authentication_tokens (
  id TEXT primary key,
  hash TEXT not null unique,
  kind TEXT not null,
  user_id TEXT references users (id) on delete cascade,
  team_id TEXT references teams (id) on delete cascade,
  organization_id TEXT references organizations (id) on delete cascade,
  is_single INTEGER not null default 0,
  description TEXT,
  created_by_id TEXT,
  created_at TEXT not null,
  expires_at TEXT not null,
  last_used_at TEXT
);
create index authentication_tokens_by_user on authentication_tokens (user_id, created_at);
create index authentication_tokens_by_team on authentication_tokens (team_id, created_at);
create index authentication_tokens_by_organization on authentication_tokens (organization_id, kind, created_at);

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
create index workspaces_by_project on workspaces (project_id, name);

create table workspace_tags (
  workspace_id TEXT not null references workspaces (id) on delete cascade,
  name TEXT not null,
  primary key (workspace_id, name)
);
create index workspace_tags_by_name on workspace_tags (name, workspace_id);

create table team_workspaces (
  id TEXT primary key,
  organization_id TEXT not null,
  team_id TEXT not null references teams (id) on delete cascade,
  workspace_id TEXT not null references workspaces (id) on delete cascade,
  access TEXT not null,
  runs TEXT not null,
  variables TEXT not null,
  state_versions TEXT not null,
  sentinel_mocks TEXT not null,
  workspace_locking INTEGER not null,
  run_tasks INTEGER not null,
  policy_overrides INTEGER not null,
  created_at TEXT not null,
  unique (workspace_id, team_id)
);
create index team_workspaces_by_team on team_workspaces (team_id, workspace_id);

create table team_projects (
  id TEXT primary key,
  organization_id TEXT not null,
  team_id TEXT not null references teams (id) on delete cascade,
  project_id TEXT not null references projects (id) on delete cascade,
  access TEXT not null,
  state_versions TEXT not null,
  workspace_locking INTEGER not null,
  workspace_create INTEGER not null,
  project_access TEXT not null,
  workspace_access TEXT not null,
  created_at TEXT not null,
  unique (project_id, team_id)
);
create index team_projects_by_team on team_projects (team_id, project_id);

create table state_versions (
  id TEXT primary key,
  workspace_id TEXT not null references workspaces (id) on delete cascade,
  organization_id TEXT not null,
  output_key TEXT not null unique,
  serial INTEGER not null,
  md5 TEXT not null,
  lineage TEXT,
  status TEXT not null,
  resources_processed INTEGER not null default 0,
  size INTEGER not null default 0,
  state_format INTEGER,
  terraform_version TEXT,
  outputs_count INTEGER not null default 0,
  resources_count INTEGER,
  is_intermediate INTEGER not null default 0,
  wrapped_key BLOB not null,
  created_by_id TEXT,
  created_by_kind TEXT,
  run_id TEXT,
  lock_holder_id TEXT,
  given_outputs_count INTEGER,
  upload_id TEXT,
  json_upload_id TEXT,
  json_md5 TEXT,
  lease_until TEXT,
  attempts INTEGER not null default 0,
  last_failure TEXT,
  created_at TEXT not null,
  finalized_at TEXT
);
create index state_versions_by_workspace on state_versions (workspace_id, created_at, id);
create index state_versions_by_status on state_versions (workspace_id, status);
create index state_versions_by_serial on state_versions (workspace_id, serial);
create index state_versions_unprocessed on state_versions (status, resources_processed, lease_until);

create table state_chunks (
  state_version_id TEXT not null,
  upload_id TEXT not null,
  kind TEXT not null,
  number INTEGER not null,
  sealed BLOB not null,
  primary key (state_version_id, kind, upload_id, number)
);

create table output_blocks (
  state_version_id TEXT not null,
  first_position INTEGER not null,
  sealed BLOB not null,
  primary key (state_version_id, first_position)
);

create table audit_events (
  number IDENTITY,
  at TEXT not null,
  request_id TEXT,
  actor_kind TEXT not null,
  actor_id TEXT,
  actor_name TEXT,
  token_id TEXT,
  action TEXT not null,
  organization_id TEXT,
  resource_type TEXT not null,
  resource_id TEXT not null,
  details TEXT not null
);
create index audit_events_by_organization on audit_events (organization_id, number);
create index audit_events_by_time on audit_events (at);

TEAM_SEARCH
`
