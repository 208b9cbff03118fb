import { NO_ID, parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import type { Call } from '../http/call.ts'
import type { Loading } from '../http/route.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { findTeam, teamFacts } from './team-store.ts'

export async function loadTeam(tx: Transaction, teamId: string) {
  const team = await findTeam(tx, teamId)
  const organization = await findOrganization(tx, team?.organization_id ?? NO_ID)
  if (team === undefined || organization === undefined) return undefined
  return { organization, team, target: { team: teamFacts(team) } }
}

/** The team that a path names. */
export const teamPlace = {
  path: '/teams/:team_id',
  type: 'teams',
  address: ({ params }: Call) => {
    const teamId = parseId('team', params.team_id ?? '')
    return teamId === undefined ? undefined : { teamId }
  },
  load: ({ tx, address }: Loading<{ teamId: string }>) => loadTeam(tx, address.teamId),
}
