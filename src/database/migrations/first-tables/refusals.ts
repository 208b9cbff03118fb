/** Why a caller was answered 404. Equal refusals share a row, which counts them. */
export const refusalTables = `
create table refusals (
  number IDENTITY,
  request_id TEXT not null,
  at TEXT not null,
  organization_id TEXT,
  method TEXT not null,
  path TEXT not null,
  permission TEXT,
  reason TEXT not null,
  is_found INTEGER not null,
  object_type TEXT,
  object_id TEXT,
  caller_type TEXT not null,
  caller_id TEXT,
  caller_name TEXT not null,
  is_inside INTEGER not null,
  standing TEXT not null,
  granted_by TEXT not null,
  is_shared INTEGER not null default 0,
  alike TEXT,
  count INTEGER not null default 1,
  first_at TEXT not null default ''
);
create unique index refusals_alike on refusals (alike);
create index refusals_by_organization on refusals (organization_id, at, number);
create index refusals_by_time on refusals (at, number);
create index refusals_by_caller on refusals (organization_id, caller_id, at, number);
create index refusals_by_part on refusals (organization_id, is_shared, at, number);

create table refusal_requests (
  request_id TEXT not null,
  refusal_number INTEGER not null references refusals (number) on delete cascade,
  at TEXT not null,
  primary key (request_id, refusal_number)
);
create index refusal_requests_by_refusal on refusal_requests (refusal_number, at);
`
