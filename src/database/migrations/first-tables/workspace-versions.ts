import type { Engine } from '../../portable.ts'

const changed = 'update workspace_versions set version = version + 1'
const of = (organizationId: string) => `where organization_id = ${organizationId}`
const ofWorkspace = (workspaceId: string) =>
  of(`(select organization_id from workspaces where id = ${workspaceId})`)

/**
 * On SQLite each organization has a version that grows with every change of a workspace document, and the number of its
 * workspaces. Both are in the cache keys of list pages. Rows left of a deleted tag change no document.
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
  postgres: '',
}
