import { isPermitted, type Target } from '../access/decide.ts'
import {
  includedOutputs,
  noOutputs,
  type IncludedOutputs,
  type IncludingViewer,
} from '../outputs/included-outputs.ts'
import { findStateVersion } from '../state-versions/state-version-store.ts'
import type { WorkspaceRow } from './workspace-store.ts'

/**
 * The current outputs of a workspace, as resources of type workspace-outputs. Empty if it has no state, or if the
 * caller may not read current outputs.
 */
export async function workspaceOutputs(
  viewer: IncludingViewer,
  target: Target,
  workspace: WorkspaceRow,
): Promise<IncludedOutputs> {
  const isReader = isPermitted('outputs:read-current', viewer.actor, viewer.standing, target)
  const id = isReader ? workspace.current_state_version_id : null
  const stateVersion = id === null ? undefined : await findStateVersion(viewer.tx, id)
  return stateVersion === undefined
    ? noOutputs
    : includedOutputs(viewer, target, stateVersion, 'workspace-outputs')
}
