/** The audit trail. Each organization has a chain of events. */
export const auditTables = `
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
  details TEXT not null,
  position INTEGER,
  mac BLOB
);
create index audit_events_by_position on audit_events (organization_id, position);
create index audit_events_by_time on audit_events (organization_id, at, position, action, actor_id, actor_name, resource_type, resource_id, request_id);

-- Where the chain of each organization begins and ends.
create table audit_chains (
  organization_id TEXT primary key,
  position INTEGER not null,
  at TEXT not null,
  link BLOB not null,
  start_position INTEGER not null,
  start BLOB not null,
  oldest_at TEXT
);
create index audit_chains_by_age on audit_chains (oldest_at);
`
