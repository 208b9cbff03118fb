import { keysOf } from '../core/keys.ts'
import type { Tables } from './tables.ts'

const tables = {
  meta: true,
  organizations: true,
  users: true,
  memberships: true,
  membership_counts: true,
  teams: true,
  team_members: true,
  team_name_blocks: true,
  authentication_tokens: true,
  sessions: true,
  password_links: true,
  login_codes: true,
  projects: true,
  workspaces: true,
  workspace_tags: true,
  deleted_tags: true,
  workspace_versions: true,
  workspace_counts: true,
  tags: true,
  tag_bindings: true,
  remote_state_consumers: true,
  team_workspaces: true,
  team_projects: true,
  state_versions: true,
  state_chunks: true,
  output_blocks: true,
  audit_events: true,
  refusals: true,
  refusal_requests: true,
  audit_chains: true,
} satisfies Record<keyof Tables, true>

/** All tables that requests use. */
export const tableNames = keysOf(tables)
