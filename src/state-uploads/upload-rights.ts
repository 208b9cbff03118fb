import type { Actor } from '../access/actor.ts'
import { isPermitted } from '../access/decide.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { findTeam } from '../teams/team-store.ts'
import { findUser } from '../users/user-store.ts'
import { loadWorkspace } from '../workspaces/workspaces.ts'
import type { StateVersionRow } from '../state-versions/state-version-store.ts'

/**
 * Whether the version's creator, to whom the upload URL was given, may still write states there. A lost token changes
 * nothing, because the right belongs to the creator. A team without any token may not act.
 */
export async function mayCreatorWrite(tx: Transaction, row: StateVersionRow, deps: Deps): Promise<boolean> {
  const actor = await creatorOf(tx, row)
  const loaded =
    actor === undefined
      ? undefined
      : await loadWorkspace({ tx, actor, deps }, { workspaceId: row.workspace_id })
  if (actor === undefined || loaded === undefined) return false
  const standing = await deps.standings.in(tx, actor, loaded.organization)
  return isPermitted('state-version:create', actor, standing, loaded.target)
}

const noToken = { tokenId: '', tokenMadeAt: '', tokenExpiresAt: '', auditTrailOf: null, name: '' } as const

async function creatorOf(
  tx: Transaction,
  { created_by_id: id, created_by_kind: kind, organization_id: organizationId }: StateVersionRow,
): Promise<Actor | undefined> {
  if (id === null) return undefined
  if (kind === 'teams') {
    const userId = (await findTeam(tx, id))?.service_account_id ?? null
    if (userId === null) return undefined
    return { ...noToken, kind: 'team', userId, teamId: id, organizationId, isSiteAdmin: false }
  }
  const user = await findUser(tx, id)
  if (user === undefined || user.is_suspended === 1) return undefined
  const isSiteAdmin = user.is_site_admin === 1
  return { ...noToken, kind: 'user', userId: id, teamId: null, organizationId: null, isSiteAdmin }
}
