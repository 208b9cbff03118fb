import { conflict } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { findStateVersion, type StateVersionRow } from './state-version-store.ts'
import type { WorkspaceRow } from '../workspaces/workspace-store.ts'

/**
 * Throws 409 unless the workspace has no state, or a state without managed resources. go-tfe recognizes two reasons by
 * the words "locked" and "being processed", so no other text may contain them.
 */
export async function refuseUnsafeDelete(tx: Transaction, workspace: WorkspaceRow): Promise<void> {
  if (workspace.locked_by_id !== null) throw conflict('the workspace is locked')
  const id = workspace.current_state_version_id
  const state = id === null ? undefined : await findStateVersion(tx, id)
  if (state === undefined) return
  if (state.resources_processed === 0)
    throw conflict('the latest state of the workspace is still being processed')
  const problem = resourcesOf(state)
  if (problem !== undefined) throw conflict(`${problem}: it is not safe to delete`)
}

/** The reason why a finalized state makes deletion unsafe. Undefined if it does not. */
function resourcesOf(state: StateVersionRow): string | undefined {
  const { managed_resources_count: managed } = state
  if (managed === null) {
    return 'OpenTofu has encrypted the state of the workspace, so its resources are not known'
  }
  if (managed === 0) return undefined
  return `the state of the workspace has ${managed} managed resource${managed === 1 ? '' : 's'}`
}
