import { canSeeTeam, isPermitted, type Target } from '../access/decide.ts'
import type { Permission } from '../access/rules.ts'
import { invalid } from '../core/errors.ts'
import { NO_ID, parseId } from '../core/ids.ts'
import type { Viewer } from '../http/route.ts'
import { findTeam, teamFacts, type TeamRow } from '../teams/team-store.ts'

/** The team that a body gives access to. A team that the caller cannot see or give access to counts as missing. */
export async function teamToGrant(
  { tx, actor, standing }: Viewer,
  permission: Permission,
  place: { organization: { id: string }; target: Target },
  teamId: string,
): Promise<TeamRow> {
  const id = parseId('team', teamId)
  const team = await findTeam(tx, id ?? NO_ID)
  if (team !== undefined && team.organization_id === place.organization.id) {
    const facts = teamFacts(team)
    const target = { team: facts, grants: place.target.grants ?? 0 }
    if (canSeeTeam(standing, facts) && isPermitted(permission, actor, standing, target)) return team
  }
  throw invalid(
    'team must be one of the organization that you can give access to',
    '/data/relationships/team',
  )
}
