import { conflict } from '../core/errors.ts'
import type { Viewer } from '../http/route.ts'
import { lockHolder, lockHolderText } from '../workspaces/workspace-locks.ts'
import type { LoadedWorkspace } from '../workspaces/workspaces.ts'

/** Only the holder of the workspace's lock may write state. Throws 409. */
export async function checkLock(viewer: Viewer, { workspace }: LoadedWorkspace): Promise<void> {
  if (workspace.locked_by_id === null) {
    throw conflict('This workspace is not locked and will only accept state uploads when locked')
  }
  if (workspace.locked_by_id !== lockHolder(viewer.actor).locked_by_id) {
    const who = await lockHolderText(viewer, workspace)
    throw conflict(
      `This workspace is locked by ${who} and will only accept state uploads from whoever holds the lock`,
    )
  }
}
