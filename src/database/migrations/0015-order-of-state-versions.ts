import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'

/** State versions of a workspace are numbered as they are made: a clock that is set back does not change their order. */
export const orderOfStateVersions: Migration = {
  async up(db) {
    await runScript(db, script)
  },
}

const script = `
alter table state_versions add column number INTEGER not null default 0;
update state_versions set number = numbered.number from (
  select id, row_number() over (partition by workspace_id order by created_at, id) as number from state_versions
) as numbered where numbered.id = state_versions.id;
drop index state_versions_by_workspace;
create unique index state_versions_by_workspace on state_versions (workspace_id, number);
drop index state_versions_intermediate;
create index state_versions_intermediate on state_versions (workspace_id, number) where is_intermediate = 1;
`
