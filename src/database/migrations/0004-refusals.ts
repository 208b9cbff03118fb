import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'

/** Why a caller was answered 404: read by owners and site administrators. */
export const refusals: Migration = {
  async up(db) {
    await runScript(db, tables)
  },
}

const tables = `
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
  granted_by TEXT not null
);
create index refusals_by_organization on refusals (organization_id, at, number);
create index refusals_by_time on refusals (at, number);
create index refusals_by_request on refusals (request_id);
`
