import type { InForce, OrganizationFacts } from '../access/standing.ts'
import type { Transaction } from '../database/database.ts'
import type { EffectiveAccess } from './effective-access-document.ts'
import { grantedTo, standingSources, sumsOn, type Holder, type Place } from './holdings.ts'
import { readGrants } from './team-grants.ts'

const MOST_NAMED = 1_000

/** The access of a user or team to each place, and its sources. Takes two or three queries for all places together. */
export async function effectiveAccess(
  tx: Transaction,
  { holder, organization, inForce }: { holder: Holder; organization: OrganizationFacts; inForce: InForce },
  places: readonly (Place & { name: string })[],
): Promise<EffectiveAccess[]> {
  if (places.length === 0) return []
  const workspaceIds = places.filter(({ on }) => on === 'workspace').map(({ id }) => id)
  const projectIds = [...new Set(places.map(({ projectId }) => projectId))]
  const teamIds = holder.teams.map(({ id }) => id)
  const on = workspaceIds.length === places.length ? 'workspaces' : 'projects too'
  // For very many places it is faster to read all grants of the teams.
  const scope = places.length > MOST_NAMED ? 'everywhere' : { workspaceIds, projectIds }
  const granted = grantedTo(holder, await readGrants(tx, teamIds, scope, on))
  const sumOn = sumsOn(standingSources(holder, organization, inForce), granted)
  return places.map((place) => {
    const { held, sources } = sumOn(place)
    return { holder, place, held, sources }
  })
}
