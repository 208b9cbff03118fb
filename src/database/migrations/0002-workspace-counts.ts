import type { Engine } from '../portable.ts'

const added =
  'insert into workspace_counts values (new.project_id, 1) on conflict do update set count = count + 1'
const removed = 'update workspace_counts set count = count - 1 where project_id = old.project_id'

const trigger = (name: string, statement: string) =>
  `create function ${name}() returns trigger language plpgsql as $$ begin ${statement}; return null; end $$`
/** Changes the rows in the order of their ids, so that two writers wait for each other and end in no deadlock. */
const upsert = (change: string, changed: string) =>
  `insert into workspace_counts as known select project_id, ${change} from ${changed} order by 1 on conflict (project_id) do update set count = known.count + excluded.count`
const moved =
  '(select project_id, 1 as change from new_rows union all select project_id, -1 from old_rows) changes'

const filled =
  'insert into workspace_counts select project_id, count(*) from workspaces group by 1 order by 1'

/**
 * The number of workspaces of each project, kept by triggers. A project without a row has none. On PostgreSQL the
 * triggers come before the first counts: from then on no other transaction can write workspaces.
 */
export const workspaceCounts: Record<Engine, string> = {
  sqlite: `
create table workspace_counts (
  project_id TEXT primary key,
  count INTEGER not null
) without rowid;
create trigger workspace_counts_insert after insert on workspaces begin ${added}; end;
create trigger workspace_counts_delete after delete on workspaces begin ${removed}; end;
create trigger workspace_counts_move after update of project_id on workspaces when old.project_id <> new.project_id begin ${removed}; ${added}; end;
create trigger workspace_counts_end after delete on projects begin delete from workspace_counts where project_id = old.id; end;
${filled};
`,
  // Once for a statement, because a row that one transaction updates a thousand times gets slow.
  postgres: `
create table workspace_counts (
  project_id TEXT primary key references projects (id) on delete cascade,
  count INTEGER not null
) with (fillfactor = 50);
${trigger('workspace_counts_insert', upsert('count(*)', 'changed group by 1'))};
${trigger('workspace_counts_delete', 'update workspace_counts known set count = known.count - ended.count from (select project_id, count(*) from changed group by 1) ended where known.project_id = ended.project_id')};
${trigger('workspace_counts_move', upsert('sum(change)', `${moved} group by 1 having sum(change) <> 0`))};
create trigger workspace_counts_insert after insert on workspaces referencing new table as changed for each statement execute function workspace_counts_insert();
create trigger workspace_counts_delete after delete on workspaces referencing old table as changed for each statement execute function workspace_counts_delete();
create trigger workspace_counts_move after update on workspaces referencing old table as old_rows new table as new_rows for each statement execute function workspace_counts_move();
${filled};
`,
}
