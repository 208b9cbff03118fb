import { parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import type { Call } from '../http/call.ts'
import { findOrganization, type OrganizationRow } from '../organizations/organization-store.ts'
import { findTeam, teamFacts } from './team-store.ts'

/** Undefined for what is no team's id. */
export function teamOfPath(call: Call): { teamId: string } | undefined {
  const teamId = parseId('team', call.params.team_id as string)
  return teamId === undefined ? undefined : { teamId }
}

export async function loadTeam(tx: Transaction, teamId: string) {
  const team = await findTeam(tx, teamId)
  if (team === undefined) return undefined
  const organization = (await findOrganization(tx, team.organization_id)) as OrganizationRow
  return { organization, team, target: { team: teamFacts(team) } }
}
