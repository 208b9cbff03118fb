import type { InForce, OrganizationFacts } from '../access/standing.ts'
import { AppError } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import type { EffectiveAccess } from './effective-access-document.ts'
import {
  grantedTo,
  grantSources,
  heldOn,
  readGrants,
  standingSources,
  type Holder,
  type Place,
} from './holdings.ts'

/** What one answer may name; a single workspace or project is never refused. */
const MAX_SOURCES = 20_000

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
  const granted = grantedTo(holder, await readGrants(tx, teamIds, { workspaceIds, projectIds }, on))
  const everywhere = standingSources(holder, organization, inForce)
  let count = 0
  return places.map((place) => {
    const sources = [...everywhere.sources, ...grantSources(granted, place)]
    count += sources.length
    if (places.length > 1 && count > MAX_SOURCES) {
      const detail = `more than ${MAX_SOURCES} grants would be named: ask for smaller pages`
      throw new AppError('bad-request', [{ detail }])
    }
    return { holder, place, held: heldOn(everywhere.columns, granted, place), sources }
  })
}
