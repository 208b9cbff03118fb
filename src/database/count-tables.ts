/** Triggers keep these tables. */
export type CountTables = {
  /** The version of an organization's workspace documents, and their number. */
  workspace_versions: { organization_id: string; version: number; count: number }
  /** The number of a project's workspaces. A project without a row has none. */
  workspace_counts: { project_id: string; count: number }
  /** The number of an organization's projects. */
  project_counts: { organization_id: string; count: number }
  /** The number of an organization's people, with invited ones and without service accounts. */
  membership_counts: { organization_id: string; count: number }
}
