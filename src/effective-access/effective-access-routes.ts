import { isPermitted } from '../access/decide.ts'
import { reachOf } from '../access/granted-places-store.ts'
import { NotPermitted } from '../access/not-permitted.ts'
import { AppError, type Problem } from '../core/errors.ts'
import { ok, type Call } from '../http/call.ts'
import { readRoute, type Loaded, type Route, type Viewer } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { pagingOf, type Page } from '../jsonapi/paging.ts'
import { organizationOfPath } from '../organizations/organization-of-path.ts'
import { findOrganizationByName, type OrganizationRow } from '../organizations/organization-store.ts'
import { listVisibleWorkspaces } from '../workspaces/workspace-list-store.ts'
import { effectiveAccess } from './effective-access.ts'
import { effectiveAccessFragment } from './effective-access-document.ts'
import { findPlace, placeOf, type NamedPlace, type PlaceAddress } from './places.ts'
import { findSubject, type SubjectAddress } from './subjects.ts'

const parameters = ['user', 'team', 'workspace', 'project'] as const

/** Throws 400 unless one of user and team is named, and at most one of workspace and project. */
function questionOf({ query }: Call): { subject: SubjectAddress; place: PlaceAddress | undefined } {
  const [user, team, workspace, project] = parameters.map((name) => query.text(name))
  const problems: Problem[] = []
  if (user === undefined && team === undefined) {
    problems.push({ detail: 'user or team must say whose access is asked for', parameter: 'user' })
  }
  if (user !== undefined && team !== undefined) {
    problems.push({ detail: 'team cannot be given beside user', parameter: 'team' })
  }
  if (workspace !== undefined && project !== undefined) {
    problems.push({ detail: 'project cannot be given beside workspace', parameter: 'project' })
  }
  if (problems.length > 0) throw new AppError('invalid-query', problems)
  const subject = user === undefined ? { team: team as string } : { user }
  if (workspace !== undefined) return { subject, place: { workspace } }
  return { subject, place: project === undefined ? undefined : { project } }
}

/** What adds up to the access that one answer shows; a single workspace or project is never refused. */
const MAX_NAMED = 20_000

const showEffectiveAccess = readRoute({
  path: '/organizations/:organization_name/effective-access',
  permission: 'effective-access:read',
  summary: 'List what a user or a team may do, and which grants add up to it',
  query: {
    user: 'Whose access: a user, by id or user name',
    team: 'Whose access: a team, by id, as what its token may do',
    workspace: 'On this workspace alone, by id or name; without it and project, on all workspaces',
    project: 'On this project alone, by id or name',
  },
  answers: 'effective-access',
  isList: true,
  address: (call) => {
    const page = call.query.page()
    const question = questionOf(call)
    const name = organizationOfPath(call)
    if (name === undefined) return undefined
    return { name, page, ...question, links: call.query.withoutPage(parameters) }
  },
  load: async ({ tx, address, actor }) => {
    const organization = await findOrganizationByName(tx, address.name)
    if (organization === undefined) return undefined
    const subject = await findSubject(tx, organization.id, address.subject, actor)
    if (subject === undefined) return undefined
    const place =
      address.place === undefined ? undefined : await findPlace(tx, organization.id, address.place)
    if (address.place !== undefined && place === undefined) return undefined
    return { organization, subject, place, target: { userId: subject.userId }, ...grantedOn(place) }
  },
  document: async (context) => {
    const { tx, deps, resource, address, call } = context
    const { organization, subject } = resource
    const { places, total } = await placesOf(context, organization, resource.place, address.page)
    const about = { holder: subject.holder, organization, inForce: deps.standings.inForce }
    const found = await effectiveAccess(tx, about, places)
    const named = found.reduce((count, { sources }) => count + sources.length, 0)
    if (found.length > 1 && named > MAX_NAMED) {
      const detail = `more than ${MAX_NAMED} grants would be named: ask for smaller pages`
      throw new AppError('bad-request', [{ detail }])
    }
    const paging = pagingOf(call.path, address.links, address.page, total)
    return ok(listDocument(found.map(effectiveAccessFragment), paging))
  },
})

/** Where a grant would have to be made, should the caller not see what he asks about. */
function grantedOn(place: NamedPlace | undefined): Pick<Loaded, 'workspace' | 'project'> {
  if (place === undefined) return {}
  const { on, id, projectId } = place
  return on === 'workspace' ? { workspace: { id, project_id: projectId } } : { project: { id } }
}

/** The workspace or project that was asked for, or a page of the workspaces that the caller may see. */
async function placesOf(
  viewer: Viewer,
  organization: OrganizationRow,
  place: NamedPlace | undefined,
  page: Page,
) {
  const { tx, deps, actor, standing } = viewer
  if (place === undefined) {
    const reach = reachOf('workspace:read', viewer)
    const { workspaces, total } = await listVisibleWorkspaces(tx, organization.id, reach, {}, page)
    return { places: workspaces.map(placeOf), total }
  }
  const grants =
    place.on === 'workspace'
      ? await deps.grants.onWorkspace(tx, actor, organization, { id: place.id, project_id: place.projectId })
      : await deps.grants.onProject(tx, actor, organization, place.id)
  const permission = place.on === 'workspace' ? 'workspace:read' : 'project:read'
  if (!isPermitted(permission, actor, standing, { grants })) throw new NotPermitted(permission, { grants })
  return { places: page.number === 1 ? [place] : [], total: 1 }
}

export const effectiveAccessRoutes: readonly Route[] = [showEffectiveAccess]
