import { reachOf } from '../access/granted-places-store.ts'
import type { Viewer } from '../http/route.ts'
import { listVisibleProjects } from '../projects/project-store.ts'
import { listVisibleWorkspaces } from '../workspaces/workspace-list-store.ts'
import { placeOf, placeOfProject, type NamedPlace } from './places.ts'

/** Limits one statement, so that other requests do not wait long. */
const ROWS_A_STATEMENT = 2_000

/** At most `most` of the workspaces and projects in the organization, or in one project, that the caller sees, and their total number. */
export async function placesOf(
  viewer: Viewer,
  { organization, place }: { organization: { readonly id: string }; place?: NamedPlace },
  most: number,
): Promise<{ places: NamedPlace[]; total: number }> {
  if (place?.on === 'workspace') return { places: [place], total: 1 }
  const { tx } = viewer
  const filter = place === undefined ? {} : { projectId: place.id }
  const reach = reachOf('workspace:read', viewer)
  const mostWorkspaces = place === undefined ? most : most - 1
  const size = Math.min(mostWorkspaces, ROWS_A_STATEMENT)
  const workspaces: NamedPlace[] = []
  let known: number | undefined
  for (let number = 1; workspaces.length < Math.min(mostWorkspaces, known ?? 1); number++) {
    const page = { number, size }
    const listed = await listVisibleWorkspaces(tx, organization.id, reach, filter, page, { known })
    known = listed.total
    if (listed.workspaces.length === 0) break
    workspaces.push(...listed.workspaces.map(placeOf))
  }
  workspaces.splice(mostWorkspaces)
  const total = known ?? 0
  if (place !== undefined) return { places: [place, ...workspaces], total: 1 + total }
  const toProjects = reachOf('project:read', viewer)
  const projects = await listVisibleProjects(
    tx,
    organization.id,
    toProjects,
    {},
    {
      number: 1,
      size: most - workspaces.length,
    },
  )
  return {
    places: [...projects.rows.map(placeOfProject), ...workspaces],
    total: projects.total + total,
  }
}
