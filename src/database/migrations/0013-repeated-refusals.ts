import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'

/** Refusals that are alike are one row, which counts them; the ids of the newest of them are kept beside it. */
export const repeatedRefusals: Migration = {
  async up(db) {
    await runScript(db, tables)
  },
}

const tables = `
alter table refusals add column alike TEXT;
alter table refusals add column count INTEGER not null default 1;
alter table refusals add column first_at TEXT not null default '';
update refusals set first_at = at;
create unique index refusals_alike on refusals (alike);
create index refusals_by_caller on refusals (organization_id, caller_id, at, number);
create table refusal_requests (
  request_id TEXT not null,
  refusal_number INTEGER not null references refusals (number) on delete cascade,
  at TEXT not null,
  primary key (request_id, refusal_number)
);
create index refusal_requests_by_refusal on refusal_requests (refusal_number, at);
insert into refusal_requests (request_id, refusal_number, at) select request_id, number, at from refusals;
drop index refusals_by_request;
`
