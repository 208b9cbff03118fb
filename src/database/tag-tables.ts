/** Tags of an organization. A tag may be unused now. */
export type TagTable = { id: string; organization_id: string; name: string; created_at: string }

/** The tags of a workspace. A row whose tag does not exist has no meaning and will be deleted. */
export type WorkspaceTagTable = { workspace_id: string; tag_id: string }

/** Deleted tags that may still have rows in `workspace_tags`. */
export type DeletedTagTable = { id: string }

/** A key with a value, of a workspace or a project. */
export type TagBindingTable = {
  id: string
  organization_id: string
  workspace_id: string | null
  project_id: string | null
  key: string
  value: string
  created_at: string
}

/** The workspaces that may read a workspace's state. */
export type RemoteStateConsumerTable = { workspace_id: string; consumer_id: string }
