import type { Engine } from '../portable.ts'

const added =
  'insert into membership_counts values (new.organization_id, 1) on conflict do update set count = count + 1'
const removed = 'update membership_counts set count = count - 1 where organization_id = old.organization_id'

const trigger = (name: string, statement: string) =>
  `create function ${name}() returns trigger language plpgsql as $$ begin ${statement}; return null; end $$`
const people =
  'select organization_id, count(*) as count from changed where is_service_account = 0 group by 1 order by 1'
/** A user may be in many organizations. Their rows are locked in order, so that two deletions end in no deadlock. */
const locked = `select known.organization_id, ended.count from membership_counts known join (${people}) ended on known.organization_id = ended.organization_id order by 1 for update of known`

const filled =
  'insert into membership_counts select organization_id, count(*) from memberships where is_service_account = 0 group by 1 order by 1'

/**
 * The number of people of each organization, kept by triggers, without service accounts. A membership stays in its
 * organization. On PostgreSQL the triggers come before the first counts: from then on no other transaction can write
 * memberships.
 */
export const membershipCounts: Record<Engine, string> = {
  sqlite: `
create table membership_counts (
  organization_id TEXT primary key,
  count INTEGER not null
) without rowid;
create trigger membership_counts_insert after insert on memberships when new.is_service_account = 0 begin ${added}; end;
create trigger membership_counts_delete after delete on memberships when old.is_service_account = 0 begin ${removed}; end;
create trigger membership_counts_end after delete on organizations begin delete from membership_counts where organization_id = old.id; end;
${filled};
`,
  // Once for a statement, because a row that one transaction updates a thousand times gets slow.
  postgres: `
create table membership_counts (
  organization_id TEXT primary key references organizations (id) on delete cascade,
  count INTEGER not null
) with (fillfactor = 50);
${trigger('membership_counts_insert', `insert into membership_counts as known ${people} on conflict (organization_id) do update set count = known.count + excluded.count`)};
${trigger('membership_counts_delete', `with locked as (${locked}) update membership_counts known set count = known.count - locked.count from locked where known.organization_id = locked.organization_id`)};
create trigger membership_counts_insert after insert on memberships referencing new table as changed for each statement execute function membership_counts_insert();
create trigger membership_counts_delete after delete on memberships referencing old table as changed for each statement execute function membership_counts_delete();
${filled};
`,
}
