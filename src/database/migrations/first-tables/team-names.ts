import type { Engine } from '../../portable.ts'

const changed = 'update team_name_blocks set version = version + 1'
const blocksOf = (row: 'old' | 'new') =>
  `where organization_id = ${row}.organization_id and number in (-1, ${row}.number / 1024)`

/**
 * How teams are found by a part of their name. PostgreSQL has an index for that. SQLite searches in memory, in blocks of
 * 1024 neighbours. Each block has a version, which is the cache key of its search data. Block -1 stands for the whole
 * organization.
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
  postgres: `
create extension if not exists pg_trgm;
create index teams_by_name_part on teams using gin (lower(name) gin_trgm_ops);
`,
}
