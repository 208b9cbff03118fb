import type { Generated } from 'kysely'
import type { AuditChainTable, AuditEventTable } from './audit-tables.ts'
import type { RefusalRequestTable, RefusalTable } from './refusal-table.ts'
import type {
  RemoteStateConsumerTable,
  TagBindingTable,
  DeletedTagTable,
  TagTable,
  WorkspaceTagTable,
  WorkspaceVersionTable,
} from './tag-tables.ts'

/** 0 or 1: neither engine's boolean travels well to the other. */
export type Flag = 0 | 1

/** The tables as both engines have them. Times are text (UTC, milliseconds, `Z`), ids text with their prefix. */
export type Tables = {
  meta: MetaTable
  organizations: OrganizationTable
  users: UserTable
  memberships: MembershipTable
  teams: TeamTable
  team_members: TeamMemberTable
  team_name_blocks: TeamNameBlockTable
  authentication_tokens: AuthenticationTokenTable
  projects: ProjectTable
  workspaces: WorkspaceTable
  workspace_tags: WorkspaceTagTable
  deleted_tags: DeletedTagTable
  workspace_versions: WorkspaceVersionTable
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

export type MetaTable = { key: string; value: string }

export type OrganizationTable = {
  id: string
  name: string
  email: string
  /** Grows in every transaction that changes who may do what in the organization, or one of its team documents. */
  version: Generated<number>
  teams_count: Generated<number>
  /** Teams with visibility "organization": a plain member's total without counting them. */
  visible_teams_count: Generated<number>
  delegated_team_management: Generated<Flag>
  default_project_id: string
  owners_team_id: string
  /** JSON object of the attributes that are kept and echoed, and rule nothing. */
  settings: string
  created_at: string
  updated_at: string
  /** 0: users' tokens are refused here, teams' and the organization's own go on. */
  user_tokens_enabled: Generated<Flag>
  /** 1: tokens live no longer than the next four say; null there is two years. */
  max_ttl_enabled: Generated<Flag>
  max_ttl_user_ms: Generated<number | null>
  max_ttl_team_ms: Generated<number | null>
  max_ttl_organization_ms: Generated<number | null>
  max_ttl_audit_trails_ms: Generated<number | null>
  /** Deleted for everyone; what it held is being deleted in slices. */
  deleted_at: Generated<string | null>
}

export type UserTable = {
  id: string
  /** Null for someone who was invited by email and has no account yet. */
  username: string | null
  /** Lower case, for uniqueness without case. */
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
  /** 1 for a team's service account: in the team's documents, not in the organization's list. */
  is_service_account: Generated<Flag>
  created_at: string
  /** As it was written in the invitation. */
  invited_email: Generated<string | null>
}

export type TeamTable = {
  /** Row number: what the search index points to. */
  number: Generated<number>
  id: string
  organization_id: string
  name: string
  sso_team_id: string | null
  visibility: 'secret' | 'organization'
  /** Bit set over the flags of teams/organization-access.ts, in that order. */
  organization_access: number
  allow_member_token_management: Flag
  is_owners: Generated<Flag>
  /** Active members: what users-count says. */
  users_count: Generated<number>
  service_account_id: string | null
  /** Grows with every change of the team's document. */
  version: Generated<number>
  created_at: string
  updated_at: string
}

/** SQLite only: the teams of an organization whose number divided by 512 is this; -1: all of them. */
export type TeamNameBlockTable = {
  organization_id: string
  number: number
  /** Grows with each change of who is in it, of a name or of a visibility. */
  version: number
}

export type TeamMemberTable = {
  team_id: string
  membership_id: string
  user_id: string
  organization_id: string
  /** The membership's status is active: kept here so that hot reads need no join. */
  is_active: Flag
}

export type AuthenticationTokenTable = {
  id: string
  /** SHA-256 of the token's text, hexadecimal; the text itself is nowhere. */
  hash: string
  kind: 'user' | 'team' | 'organization' | 'audit-trails'
  /** Whom the token acts as: for a team's token the service account, null for an organization's. */
  user_id: string | null
  team_id: string | null
  /** Of a team's and an organization's token. */
  organization_id: string | null
  /** The single token of `…/authentication-token`, beside any number of described ones. */
  is_single: Generated<Flag>
  description: string | null
  created_by_id: string | null
  created_at: string
  /** Of a user's token that was made with another one: from when on its age counts. Null: from created_at. */
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
  /** Whoever holds the lock: a user's or a team's id; null when it is not locked. */
  locked_by_id: string | null
  locked_by_kind: 'users' | 'teams' | null
  lock_reason: string | null
  /** The newest finalized state version. */
  current_state_version_id: string | null
  /** JSON object of the attributes that are kept and echoed, and rule nothing. */
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
  /** What of it is in force on the project's workspaces, for fixed levels too. */
  state_versions: 'none' | 'read-outputs' | 'read' | 'write'
  workspace_locking: Flag
  workspace_create: Flag
  /** JSON objects of all details, as they are shown. */
  project_access: string
  workspace_access: string
  created_at: string
}

export type StateVersionTable = {
  id: string
  workspace_id: string
  /** Its place among the workspace's versions, in the order in which they were made. */
  number: number
  organization_id: string
  /** Eleven characters that begin the id of each of its outputs. */
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
  /** 1 once outputs are readable. */
  resources_processed: Generated<Flag>
  /** Bytes of the state file; 0 while pending. */
  size: Generated<number>
  state_format: number | null
  terraform_version: string | null
  outputs_count: Generated<number>
  /** Null while it is pending, and of what nobody but OpenTofu can read. */
  resources_count: number | null
  /** Null also of what was finalized before these were counted. */
  managed_resources_count: Generated<number | null>
  /** 1 for a snapshot: it becomes current when the workspace is unlocked, unless a newer version is by then. */
  is_intermediate: Generated<Flag>
  /** The data key of its chunks and output blocks, wrapped by the server's secret key. */
  wrapped_key: Uint8Array
  created_by_id: string | null
  created_by_kind: 'users' | 'teams' | null
  run_id: string | null
  /** The lock holder at the time of creation: an upload after the lock changed hands is refused. */
  lock_holder_id: string | null
  /** Outputs that came beside the state as json-state-outputs, and lie in output_blocks while it is pending. */
  given_outputs_count: number | null
  /** The upload whose chunks are the content; others are swept. */
  upload_id: string | null
  json_upload_id: string | null
  json_md5: string | null
  /** Who works on it until when: processing its outputs, or, while it is discarded, writing its content. And how often. */
  lease_until: string | null
  attempts: Generated<number>
  last_failure: string | null
  created_at: string
  finalized_at: string | null
  /** Since when its content cannot be read, but restored. */
  soft_deleted_at: Generated<string | null>
  /** The version whose content this one has again. */
  rollback_of_id: Generated<string | null>
}

export type StateChunkTable = {
  state_version_id: string
  /** One upload attempt: chunks of an attempt that did not finish are swept. */
  upload_id: string
  kind: 'state' | 'json-state'
  number: number
  sealed: Uint8Array
}

export type OutputBlockTable = {
  state_version_id: string
  first_position: number
  /** 0: a block of outputs. From 1 on: the texts of the one large output at this position, cut into parts. */
  part: Generated<number>
  sealed: Uint8Array
}
