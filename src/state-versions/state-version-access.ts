import type { Actor } from '../access/actor.ts'
import { NO_ID } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { loadWorkspace, type LoadedWorkspace } from '../workspaces/workspaces.ts'
import type { StateVersionRow } from './state-version-store.ts'

export type LoadedStateVersion = LoadedWorkspace & { stateVersion: StateVersionRow }

/** Loads a state version with the caller's rights on its workspace; undefined if it does not exist. */
export async function loadStateVersion(
  context: { tx: Transaction; actor: Actor; deps: Deps },
  key: string,
  find: (tx: Transaction, key: string) => Promise<StateVersionRow | undefined>,
): Promise<LoadedStateVersion | undefined> {
  const stateVersion = await find(context.tx, key)
  const loaded = await loadWorkspace(context, { workspaceId: stateVersion?.workspace_id ?? NO_ID })
  return stateVersion === undefined || loaded === undefined ? undefined : { ...loaded, stateVersion }
}
