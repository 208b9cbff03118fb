import type { InForce, OrganizationFacts } from '../access/standing.ts'
import type { Transaction } from '../database/database.ts'
import type { EffectiveAccess } from './effective-access-document.ts'
import { grantedTo, standingSources, sumsOn, type Holder, type Place } from './holdings.ts'
import { readGrants } from './team-grants.ts'

const MOST_NAMED = 1_000

/** What somebody may do on each of these places, and what it comes from: two or three queries for all of them. */
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
  // Of very many it is faster to read all that the teams have.
  const scope = places.length > MOST_NAMED ? 'everywhere' : { workspaceIds, projectIds }
  const granted = grantedTo(holder, await readGrants(tx, teamIds, scope, on))
  const sumOn = sumsOn(standingSources(holder, organization, inForce), granted)
  return places.map((place) => {
    const { held, sources } = sumOn(place)
    return { holder, place, held, sources }
  })
}
