import { NO_ID, idInPath } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import type { Call } from '../http/call.ts'
import type { Loading } from '../http/route.ts'
import { loadWorkspace, type LoadedWorkspace } from '../workspaces/workspaces.ts'
import { parseOutputId } from '../outputs/output-ids.ts'
import { findStateVersion, findStateVersionByOutputKey, type StateVersionRow } from './state-version-store.ts'

export type LoadedStateVersion = LoadedWorkspace & { stateVersion: StateVersionRow }

/** Loads a state version with the caller's rights on its workspace; undefined if it does not exist. */
async function loadStateVersion(
  context: Loading<unknown>,
  key: string,
  find: (tx: Transaction, key: string) => Promise<StateVersionRow | undefined>,
): Promise<LoadedStateVersion | undefined> {
  const stateVersion = await find(context.tx, key)
  const loaded = await loadWorkspace(context, { workspaceId: stateVersion?.workspace_id ?? NO_ID })
  return stateVersion === undefined || loaded === undefined ? undefined : { ...loaded, stateVersion }
}

/** The state version that a path names. */
export const stateVersionPlace = {
  path: '/state-versions/:state_version_id',
  type: 'state-versions',
  address: idInPath('stateVersion', 'state_version_id'),
  load: (context: Loading<{ id: string }>) => loadStateVersion(context, context.address.id, findStateVersion),
}

/** The output that a path names, with its state version. */
export const outputPlace = {
  path: '/state-version-outputs/:state_version_output_id',
  type: 'state-version-outputs',
  address: ({ params }: Call) => parseOutputId(params.state_version_output_id ?? ''),
  load: (context: Loading<{ outputKey: string }>) =>
    loadStateVersion(context, context.address.outputKey, findStateVersionByOutputKey),
}
