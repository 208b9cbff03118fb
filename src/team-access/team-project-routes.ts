import type { Actor } from '../access/actor.ts'
import { timestamp } from '../core/clock.ts'
import { AppError, invalid } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { created, noContent, ok, type Call } from '../http/call.ts'
import type { Deps } from '../http/deps.ts'
import { keptPage } from '../http/kept-page.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { watchAccess } from '../effective-access/access-trial.ts'
import { placeOfProject } from '../effective-access/places.ts'
import { bumpVersion } from '../organizations/organization-store.ts'
import { findTeam, teamFacts, type TeamRow } from '../teams/team-store.ts'
import { loadProject } from '../projects/projects.ts'
import { shownTeams } from './shown-teams-store.ts'
import { teamProjectFragment } from './team-project-document.ts'
import {
  deleteTeamProject,
  findTeamProject,
  insertTeamProject,
  listTeamProjects,
  toColumns,
  toGrant,
  updateTeamProject,
  type TeamProjectRow,
} from './team-project-store.ts'
import {
  newTeamProjectBody,
  parseNewTeamProject,
  parseTeamProject,
  teamProjectBody,
} from './team-projects.ts'
import { teamToGrant } from './team-workspaces.ts'
import { changeProjectGrant } from './project-levels.ts'

type Context = { tx: Transaction; actor: Actor; deps: Deps }

/** A grant with its project, and with its team as what the rules must know of. */
async function loadTeamProject(context: Context, id: string) {
  const grant = await findTeamProject(context.tx, id)
  if (grant === undefined) return undefined
  const loaded = await loadProject(context, grant.project_id)
  if (loaded === undefined) return undefined
  const team = (await findTeam(context.tx, grant.team_id)) as TeamRow
  return { ...loaded, grant, team, target: { ...loaded.target, team: teamFacts(team) } }
}

type Loaded = NonNullable<Awaited<ReturnType<typeof loadTeamProject>>>

/** Whoever is in the team may do something else there. */
const trialOf = ({ organization, team, project }: Loaded) => ({
  organization,
  team,
  place: placeOfProject(project),
})

const grantOfPath = ({ params: { team_project_id: text = '' } }: Call) => {
  const id = parseId('teamProject', text)
  return id === undefined ? undefined : { id }
}

const filters = ['filter[project][id]', 'filter[team][id]'] as const

const listGrants = readRoute({
  path: '/team-projects',
  permission: 'project:read',
  summary: 'List the access of teams to a project',
  query: {
    'filter[project][id]': 'The project, which must be given',
    'filter[team][id]': 'The access of this team alone',
  },
  answers: 'team-projects',
  isList: true,
  address: (call) => {
    const page = call.query.page()
    const given = call.query.text('filter[project][id]')
    if (given === undefined) {
      const parameter = 'filter[project][id]'
      throw new AppError('invalid-query', [{ detail: `${parameter} is missing`, parameter }])
    }
    const projectId = parseId('project', given)
    const teamId = call.query.id('team', 'filter[team][id]')
    return projectId === undefined
      ? undefined
      : { projectId, teamId, page, links: call.query.withoutPage(filters) }
  },
  load: (context) => loadProject(context, context.address.projectId),
  document: async (context) => {
    const { tx, actor, standing, resource, address, call } = context
    const { projectId, teamId, page, links } = address
    const { grants = 0 } = resource.target
    const name = teamId === undefined ? `team-projects ${projectId}` : undefined
    return keptPage(context, resource.organization, name, page, async () => {
      const shown = shownTeams('project-access:read', { actor, standing, grants })
      const { rows, total } = await listTeamProjects(tx, { projectId, teamId, shown }, page)
      return listDocument(rows.map(teamProjectFragment), pagingOf(call.path, links, page, total))
    })
  },
})

