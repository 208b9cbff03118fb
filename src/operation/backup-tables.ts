import type { Tables } from '../database/tables.ts'

// Blocks of names come of themselves with the teams, versions with the workspaces.
type TableName = Exclude<keyof Tables, 'team_name_blocks' | 'workspace_versions'>

/** The key of each table: the order in which its rows are read, and in which they can be read on. */
const keysOf = {
  meta: ['key'],
  users: ['id'],
  organizations: ['id'],
  memberships: ['id'],
  teams: ['number'],
  team_members: ['team_id', 'user_id'],
  authentication_tokens: ['id'],
  projects: ['id'],
  workspaces: ['id'],
  workspace_tags: ['workspace_id', 'tag_id'],
  tags: ['id'],
  deleted_tags: ['id'],
  tag_bindings: ['id'],
  remote_state_consumers: ['workspace_id', 'consumer_id'],
  team_workspaces: ['id'],
  team_projects: ['id'],
  state_versions: ['id'],
  state_chunks: ['state_version_id', 'kind', 'upload_id', 'number'],
  output_blocks: ['state_version_id', 'first_position', 'part'],
  audit_events: ['number'],
  refusals: ['number'],
  refusal_requests: ['request_id', 'refusal_number'],
  audit_chains: ['organization_id'],
} satisfies Record<TableName, readonly string[]>

/** Every table, those that others refer to first. */
export const backedUpTables = Object.entries(keysOf) as readonly [TableName, readonly string[]][]

/** Rows of these hold up to a mebibyte, of the others little. */
const largeRows: readonly TableName[] = ['state_chunks', 'output_blocks']

export function rowsAtOnce(table: string): number {
  return (largeRows as readonly string[]).includes(table) ? 8 : 500
}

/** Tables whose key the engine counts up by itself. */
export const countedTables = backedUpTables.filter(([, key]) => key[0] === 'number').map(([table]) => table)
