import { entriesOf } from '../core/keys.ts'
import type { Tables } from '../database/tables.ts'

// Not backed up: triggers fill the first four when teams, workspaces and memberships are inserted. Sessions, links and codes that have
// ended since must not work again after a restore, so people sign in anew.
export type TableName = Exclude<
  keyof Tables,
  | 'team_name_blocks'
  | 'workspace_versions'
  | 'workspace_counts'
  | 'membership_counts'
  | 'sessions'
  | 'password_links'
  | 'login_codes'
>

/** The key of each table. Rows are read in this order, and the next page starts after the last key. */
export const keyOfTable: Readonly<Record<TableName, readonly string[]>> = {
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
}

/** All tables, in an order in which foreign keys point only to earlier ones. */
export const backedUpTables = entriesOf(keyOfTable)

/** Tables whose rows may have up to 1 MiB; rows of other tables are small. */
const largeRows: readonly TableName[] = ['state_chunks', 'output_blocks']

export function rowsAtOnce(table: string): number {
  return largeRows.some((large) => large === table) ? 8 : 500
}

/** Tables with a key that the engine generates. */
export const countedTables = backedUpTables.filter(([, key]) => key[0] === 'number').map(([table]) => table)
