import type { InForce, OrganizationFacts } from '../access/standing.ts'
import { badRequest } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { findProject } from '../projects/project-store.ts'
import type { EffectiveAccess } from './effective-access-document.ts'
import { grantedTo, standingSources, sumsOn, type Holder } from './holdings.ts'
import { missingActions } from './missing-actions.ts'
import type { NamedPlace } from './places.ts'
import { readGrants } from './team-grants.ts'

const MOST_NAMED = 1_000

/** The most sources that one page may show. */
const MAX_SOURCES = 20_000

/** Throws 400 for a page that would name too many grants. An answer about one place and one holder is never refused. */
export function refuseTooManyNamed(found: readonly EffectiveAccess[]): void {
  const named = found.reduce((count, { sources }) => count + sources.length, 0)
  if (found.length <= 1 || named <= MAX_SOURCES) return
  const detail = `more than ${MAX_SOURCES} grants would be named; request smaller pages`
  throw badRequest(detail)
}

type Rules = { readonly organization: OrganizationFacts; readonly inForce: InForce }

/** The access of each user or team to each place, and its sources. Takes two or three queries for all of them together. */
export async function accessOfHolders(
  tx: Transaction,
  holders: readonly Holder[],
  { organization, inForce }: Rules,
  places: readonly NamedPlace[],
): Promise<EffectiveAccess[]> {
  const workspaceIds = places.filter(({ on }) => on === 'workspace').map(({ id }) => id)
  const projectIds = [...new Set(places.map(({ projectId }) => projectId))]
  const teamIds = [...new Set(holders.flatMap(({ teams }) => teams.map(({ id }) => id)))]
  const on = workspaceIds.length === places.length ? 'workspaces' : 'projects too'
  // For very many places it is faster to read all grants of the teams.
  const scope = places.length > MOST_NAMED ? 'everywhere' : { workspaceIds, projectIds }
  const grants = await readGrants(tx, teamIds, scope, on)
  return holders.flatMap((holder) => {
    const sumOn = sumsOn(standingSources(holder, organization, inForce), grantedTo(holder, grants))
    return places.map((place) => {
      const { held, sources } = sumOn(place)
      return { holder, place, held, sources }
    })
  })
}

/** The access of one user or team to one place, with what would permit the actions that are missing. */
export async function effectiveAccessOn(
  tx: Transaction,
  about: Rules & { readonly holder: Holder },
  place: NamedPlace,
): Promise<EffectiveAccess[]> {
  const found = await accessOfHolders(tx, [about.holder], about, [place])
  const project = await findProject(tx, place.projectId)
  const names = new Map([[place.projectId, project?.name]]).set(place.id, place.name)
  const nameOf = (id: string) => names.get(id)
  return found.map((one) => ({ ...one, missing: { actions: missingActions(one, about), nameOf } }))
}
