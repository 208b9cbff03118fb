import { existing } from '../core/existing.ts'
import type { Actor } from '../access/actor.ts'
import { canSeeTeam } from '../access/decide.ts'
import type { Viewer } from '../http/route.ts'
import { findTeam, teamFacts } from '../teams/team-store.ts'
import { findUser } from '../users/user-store.ts'
import type { WorkspaceRow } from './workspace-store.ts'

export type Holder = Pick<WorkspaceRow, 'locked_by_id' | 'locked_by_kind'>

/** The owner of a lock that this caller takes. A team token locks as the team. */
export function lockHolder(actor: Actor): Holder {
  return actor.kind === 'team'
    ? { locked_by_id: actor.teamId, locked_by_kind: 'teams' }
    : { locked_by_id: actor.userId, locked_by_kind: 'users' }
}

/**
 * "User alice" or "Team platform": go-tfe looks for "is locked by User" and "is locked by Team". A team that the caller
 * may not see is not named.
 */
export async function lockHolderText({ tx, standing }: Viewer, workspace: Holder): Promise<string> {
  const id = existing(workspace.locked_by_id)
  if (workspace.locked_by_kind === 'teams') {
    const team = await findTeam(tx, id)
    return team !== undefined && canSeeTeam(standing, teamFacts(team)) ? `Team ${team.name}` : 'Team'
  }
  return `User ${(await findUser(tx, id))?.username ?? id}`
}
