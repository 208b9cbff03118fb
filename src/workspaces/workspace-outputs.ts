import type { Viewer } from '../http/route.ts'
import type { Fragment, Identifier } from '../jsonapi/document.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import type { WorkspaceRow } from './workspace-store.ts'

/** What `include=outputs` adds to a workspace: the relation and the resources of type workspace-outputs. */
export type WorkspaceOutputs = { identifiers: Identifier[]; included: Fragment[] }

/** The current outputs of a workspace; none while it has no state. */
export function workspaceOutputs(
  _viewer: Viewer,
  _organization: OrganizationRow,
  _workspace: WorkspaceRow,
): Promise<WorkspaceOutputs> {
  return Promise.resolve({ identifiers: [], included: [] })
}
