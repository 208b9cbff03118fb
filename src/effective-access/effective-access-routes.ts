import { reachOf } from '../access/granted-places-store.ts'
import { nowhere, type OrganizationFacts } from '../access/standing.ts'
import { AppError, type Problem } from '../core/errors.ts'
import { NO_ID } from '../core/ids.ts'
import { rowsBefore } from '../database/window.ts'
import type { Call } from '../http/call.ts'
import { list } from '../http/read-route.ts'
import type { Loaded, Loading, Route, Viewer } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import type { Page } from '../jsonapi/paging.ts'
import { text } from '../jsonapi/parameters.ts'
import type { Query } from '../jsonapi/query.ts'
import { organizationPlace } from '../organizations/organization-place.ts'
import { findOrganizationByName, type OrganizationRow } from '../organizations/organization-store.ts'
import { countWorkspaces, listVisibleWorkspaces } from '../workspaces/workspace-list-store.ts'
import { noWorkspace } from '../workspaces/workspaces.ts'
import { accessOfHolders, effectiveAccessOn, refuseTooManyNamed } from './effective-access.ts'
import { effectiveAccessFragment } from './effective-access-document.ts'
import { findPlace, placeOf, type NamedPlace, type PlaceAddress } from './places.ts'
import { findSubject, type SubjectAddress } from './subjects.ts'

type Question = { subject: SubjectAddress; place: PlaceAddress | undefined }

/** Throws 400 unless the query names either a user or a team, and at most one of workspace and project. */
function questionOf(query: Query): Question {
  const [user, team, workspace, project] = ['user', 'team', 'workspace', 'project'].map((name) =>
    query.text(name),
  )
  const problems: Problem[] = []
  if (user === undefined && team === undefined) {
    problems.push({ detail: 'one of the parameters user and team is required', parameter: 'user' })
  }
  if (user !== undefined && team !== undefined) {
    problems.push({ detail: 'team and user cannot be used together', parameter: 'team' })
  }
  if (workspace !== undefined && project !== undefined) {
    problems.push({ detail: 'project and workspace cannot be used together', parameter: 'project' })
  }
  if (problems.length > 0) throw new AppError('invalid-query', problems)
  const subject = user === undefined ? { team: team ?? '' } : { user }
  if (workspace !== undefined) return { subject, place: { workspace } }
  return { subject, place: project === undefined ? undefined : { project } }
}

/** The organization, and the user or team and the place that the query names in it. */
const questionPlace = {
  ...organizationPlace,
  address: (call: Call) => {
    const question = questionOf(call.query)
    const organization = organizationPlace.address(call)
    return organization === undefined ? undefined : { ...organization, ...question }
  },
  load: async (context: Loading<{ name: string } & Question>) => {
    const { tx, address, actor } = context
    const organization = await findOrganizationByName(tx, address.name)
    const subject = await findSubject(tx, organization?.id ?? NO_ID, address.subject, actor)
    const target = { userId: subject?.userId ?? null }
    const within = subject === undefined ? undefined : organization
    const named = await findNamed(context, within, address.place)
    if (organization === undefined || subject === undefined || named === undefined) return undefined
    return { organization, subject, target, ...named }
  },
}

/** The requested place, if the caller may see it. Undefined if it is missing. */
async function findNamed(
  { tx, actor, deps }: Pick<Viewer, 'tx' | 'actor' | 'deps'>,
  organization: OrganizationFacts | undefined,
  address: PlaceAddress | undefined,
): Promise<(Pick<Loaded, 'workspace' | 'project' | 'also'> & { place?: NamedPlace }) | undefined> {
  if (address === undefined) return {}
  const place = await findPlace(tx, organization?.id ?? NO_ID, address)
  const where = place === undefined || organization === undefined ? nowhere : organization
  if ('workspace' in address) {
    const workspace = place === undefined ? noWorkspace : { id: place.id, project_id: place.projectId }
    const grants = await deps.grants.onWorkspace(tx, actor, where, workspace)
    return place && { place, workspace, also: { permission: 'workspace:read', target: { grants } } }
  }
  const project = { id: place?.id ?? NO_ID }
  const grants = await deps.grants.onProject(tx, actor, where, project.id)
  return place && { place, project, also: { permission: 'project:read', target: { grants } } }
}

/** The requested workspace or project, or a page of the workspaces that the caller may see. */
async function placesOf(
  viewer: Viewer,
  organization: OrganizationRow,
  place: NamedPlace | undefined,
  page: Page,
) {
  if (place !== undefined) return { places: page.number === 1 ? [place] : [], total: 1 }
  const reach = reachOf('workspace:read', viewer)
  const known = reach === 'everything' ? await countWorkspaces(viewer.tx, organization.id) : undefined
  const { workspaces, total } = await listVisibleWorkspaces(viewer.tx, organization.id, reach, {}, page, {
    known,
  })
  return { places: workspaces.map(placeOf), total }
}

export const effectiveAccessRoutes: readonly Route[] = [
  list(questionPlace, '/effective-access', {
    permission: 'effective-access:read',
    summary: 'List what a user or a team may do, and which grants add up to it',
    query: {
      user: text('Whose access: a user, by id or user name'),
      team: text('Whose access: a team, by id, as what its token may do'),
      workspace: text('On this workspace alone, by id or name; without it and project, on all workspaces'),
      project: text('On this project alone, by id or name'),
    },
    answers: 'effective-access',
    document: async (context) => {
      const { tx, deps, resource, page, paging } = context
      const { organization, subject } = resource
      await context.willLookAt(() => subject.countTeams(tx))
      if (resource.place === undefined) {
        await context.willLookAt(async () => {
          const all = await countWorkspaces(tx, organization.id)
          return reachOf('workspace:read', context) === 'everything' ? rowsBefore(page, all) : all
        })
      }
      const { places, total } = await placesOf(context, organization, resource.place, page)
      const about = { holder: await subject.holder(tx), organization, inForce: deps.standings.inForce }
      const [place] = places
      const found =
        resource.place === undefined || place === undefined
          ? await accessOfHolders(tx, [about.holder], about, places)
          : await effectiveAccessOn(tx, about, place)
      refuseTooManyNamed(found)
      return listDocument(found.map(effectiveAccessFragment), paging(total))
    },
  }),
]
