import { NO_ID, idInPath } from '../core/ids.ts'
import type { Loading } from '../http/route.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { findTeam, teamFacts } from './team-store.ts'

/** The team that a path names. */
export const teamPlace = {
  path: '/teams/:team_id',
  type: 'teams',
  address: idInPath('team', 'team_id'),
  load: async ({ tx, address }: Loading<{ id: string }>) => {
    const team = await findTeam(tx, address.id)
    const organization = await findOrganization(tx, team?.organization_id ?? NO_ID)
    if (team === undefined || organization === undefined) return undefined
    return { organization, team, target: { team: teamFacts(team) } }
  },
}
