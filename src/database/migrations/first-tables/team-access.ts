/** What teams may do with workspaces and projects. */
export const teamAccessTables = `
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
`
