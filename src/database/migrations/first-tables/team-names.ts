import type { Engine } from '../../portable.ts'

const changed = 'update team_name_blocks set version = version + 1'
const blocksOf = (row: 'old' | 'new') =>
  `where organization_id = ${row}.organization_id and number in (-1, ${row}.number / 1024)`
const blocks = 'cross join lateral (values (-1), (number / 1024)) block (place)'

/**
 * Teams are found by a part of their name in memory, in blocks of 1024 neighbours. Each block has a version, which is the
 * cache key of its search data. Block -1 stands for the whole organization.
 */
export const teamNameSearch: Record<Engine, string> = {
  sqlite: `
create table team_name_blocks (
  organization_id TEXT not null,
  number INTEGER not null,
  version INTEGER not null,
  primary key (organization_id, number)
) without rowid;
create trigger team_names_insert after insert on teams begin insert into team_name_blocks values (new.organization_id, new.number / 1024, 1), (new.organization_id, -1, 1) on conflict do update set version = version + 1; end;
create trigger team_names_delete after delete on teams begin ${changed} ${blocksOf('old')}; end;
create trigger team_names_update after update of name, visibility on teams when old.name <> new.name or old.visibility <> new.visibility begin ${changed} ${blocksOf('new')}; end;
create trigger team_names_end after delete on organizations begin delete from team_name_blocks where organization_id = old.id; end;
`,
  // A trigger for each statement counts a thousand inserted or deleted teams as one change: a row that one transaction
  // updates a thousand times gets slow.
  postgres: `
create table team_name_blocks (
  organization_id TEXT not null references organizations (id) on delete cascade,
  number INTEGER not null,
  version INTEGER not null,
  primary key (organization_id, number)
) with (fillfactor = 50);
create function team_names_insert() returns trigger language plpgsql as $$ begin insert into team_name_blocks as known select distinct organization_id, place, 1 from changed ${blocks} order by 1, 2 on conflict (organization_id, number) do update set version = known.version + 1; return null; end $$;
create function team_names_delete() returns trigger language plpgsql as $$ begin update team_name_blocks known set version = version + 1 from (select distinct organization_id, place from changed ${blocks}) ended where known.organization_id = ended.organization_id and known.number = ended.place; return null; end $$;
create function team_names_update() returns trigger language plpgsql as $$ begin ${changed} ${blocksOf('new')}; return null; end $$;
create trigger team_names_insert after insert on teams referencing new table as changed for each statement execute function team_names_insert();
create trigger team_names_delete after delete on teams referencing old table as changed for each statement execute function team_names_delete();
create trigger team_names_update after update of name, visibility on teams for each row when (old.name <> new.name or old.visibility <> new.visibility) execute function team_names_update();
`,
}