const addGrant = writeRoute({
  method: 'POST',
  path: '/team-projects',
  permission: 'project-access:manage',
  summary: 'Give a team access to a project',
  answers: 'team-projects',
  status: 201,
  accepts: newTeamProjectBody,
  address: () => undefined,
  body: parseNewTeamProject,
  addressInBody: (body) => {
    const projectId = parseId('project', body.projectId)
    return projectId === undefined ? undefined : { projectId }
  },
  load: (context: Context & { address: { projectId: string } }) =>
    loadProject(context, context.address.projectId),
  dryRun: async (context) => {
    const { resource, body } = context
    const { organization, project, target } = resource
    const { grants = 0 } = target
    const named = { organizationId: organization.id, grants, teamId: body.teamId }
    const team = await teamToGrant(context, 'project-access:manage', named)
    return watchAccess(context, { organization, team, place: placeOfProject(project) })
  },
  act: async (context) => {
    const { tx, deps, resource, body, audit } = context
    const { organization, project, target } = resource
    const { grants = 0 } = target
    const place = { organizationId: organization.id, grants, teamId: body.teamId }
    const team = await teamToGrant(context, 'project-access:manage', place)
    const grant = changeProjectGrant(undefined, body)
    const id = deps.newId('teamProject')
    const isNew = await insertTeamProject(tx, {
      id,
      organization_id: organization.id,
      team_id: team.id,
      project_id: project.id,
      ...toColumns(grant),
      created_at: timestamp(deps.clock.now()),
    })
    if (!isNew) throw invalid('team has access to the project already', '/data/relationships/team')
    await bumpVersion(tx, organization.id)
    audit({
      action: 'team-project.create',
      organizationId: organization.id,
      resourceType: 'team-projects',
      resourceId: id,
      details: { team: team.id, project: project.id, ...grant },
    })
    return created(document(teamProjectFragment((await findTeamProject(tx, id)) as TeamProjectRow)))
  },
})

const showGrant = readRoute({
  path: '/team-projects/:team_project_id',
  permission: 'project-access:read',
  summary: "Show a team's access to a project",
  answers: 'team-projects',
  address: grantOfPath,
  load: (context) => loadTeamProject(context, context.address.id),
  document: ({ resource }) => Promise.resolve(ok(document(teamProjectFragment(resource.grant)))),
})

const changeGrant = writeRoute({
  method: 'PATCH',
  path: '/team-projects/:team_project_id',
  permission: 'project-access:manage',
  summary: "Change a team's access to a project",
  answers: 'team-projects',
  status: 200,
  accepts: teamProjectBody,
  address: grantOfPath,
  load: (context) => loadTeamProject(context, context.address.id),
  body: (bytes, { id }) => parseTeamProject(bytes, id),
  dryRun: (context) => watchAccess(context, trialOf(context.resource)),
  act: async ({ tx, resource, body, audit }) => {
    const { organization, project, team, grant } = resource
    const before = toGrant(grant)
    const after = changeProjectGrant(before, body)
    await updateTeamProject(tx, grant.id, toColumns(after))
    await bumpVersion(tx, organization.id)
    audit({
      action: 'team-project.update',
      organizationId: organization.id,
      resourceType: 'team-projects',
      resourceId: grant.id,
      details: { team: team.id, project: project.id, before, after },
    })
    return ok(document(teamProjectFragment({ ...grant, ...toColumns(after) })))
  },
})

const removeGrant = writeRoute({
  method: 'DELETE',
  path: '/team-projects/:team_project_id',
  permission: 'project-access:manage',
  summary: "Take a team's access to a project away",
  status: 204,
  address: grantOfPath,
  load: (context) => loadTeamProject(context, context.address.id),
  dryRun: (context) => watchAccess(context, trialOf(context.resource)),
  act: async ({ tx, resource, audit }) => {
    const { organization, project, team, grant } = resource
    await deleteTeamProject(tx, grant.id)
    await bumpVersion(tx, organization.id)
    audit({
      action: 'team-project.delete',
      organizationId: organization.id,
      resourceType: 'team-projects',
      resourceId: grant.id,
      details: { team: team.id, project: project.id, access: grant.access },
    })
    return noContent
  },
})

export const teamProjectRoutes: readonly Route[] = [listGrants, addGrant, showGrant, changeGrant, removeGrant]
