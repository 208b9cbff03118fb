/** State versions, with their encrypted states and outputs. */
export const stateVersionTables = `
create table state_versions (
  id TEXT primary key,
  workspace_id TEXT not null references workspaces (id) on delete cascade,
  number INTEGER not null default 0,
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
  managed_resources_count INTEGER,
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
  finalized_at TEXT,
  soft_deleted_at TEXT,
  rollback_of_id TEXT
);

-- Ordered by number, because a clock that is set back must not change the order.
create unique index state_versions_by_workspace on state_versions (workspace_id, number);
create index state_versions_intermediate on state_versions (workspace_id, number) where is_intermediate = 1;
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

-- An output that is larger than a block is stored in parts, so that no answer has to open it as a whole.
create table output_blocks (
  state_version_id TEXT not null,
  first_position INTEGER not null,
  part INTEGER not null default 0,
  sealed BLOB not null,
  primary key (state_version_id, first_position, part)
);
`
