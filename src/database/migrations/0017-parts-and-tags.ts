import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'

/**
 * An output that is larger than a block lies in several rows: so none has to be read, opened or written as a whole. And a
 * workspace has tags by their ids, so that a tag is gone with its own row, however many workspaces have it.
 */
export const partsAndTags: Migration = {
  async up(db) {
    await runScript(db, script)
  },
}

const script = `
alter table output_blocks rename to whole_output_blocks;
create table output_blocks (
  state_version_id TEXT not null,
  first_position INTEGER not null,
  part INTEGER not null default 0,
  sealed BLOB not null,
  constraint output_blocks_key primary key (state_version_id, first_position, part)
);
insert into output_blocks (state_version_id, first_position, sealed) select state_version_id, first_position, sealed from whole_output_blocks;
drop table whole_output_blocks;

alter table workspace_tags rename to named_workspace_tags;
create table workspace_tags (
  workspace_id TEXT not null references workspaces (id) on delete cascade,
  tag_id TEXT not null,
  constraint workspace_tags_key primary key (workspace_id, tag_id)
);
insert into workspace_tags (workspace_id, tag_id) select named.workspace_id, tags.id from named_workspace_tags as named
  inner join tags on tags.organization_id = named.organization_id and tags.name = named.name;
drop table named_workspace_tags;
create index workspace_tags_by_tag on workspace_tags (tag_id, workspace_id);

-- Of somebody who is in very many teams, these are read some at a time.
drop index team_members_by_membership;
create index team_members_by_membership on team_members (membership_id, team_id);

-- Tags that are gone, and of which rows of workspace_tags may be left.
create table deleted_tags (id TEXT primary key);

WORKSPACE_TAG_VERSIONS
`
