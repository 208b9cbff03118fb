import type { Generated } from 'kysely'
import type { AuditChainTable, AuditEventTable } from './audit-tables.ts'
import type { CountTables } from './count-tables.ts'
import type { RefusalRequestTable, RefusalTable } from './refusal-table.ts'
import type { PasswordLinkTable, LoginCodeTable, SessionTable, TokenOriginTable } from './session-tables.ts'
import type {
  RemoteStateConsumerTable,
  TagBindingTable,
  DeletedTagTable,
  TagTable,
  WorkspaceTagTable,
} from './tag-tables.ts'

/** 0 or 1: the engines' boolean types are not compatible. */
export type Flag = 0 | 1

/** The tables as both engines have them. Times are text (UTC, milliseconds, `Z`), ids are text with a prefix. */
export type Tables = CountTables & {
  meta: { key: string; value: string }
  organizations: OrganizationTable
  users: UserTable
  memberships: MembershipTable
  teams: TeamTable
  team_members: TeamMemberTable
  team_name_blocks: TeamNameBlockTable
  authentication_tokens: AuthenticationTokenTable
  token_origins: TokenOriginTable
  sessions: SessionTable
  password_links: PasswordLinkTable
  login_codes: LoginCodeTable
  projects: ProjectTable
  workspaces: WorkspaceTable
  workspace_tags: WorkspaceTagTable
  deleted_tags: DeletedTagTable
  tags: TagTable
  tag_bindings: TagBindingTable
  remote_state_consumers: RemoteStateConsumerTable
  team_workspaces: TeamWorkspaceTable
  team_projects: TeamProjectTable
  state_versions: StateVersionTable
  state_chunks: StateChunkTable
  output_blocks: OutputBlockTable
  audit_events: AuditEventTable
  refusals: RefusalTable
  refusal_requests: RefusalRequestTable
  audit_chains: AuditChainTable
}

export type OrganizationTable = {
  id: string
  name: string
  email: string
  /** Increases in every transaction that changes access rights in the organization or one of its team documents. */
  version: Generated<number>
  teams_count: Generated<number>
  /** Teams with visibility "organization". A plain member's list gets its total from here, without counting. */
  visible_teams_count: Generated<number>
  delegated_team_management: Generated<Flag>
  default_project_id: string
  owners_team_id: string
  /** JSON object of attributes that are stored and returned but have no effect. */
  settings: string
  created_at: string
  updated_at: string
  /** 0: user tokens are refused in this organization; team and organization tokens still work. */
  user_tokens_enabled: Generated<Flag>
  /** 1: the next four limit the lifetime of tokens; null in one of them means two years. */
  max_ttl_enabled: Generated<Flag>
  max_ttl_user_ms: Generated<number | null>
  max_ttl_team_ms: Generated<number | null>
  max_ttl_organization_ms: Generated<number | null>
  max_ttl_audit_trails_ms: Generated<number | null>
  /** Set once the organization is deleted for everyone. Its data is then deleted in slices. */
  deleted_at: Generated<string | null>
}

export type UserTable = {
  id: string
  /** Null for a person who was invited by email and has no account yet. */
  username: string | null
  /** Lower case, so that names are unique regardless of case. */
  username_key: string | null
  email: string | null
  email_key: string | null
  password_hash: string | null
  is_site_admin: Generated<Flag>
  is_service_account: Generated<Flag>
  is_suspended: Generated<Flag>
  created_at: string
}

export type MembershipTable = {
  id: string
  organization_id: string
  user_id: string
  status: 'active' | 'invited'
  /** 1 for a team's service account: shown in the team's documents, not in the organization's list. */
  is_service_account: Generated<Flag>
  created_at: string
  /** The address exactly as in the invitation. */
  invited_email: Generated<string | null>
}

export type TeamTable = {
  /** Row number, which the search index refers to. */
  number: Generated<number>
  id: string
  organization_id: string
  name: string
  sso_team_id: string | null
  visibility: 'secret' | 'organization'
  /** Bit set of the flags in teams/organization-access.ts, in that order. */
  organization_access: number
  allow_member_token_management: Flag
  is_owners: Generated<Flag>
  /** Number of active members, for the attribute users-count. */
  users_count: Generated<number>
  service_account_id: string | null
  /** Increases with every change of the team's document. */
  version: Generated<number>
  created_at: string
  updated_at: string
}

/** Kept by triggers: a block of the organization's teams by number (see portable.ts for its size); -1: all its teams. */
type TeamNameBlockTable = {
  organization_id: string
  number: number
  /** Increases when the block's members, a name or a visibility change. */
  version: number
}

export type TeamMemberTable = {
  team_id: string
  membership_id: string
  user_id: string
  organization_id: string
  /** Whether the membership is active. Copied here so that hot reads need no join. */
  is_active: Flag
}

