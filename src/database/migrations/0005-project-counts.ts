import type { Engine } from '../portable.ts'

const added =
  'insert into project_counts values (new.organization_id, 1) on conflict do update set count = count + 1'
const removed = 'update project_counts set count = count - 1 where organization_id = old.organization_id'

const trigger = (name: string, statement: string) =>
  `create function ${name}() returns trigger language plpgsql as $$ begin ${statement}; return null; end $$`
const changes = 'select organization_id, count(*) as count from changed group by 1 order by 1'

const filled =
  'insert into project_counts select organization_id, count(*) from projects group by 1 order by 1'

/**
 * The number of projects of each organization, kept by triggers. A project stays in its organization. On PostgreSQL the
 * triggers come before the first counts: from then on no other transaction can write projects.
 */
export const projectCounts: Record<Engine, string> = {
  sqlite: `
create table project_counts (
  organization_id TEXT primary key,
  count INTEGER not null
) without rowid;
create trigger project_counts_insert after insert on projects begin ${added}; end;
create trigger project_counts_delete after delete on projects begin ${removed}; end;
create trigger project_counts_end after delete on organizations begin delete from project_counts where organization_id = old.id; end;
${filled};
`,
  // Once for a statement, because a row that one transaction updates a thousand times gets slow.
  postgres: `
create table project_counts (
  organization_id TEXT primary key references organizations (id) on delete cascade,
  count INTEGER not null
) with (fillfactor = 50);
${trigger('project_counts_insert', `insert into project_counts as known ${changes} on conflict (organization_id) do update set count = known.count + excluded.count`)};
${trigger('project_counts_delete', `update project_counts known set count = known.count - ended.count from (${changes}) ended where known.organization_id = ended.organization_id`)};
create trigger project_counts_insert after insert on projects referencing new table as changed for each statement execute function project_counts_insert();
create trigger project_counts_delete after delete on projects referencing old table as changed for each statement execute function project_counts_delete();
${filled};
`,
}
