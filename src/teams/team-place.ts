import { NO_ID, idInPath } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import type { Loading } from '../http/route.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { findTeam, teamFacts } from './team-store.ts'

async function loadTeam(tx: Transaction, teamId: string) {
  const team = await findTeam(tx, teamId)
  const organization = await findOrganization(tx, team?.organization_id ?? NO_ID)
  if (team === undefined || organization === undefined) return undefined
  return { organization, team, target: { team: teamFacts(team) } }
}

/** The team that a path names. */
export const teamPlace = {
  path: '/teams/:team_id',
  type: 'teams',
  address: idInPath('team', 'team_id'),
  load: ({ tx, address }: Loading<{ id: string }>) => loadTeam(tx, address.id),
}
