import { keysOf } from '../core/keys.ts'
import type { Tables } from './tables.ts'

/**
 * All tables that requests use, in an order in which foreign keys point only to earlier ones, with the columns of their keys.
 * A backup and a move read the rows in the order of the key. They leave out a table with null: triggers fill it, or what it
 * holds must not work again after a restore.
 */
export const tableKeys = {
  meta: ['key'],
  users: ['id'],
  organizations: ['id'],
  memberships: ['id'],
  membership_counts: null,
  teams: ['number'],
  team_members: ['team_id', 'user_id'],
  team_name_blocks: null,
  authentication_tokens: ['id'],
  token_origins: ['token_id', 'user_id'],
  // People sign in anew: a session, link or code that has ended since would come back.
  sessions: null,
  password_links: null,
  login_codes: null,
  projects: ['id'],
  project_counts: null,
  workspaces: ['id'],
  workspace_tags: ['workspace_id', 'tag_id'],
  workspace_versions: null,
  workspace_counts: null,
  tags: ['id'],
  deleted_tags: ['id'],
  tag_bindings: ['id'],
  remote_state_consumers: ['workspace_id', 'consumer_id'],
  team_workspaces: ['id'],
  team_projects: ['id'],
  state_versions: ['id'],
  state_chunks: ['state_version_id', 'kind', 'upload_id', 'number'],
  state_version_bytes: null,
  organization_bytes: null,
  output_blocks: ['state_version_id', 'first_position', 'part'],
  audit_events: ['number'],
  refusals: ['number'],
  refusal_requests: ['request_id', 'refusal_number'],
  audit_chains: ['organization_id'],
} satisfies Record<keyof Tables, string[] | null>

export const tableNames = keysOf(tableKeys)
