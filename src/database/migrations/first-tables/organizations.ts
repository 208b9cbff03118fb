/** Settings of the server, users, and organizations with their members. */
export const organizationTables = `
create table meta (
  key TEXT primary key,
  value TEXT not null
);

-- One row. Each migration may raise it, see TableMigration.
create table compatibility (
  oldest_release TEXT not null
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

create table sessions (
  id TEXT primary key,
  hash TEXT not null unique,
  user_id TEXT not null references users (id) on delete cascade,
  user_agent TEXT not null,
  created_at TEXT not null,
  last_used_at TEXT not null,
  longest_pause_ms INTEGER not null default 0,
  expires_at TEXT not null
);
create index sessions_by_user on sessions (user_id, created_at);
create index sessions_by_expiry on sessions (expires_at);

create table login_codes (
  hash TEXT primary key,
  user_id TEXT not null references users (id) on delete cascade,
  session_id TEXT not null references sessions (id) on delete cascade,
  code_challenge TEXT not null,
  redirect_uri TEXT not null,
  created_at TEXT not null,
  expires_at TEXT not null,
  used_at TEXT,
  token_id TEXT
);
create index login_codes_by_user on login_codes (user_id, created_at);
create index login_codes_by_session on login_codes (session_id);

create table password_links (
  hash TEXT primary key,
  user_id TEXT not null unique references users (id) on delete cascade,
  created_at TEXT not null,
  expires_at TEXT not null
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
  user_tokens_enabled INTEGER not null default 1,
  max_ttl_enabled INTEGER not null default 0,
  max_ttl_user_ms INTEGER,
  max_ttl_team_ms INTEGER,
  max_ttl_organization_ms INTEGER,
  max_ttl_audit_trails_ms INTEGER,
  created_at TEXT not null,
  updated_at TEXT not null,
  deleted_at TEXT
);

-- Organizations whose data is being deleted: mostly none.
create index organizations_deleted on organizations (deleted_at) where deleted_at is not null;

create table memberships (
  id TEXT primary key,
  organization_id TEXT not null references organizations (id) on delete cascade,
  user_id TEXT not null references users (id) on delete cascade,
  status TEXT not null,
  is_service_account INTEGER not null default 0,
  invited_email TEXT,
  created_at TEXT not null,
  unique (user_id, organization_id)
);

-- A page of the members, and their number, are read from this index alone.
create index memberships_by_organization on memberships (organization_id, is_service_account, created_at, id);
`
