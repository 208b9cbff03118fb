import type { Engine } from '../portable.ts'

const names = [
  'team_names_insert',
  'team_names_delete',
  'team_names_update',
  'workspace_versions_insert',
  'workspace_versions_delete',
  'workspace_versions_of_organizations',
  'workspace_versions_of_tags',
  'workspace_versions_of_row',
]
// A cast to regnamespace would read the name of the schema as an identifier: "Purser" as purser.
const schema = '(select oid from pg_namespace where nspname = current_schema())'
const theirs = `proname in (${names.map((name) => `'${name}'`).join(', ')}) and pronamespace = ${schema}`
const replaced = `replace(pg_get_functiondef(known), 'version + 1', 'version + 1 + floor(random() * 1000000)::bigint')`

/**
 * The versions that triggers raise rise by a random step on PostgreSQL, as those of `nextVersion` do. SQLite keeps steps of
 * one.
 */
export const versionSteps: Record<Engine, string> = {
  sqlite: '',
  postgres: `do $$ declare known oid; begin for known in select oid from pg_proc where ${theirs} loop execute ${replaced}; end loop; end $$;`,
}
