import { NO_ID, parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import type { Call } from '../http/call.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { findTeam, teamFacts } from './team-store.ts'

/** Undefined if the text cannot be the id of a team. */
export function teamOfPath(call: Call): { teamId: string } | undefined {
  const teamId = parseId('team', call.params.team_id as string)
  return teamId === undefined ? undefined : { teamId }
}

export async function loadTeam(tx: Transaction, teamId: string) {
  const team = await findTeam(tx, teamId)
  const organization = await findOrganization(tx, team?.organization_id ?? NO_ID)
  if (team === undefined || organization === undefined) return undefined
  return { organization, team, target: { team: teamFacts(team) } }
}
