/** SQLite only, kept by triggers: what the documents of an organization's workspaces depend on, and how many they are. */
export type WorkspaceVersionTable = { organization_id: string; version: number; count: number }

/** The names that workspaces of an organization are tagged with, or were. */
export type TagTable = { id: string; organization_id: string; name: string; created_at: string }

/** Which tags a workspace has. A row whose tag is gone means nothing: it is on its way out. */
export type WorkspaceTagTable = { workspace_id: string; tag_id: string }

/** Tags that are gone, and of which rows of `workspace_tags` may be left. */
export type DeletedTagTable = { id: string }

/** A key with a value, of a workspace or of a project. */
export type TagBindingTable = {
  id: string
  organization_id: string
  workspace_id: string | null
  project_id: string | null
  key: string
  value: string
  created_at: string
}

/** Which workspaces are named as readers of a workspace's state. */
export type RemoteStateConsumerTable = { workspace_id: string; consumer_id: string }
