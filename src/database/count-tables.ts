// Triggers keep these tables.

/** The version of an organization's workspace documents, and their number. */
export type WorkspaceVersionTable = { organization_id: string; version: number; count: number }

/** The number of a project's workspaces. A project without a row has none. */
export type WorkspaceCountTable = { project_id: string; count: number }

/** The number of an organization's projects. */
export type ProjectCountTable = { organization_id: string; count: number }

/** The number of an organization's people, with invited ones and without service accounts. */
export type MembershipCountTable = { organization_id: string; count: number }
