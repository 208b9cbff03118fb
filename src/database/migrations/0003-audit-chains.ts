import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'

/**
 * Audit events get a place in the chain of their organization, and each chain a record of where it begins and ends. What
 * is there already is chained by chainOlderEvents, since that takes the secret key.
 */
export const auditChains: Migration = {
  async up(db) {
    await runScript(
      db,
      `
alter table audit_events add column position INTEGER;
alter table audit_events add column mac BLOB;
drop index audit_events_by_organization;
drop index audit_events_by_time;
create index audit_events_by_position on audit_events (organization_id, position);
create index audit_events_by_time on audit_events (organization_id, at, position, action, actor_id, actor_name, resource_type, resource_id, request_id);

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
`,
    )
  },
}
