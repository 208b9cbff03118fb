import type { InForce, OrganizationFacts } from '../access/standing.ts'
import { AppError } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { findProject } from '../projects/project-store.ts'
import type { EffectiveAccess } from './effective-access-document.ts'
import { grantedTo, standingSources, sumsOn, type Holder, type Place } from './holdings.ts'
import { missingActions } from './missing-actions.ts'
import { readGrants } from './team-grants.ts'

const MOST_NAMED = 1_000

/** The most sources that one page may show. */
const MAX_SOURCES = 20_000

/** Throws 400 for a page that would name too many grants. An answer about one place and one holder is never refused. */
export function refuseTooManyNamed(found: readonly EffectiveAccess[]): void {
  const named = found.reduce((count, { sources }) => count + sources.length, 0)
  if (found.length <= 1 || named <= MAX_SOURCES) return
  const detail = `more than ${MAX_SOURCES} grants would be named; request smaller pages`
  throw new AppError('bad-request', [{ detail }])
}

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

/** The access to one place, with what would permit the actions that are missing. */
export async function effectiveAccessOn(
  tx: Transaction,
  about: Parameters<typeof effectiveAccess>[1],
  place: Place & { name: string },
): Promise<EffectiveAccess[]> {
  const found = await effectiveAccess(tx, about, [place])
  const project = await findProject(tx, place.projectId)
  const names = new Map([[place.projectId, project?.name]]).set(place.id, place.name)
  const nameOf = (id: string) => names.get(id)
  return found.map((one) => ({ ...one, missing: { actions: missingActions(one, about), nameOf } }))
}

/** The access of several users and teams to one place. Takes two or three queries for all of them together. */
export async function accessOfHolders(
  tx: Transaction,
  holders: readonly Holder[],
  { organization, inForce }: { organization: OrganizationFacts; inForce: InForce },
  place: Place & { name: string },
): Promise<EffectiveAccess[]> {
  const teamIds = [...new Set(holders.flatMap(({ teams }) => teams.map(({ id }) => id)))]
  const isWorkspace = place.on === 'workspace'
  const scope = { workspaceIds: isWorkspace ? [place.id] : [], projectIds: [place.projectId] }
  const grants = await readGrants(tx, teamIds, scope, isWorkspace ? 'workspaces' : 'projects too')
  return holders.map((holder) => {
    const sumOn = sumsOn(standingSources(holder, organization, inForce), grantedTo(holder, grants))
    return { holder, place, ...sumOn(place) }
  })
}
