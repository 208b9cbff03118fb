import type { Actor } from '../access/actor.ts'
import { isPermitted } from '../access/decide.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { findTeam } from '../teams/team-store.ts'
import { findUser } from '../users/user-store.ts'
import { loadWorkspace } from '../workspaces/workspaces.ts'
import type { StateVersionRow } from '../state-versions/state-version-store.ts'

/**
 * The version's creator, to whom the upload URL was given. Undefined if the creator may not write states there any more.
 * A lost token changes nothing, because the right belongs to the creator. A team without any token may not act.
 */
export async function writingCreator(
  tx: Transaction,
  row: StateVersionRow,
  deps: Deps,
): Promise<Actor | undefined> {
  const actor = await creatorOf(tx, row)
  if (actor === undefined) return undefined
  const loaded = await loadWorkspace({ tx, actor, deps }, { workspaceId: row.workspace_id })
  if (loaded === undefined) return undefined
  const standing = await deps.standings.in(tx, actor, loaded.organization)
  return isPermitted('state-version:create', actor, standing, loaded.target) ? actor : undefined
}

const noToken = { tokenId: '', tokenMadeAt: '', tokenExpiresAt: '', auditTrailOf: null } as const

async function creatorOf(
  tx: Transaction,
  { created_by_id: id, created_by_kind: kind, organization_id: organizationId }: StateVersionRow,
): Promise<Actor | undefined> {
  if (id === null) return undefined
  if (kind === 'teams') {
    const team = await findTeam(tx, id)
    if (team === undefined || team.service_account_id === null) return undefined
    const { name, service_account_id: userId } = team
    return { ...noToken, kind: 'team', name, userId, teamId: id, organizationId, isSiteAdmin: false }
  }
  const user = await findUser(tx, id)
  if (user === undefined || user.is_suspended === 1) return undefined
  const isSiteAdmin = user.is_site_admin === 1
  const name = user.username ?? ''
  return { ...noToken, kind: 'user', name, userId: id, teamId: null, organizationId: null, isSiteAdmin }
}
