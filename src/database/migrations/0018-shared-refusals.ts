import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'

/** Of each organization, outsiders' refusals share one part. */
export const sharedRefusals: Migration = {
  async up(db) {
    await runScript(db, script)
  },
}

const script = `
alter table refusals add column is_shared INTEGER not null default 0;
update refusals set is_shared = 1 where is_inside = 0 and (organization_id is not null or caller_type <> 'users');
create index refusals_by_part on refusals (organization_id, is_shared, at, number);
`
