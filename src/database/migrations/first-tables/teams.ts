/** Teams with their members, and tokens. */
export const teamTables = `
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
create index team_members_by_membership on team_members (membership_id, team_id);

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
  age_since TEXT,
  expires_at TEXT not null,
  last_used_at TEXT
);
create index authentication_tokens_by_user on authentication_tokens (user_id, created_at);
create index authentication_tokens_by_team on authentication_tokens (team_id, created_at);
create index authentication_tokens_by_organization on authentication_tokens (organization_id, kind, created_at);
`
