/** Triggers keep these tables. */
export type CountTables = {
  /** The version of an organization's workspace documents, and their number. */
  workspace_versions: { organization_id: string; version: number; count: number }
  /** The number of a project's workspaces. A project without a row has none. */
  workspace_counts: { project_id: string; count: number }
  /** The number of an organization's projects. */
  project_counts: { organization_id: string; count: number }
  /** The bytes that a version's content and outputs take as they are stored, until the last of them is deleted. */
  state_version_bytes: { state_version_id: string; organization_id: string; bytes: number }
  /** The same of all versions of an organization. One without a row has none. */
  organization_bytes: { organization_id: string; bytes: number }
  /** The number of an organization's people, with invited ones and without service accounts. */
  membership_counts: { organization_id: string; count: number }
}