export type AuthenticationTokenTable = {
  id: string
  /** SHA-256 of the token's text, in hexadecimal. The text itself is not stored. */
  hash: string
  kind: 'user' | 'team' | 'organization' | 'audit-trails'
  /** The user that the token acts as: for a team's token the service account. Null for an organization's token. */
  user_id: string | null
  team_id: string | null
  /** Set for team and organization tokens. */
  organization_id: string | null
  /** 1 for the single token of `…/authentication-token`; there may be any number of described tokens beside it. */
  is_single: Generated<Flag>
  description: string | null
  created_by_id: string | null
  created_at: string
  /** For a user's token that was made with another token: the start of its age. Null: created_at. */
  age_since: string | null
  expires_at: string
  last_used_at: string | null
}

export type ProjectTable = {
  id: string
  organization_id: string
  name: string
  description: string | null
  settings: string
  created_at: string
  updated_at: string
}

export type WorkspaceTable = {
  id: string
  organization_id: string
  project_id: string
  name: string
  description: string | null
  terraform_version: string
  /** Id of the user or team that holds the lock; null if unlocked. */
  locked_by_id: string | null
  locked_by_kind: 'users' | 'teams' | null
  lock_reason: string | null
  /** The newest finalized state version. */
  current_state_version_id: string | null
  /** JSON object of attributes that are stored and returned but have no effect. */
  settings: string
  created_at: string
  updated_at: string
}

export type TeamWorkspaceTable = {
  id: string
  organization_id: string
  team_id: string
  workspace_id: string
  access: 'read' | 'plan' | 'write' | 'admin' | 'custom'
  runs: 'read' | 'plan' | 'apply'
  variables: 'none' | 'read' | 'write'
  state_versions: 'none' | 'read-outputs' | 'read' | 'write'
  sentinel_mocks: 'none' | 'read'
  workspace_locking: Flag
  run_tasks: Flag
  policy_overrides: Flag
  created_at: string
}

export type TeamProjectTable = {
  id: string
  organization_id: string
  team_id: string
  project_id: string
  access: 'read' | 'write' | 'maintain' | 'admin' | 'custom'
  /** The effective rights on the project's workspaces, for fixed access levels too. */
  state_versions: 'none' | 'read-outputs' | 'read' | 'write'
  workspace_locking: Flag
  workspace_create: Flag
  /** JSON objects of all detailed rights, as documents show them. */
  project_access: string
  workspace_access: string
  created_at: string
}

export type StateVersionTable = {
  id: string
  workspace_id: string
  /** Position among the workspace's versions, in order of creation. */
  number: number
  organization_id: string
  /** Eleven characters at the start of the id of each of its outputs. */
  output_key: string
  serial: number
  md5: string
  lineage: string | null
  status:
    | 'pending'
    | 'finalized'
    | 'discarded'
    | 'backing_data_soft_deleted'
    | 'backing_data_permanently_deleted'
  /** 1 once the outputs are readable. */
  resources_processed: Generated<Flag>
  /** Bytes of the state file; 0 while pending. */
  size: Generated<number>
  state_format: number | null
  terraform_version: string | null
  outputs_count: Generated<number>
  /** Null while pending and for encrypted states. */
  resources_count: number | null
  /** Null as resources_count. Data resources do not count. */
  managed_resources_count: Generated<number | null>
  /** 1 for a snapshot: unlocking the workspace makes it current, unless there is a newer version by then. */
  is_intermediate: Generated<Flag>
  /** The data key of its chunks and output blocks, wrapped with the server's secret key. */
  wrapped_key: Uint8Array
  created_by_id: string | null
  created_by_kind: 'users' | 'teams' | null
  run_id: string | null
  /** The lock holder at creation. An upload after the lock has changed hands is refused. */
  lock_holder_id: string | null
  /** Number of outputs sent as json-state-outputs; they are in output_blocks while the version is pending. */
  given_outputs_count: number | null
  /** The upload whose chunks are the content. Other uploads are swept. */
  upload_id: string | null
  json_upload_id: string | null
  json_md5: string | null
  /**
   * End of the current lease: for processing outputs or, with status discarded, for writing content. Then the attempts.
   */
  lease_until: string | null
  attempts: Generated<number>
  last_failure: string | null
  created_at: string
  finalized_at: string | null
  /** Since when the content is soft-deleted: not readable, but it can be restored. */
  soft_deleted_at: Generated<string | null>
  /** The version that this one was rolled back to. */
  rollback_of_id: Generated<string | null>
}

type StateChunkTable = {
  state_version_id: string
  /** Id of one upload attempt. Chunks of unfinished attempts are swept. */
  upload_id: string
  kind: 'state' | 'json-state'
  number: number
  sealed: Uint8Array
}

type OutputBlockTable = {
  state_version_id: string
  first_position: number
  /** 0: a block of outputs. From 1 on: one part of the texts of the large output at this position. */
  part: Generated<number>
  sealed: Uint8Array
}
