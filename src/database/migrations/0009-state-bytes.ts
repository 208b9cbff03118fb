import type { Engine } from '../portable.ts'

const tables = ['state_chunks', 'output_blocks']

/** A script is split where a line ends with a semicolon. */
const oneLine = (text: string) => text.trim().replace(/\s+/g, ' ')

/** The organization of the changed row: of its version, or as an earlier row of a version that is deleted was counted. */
const sqliteAdded = oneLine(`
  insert into state_version_bytes
    select new.state_version_id, organization_id, length(new.sealed) from (
      select organization_id from state_versions where id = new.state_version_id
      union all select organization_id from state_version_bytes where state_version_id = new.state_version_id
    ) where true limit 1
    on conflict do update set bytes = bytes + excluded.bytes;
  insert into organization_bytes
    select organization_id, length(new.sealed) from state_version_bytes where state_version_id = new.state_version_id
    on conflict do update set bytes = bytes + excluded.bytes;`)

const sqliteRemoved = oneLine(`
  update organization_bytes set bytes = bytes - length(old.sealed) where organization_id =
    (select organization_id from state_version_bytes where state_version_id = old.state_version_id);
  delete from organization_bytes where bytes <= 0 and organization_id =
    (select organization_id from state_version_bytes where state_version_id = old.state_version_id);
  update state_version_bytes set bytes = bytes - length(old.sealed) where state_version_id = old.state_version_id;
  delete from state_version_bytes where state_version_id = old.state_version_id and bytes <= 0;`)

const sqliteTriggers = tables
  .map(
    (table) => `
create trigger ${table}_bytes_insert after insert on ${table} begin ${sqliteAdded} end;
create trigger ${table}_bytes_delete after delete on ${table} begin ${sqliteRemoved} end;`,
  )
  .join('')

const postgresAdded = oneLine(`
  with added as (
    select changed.state_version_id, coalesce(versions.organization_id, known.organization_id) as organization_id,
      sum(octet_length(changed.sealed)) as bytes
    from changed
    left join state_versions versions on versions.id = changed.state_version_id
    left join state_version_bytes known on known.state_version_id = changed.state_version_id
    group by 1, 2 having coalesce(versions.organization_id, known.organization_id) is not null order by 1
  ), by_version as (
    insert into state_version_bytes as known select * from added
    on conflict (state_version_id) do update set bytes = known.bytes + excluded.bytes
  )
  insert into organization_bytes as known select organization_id, sum(bytes) from added group by 1 order by 1
  on conflict (organization_id) do update set bytes = known.bytes + excluded.bytes;`)

const postgresRemoved = oneLine(`
  with ended as (
    select state_version_id, organization_id, sum(octet_length(changed.sealed)) as bytes
    from changed join state_version_bytes known using (state_version_id) group by 1, 2 order by 1
  ), by_version as (
    update state_version_bytes known set bytes = known.bytes - ended.bytes from ended
    where known.state_version_id = ended.state_version_id
  )
  update organization_bytes known set bytes = known.bytes - ended.bytes
  from (select organization_id, sum(bytes) as bytes from ended group by 1) ended
  where known.organization_id = ended.organization_id;
  delete from organization_bytes where bytes <= 0 and organization_id in
    (select organization_id from changed join state_version_bytes using (state_version_id));
  delete from state_version_bytes where bytes <= 0 and state_version_id in (select state_version_id from changed);`)

const postgresFunction = (name: string, statements: string) => `
create function ${name}() returns trigger language plpgsql as $$ begin ${statements} return null; end $$;`
const postgresFunctions = `${postgresFunction('state_bytes_insert', postgresAdded)}${postgresFunction('state_bytes_delete', postgresRemoved)}`

const postgresTriggers = tables
  .map(
    (table) => `
create trigger ${table}_bytes_insert after insert on ${table} referencing new table as changed for each statement execute function state_bytes_insert();
create trigger ${table}_bytes_delete after delete on ${table} referencing old table as changed for each statement execute function state_bytes_delete();`,
  )
  .join('')

const filled = (length: string) => `
insert into state_version_bytes
  select state_version_id, organization_id, sum(bytes) from (
    select state_version_id, ${length}(sealed) as bytes from state_chunks
    union all select state_version_id, ${length}(sealed) from output_blocks
  ) pieces join state_versions on state_versions.id = state_version_id group by 1, 2;
insert into organization_bytes select organization_id, sum(bytes) from state_version_bytes group by 1;`

/**
 * The bytes that states and outputs take, as they are stored: compressed and encrypted, with those that wait for their
 * upload or for the sweep. Triggers keep them. A row for each version remembers the organization of pieces that outlive
 * their version. On PostgreSQL the triggers come before the first counts: from then on no other transaction can write states.
 */
export const stateBytes: Record<Engine, string> = {
  sqlite: `
create table state_version_bytes (
  state_version_id TEXT primary key,
  organization_id TEXT not null,
  bytes INTEGER not null
) without rowid;
create table organization_bytes (
  organization_id TEXT primary key,
  bytes INTEGER not null
) without rowid;${sqliteTriggers}${filled('length')}
`,
  postgres: `
create table state_version_bytes (
  state_version_id TEXT primary key,
  organization_id TEXT not null,
  bytes INTEGER not null
) with (fillfactor = 50);
create table organization_bytes (
  organization_id TEXT primary key,
  bytes INTEGER not null
) with (fillfactor = 50);${postgresFunctions}${postgresTriggers}${filled('octet_length')}
`,
}
