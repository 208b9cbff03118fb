import type { Engine } from '../../portable.ts'

const changed = 'update workspace_versions set version = version + 1'
const of = (organizationId: string) => `where organization_id = ${organizationId}`
const ofWorkspace = (workspaceId: string) =>
  of(`(select organization_id from workspaces where id = ${workspaceId})`)

const counted = `update workspace_versions known set version = version + 1`
/** A function for triggers of PostgreSQL. Its statement stands on one line, as runScript wants it. */
const trigger = (name: string, statement: string) =>
  `create function ${name}() returns trigger language plpgsql as $$ begin ${statement}; return null; end $$`
const inserted = 'referencing new table as changed for each statement'
const deleted = 'referencing old table as changed for each statement'

/**
 * Each organization has a version that grows with every change of a workspace document, and the number of its workspaces.
 * Both are in the cache keys of list pages. Rows left of a deleted tag change no document. On PostgreSQL most triggers run
 * once for a statement, because a row that one transaction updates a thousand times gets slow.
 */
export const workspaceVersions: Record<Engine, string> = {
  sqlite: `
create table workspace_versions (
  organization_id TEXT primary key,
  version INTEGER not null,
  count INTEGER not null
) without rowid;
create trigger workspace_versions_insert after insert on workspaces begin insert into workspace_versions values (new.organization_id, 1, 1) on conflict do update set version = version + 1, count = count + 1; end;
create trigger workspace_versions_delete after delete on workspaces begin ${changed}, count = count - 1 ${of('old.organization_id')}; end;
create trigger workspace_versions_update after update on workspaces begin ${changed} ${of('new.organization_id')}; end;
create trigger workspace_versions_tag after insert on workspace_tags begin ${changed} ${ofWorkspace('new.workspace_id')}; end;
create trigger workspace_versions_untag after delete on workspace_tags when exists (select 1 from tags where id = old.tag_id) begin ${changed} ${ofWorkspace('old.workspace_id')}; end;
create trigger workspace_versions_tags after delete on tags begin ${changed} ${of('old.organization_id')}; end;
create trigger workspace_versions_state after update of resources_count on state_versions when old.resources_count is not new.resources_count begin ${changed} ${of('new.organization_id')}; end;
create trigger workspace_versions_project after update of settings on projects when old.settings <> new.settings begin ${changed} ${of('new.organization_id')}; end;
create trigger workspace_versions_end after delete on organizations begin delete from workspace_versions where organization_id = old.id; end;
`,
  postgres: `
create table workspace_versions (
  organization_id TEXT primary key references organizations (id) on delete cascade,
  version INTEGER not null,
  count INTEGER not null
) with (fillfactor = 50);
${trigger('workspace_versions_insert', 'insert into workspace_versions as known select organization_id, 1, count(*) from changed group by 1 order by 1 on conflict (organization_id) do update set version = known.version + 1, count = known.count + excluded.count')};
${trigger('workspace_versions_delete', `update workspace_versions known set version = version + 1, count = known.count - ended.count from (select organization_id, count(*) from changed group by 1) ended where known.organization_id = ended.organization_id`)};
${trigger('workspace_versions_of_organizations', `${counted} where organization_id in (select organization_id from changed)`)};
${trigger('workspace_versions_of_tags', `${counted} where organization_id in (select workspaces.organization_id from changed join tags on tags.id = changed.tag_id join workspaces on workspaces.id = changed.workspace_id)`)};
${trigger('workspace_versions_of_row', `${changed} ${of('new.organization_id')}`)};
create trigger workspace_versions_insert after insert on workspaces ${inserted} execute function workspace_versions_insert();
create trigger workspace_versions_delete after delete on workspaces ${deleted} execute function workspace_versions_delete();
create trigger workspace_versions_update after update on workspaces ${inserted} execute function workspace_versions_of_organizations();
create trigger workspace_versions_tag after insert on workspace_tags ${inserted} execute function workspace_versions_of_tags();
create trigger workspace_versions_untag after delete on workspace_tags ${deleted} execute function workspace_versions_of_tags();
create trigger workspace_versions_tags after delete on tags ${deleted} execute function workspace_versions_of_organizations();
create trigger workspace_versions_state after update of resources_count on state_versions for each row when (old.resources_count is distinct from new.resources_count) execute function workspace_versions_of_row();
create trigger workspace_versions_project after update of settings on projects for each row when (old.settings <> new.settings) execute function workspace_versions_of_row();
`,
}
