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
import { placeOf } from '../effective-access/places.ts'
import { bumpVersion } from '../organizations/organization-store.ts'
import { findTeam, teamFacts, type TeamRow } from '../teams/team-store.ts'
import { loadWorkspace } from '../workspaces/workspaces.ts'
import { shownTeams } from './shown-teams-store.ts'
import { teamWorkspaceFragment } from './team-workspace-document.ts'
import {
  deleteTeamWorkspace,
  findTeamWorkspace,
  insertTeamWorkspace,
  listTeamWorkspaces,
  toColumns,
  toDetails,
  updateTeamWorkspace,
  type TeamWorkspaceRow,
} from './team-workspace-store.ts'
import {
  newTeamWorkspaceBody,
  parseNewTeamWorkspace,
  parseTeamWorkspace,
  teamToGrant,
  teamWorkspaceBody,
} from './team-workspaces.ts'
import { changeWorkspaceGrant } from './workspace-levels.ts'

type Context = { tx: Transaction; actor: Actor; deps: Deps }

/** A grant with its workspace, and with its team as what the rules must know of. */
async function loadTeamWorkspace(context: Context, id: string) {
  const grant = await findTeamWorkspace(context.tx, id)
  if (grant === undefined) return undefined
  const loaded = await loadWorkspace(context, { workspaceId: grant.workspace_id })
  if (loaded === undefined) return undefined
  const team = (await findTeam(context.tx, grant.team_id)) as TeamRow
  return { ...loaded, grant, team, target: { ...loaded.target, team: teamFacts(team) } }
}

type Loaded = NonNullable<Awaited<ReturnType<typeof loadTeamWorkspace>>>

/** Whoever is in the team may do something else there. */
const trialOf = ({ organization, team, workspace }: Loaded) => ({
  organization,
  team,
  place: placeOf(workspace),
})

const grantOfPath = ({ params: { team_workspace_id: text = '' } }: Call) => {
  const id = parseId('teamWorkspace', text)
  return id === undefined ? undefined : { id }
}

const filters = ['filter[workspace][id]', 'filter[team][id]'] as const

const listGrants = readRoute({
  path: '/team-workspaces',
  permission: 'workspace:read',
  summary: 'List the access of teams to a workspace',
  query: {
    'filter[workspace][id]': 'The workspace, which must be given',
    'filter[team][id]': 'The access of this team alone',
  },
  answers: 'team-workspaces',
  isList: true,
  address: (call) => {
    const page = call.query.page()
    const given = call.query.text('filter[workspace][id]')
    if (given === undefined) {
      const parameter = 'filter[workspace][id]'
      throw new AppError('invalid-query', [{ detail: `${parameter} is missing`, parameter }])
    }
    const workspaceId = parseId('workspace', given)
    const teamId = call.query.id('team', 'filter[team][id]')
    return workspaceId === undefined
      ? undefined
      : { workspaceId, teamId, page, links: call.query.withoutPage(filters) }
  },
  load: (context) => loadWorkspace(context, context.address),
  document: async (context) => {
    const { tx, actor, standing, resource, address, call } = context
    const { workspaceId, teamId, page, links } = address
    const { grants = 0 } = resource.target
    const name = teamId === undefined ? `team-workspaces ${workspaceId}` : undefined
    return keptPage(context, resource.organization, name, page, async () => {
      const shown = shownTeams('team-access:read', { actor, standing, grants })
      const { rows, total } = await listTeamWorkspaces(tx, { workspaceId, teamId, shown }, page)
      return listDocument(rows.map(teamWorkspaceFragment), pagingOf(call.path, links, page, total))
    })
  },
})

const addGrant = writeRoute({
  method: 'POST',
  path: '/team-workspaces',
  permission: 'team-access:manage',
  summary: 'Give a team access to a workspace',
  answers: 'team-workspaces',
  status: 201,
  accepts: newTeamWorkspaceBody,
  address: () => undefined,
  body: parseNewTeamWorkspace,
  addressInBody: (body) => {
    const workspaceId = parseId('workspace', body.workspaceId)
    return workspaceId === undefined ? undefined : { workspaceId }
  },
  load: (context: Context & { address: { workspaceId: string } }) => loadWorkspace(context, context.address),
  dryRun: async (context) => {
    const { resource, body } = context
    const { organization, workspace, target } = resource
    const { grants = 0 } = target
    const named = { organizationId: organization.id, grants, teamId: body.teamId }
    const team = await teamToGrant(context, 'team-access:manage', named)
    return watchAccess(context, { organization, team, place: placeOf(workspace) })
  },
  act: async (context) => {
    const { tx, deps, resource, body, audit } = context
    const { organization, workspace, target } = resource
    const { grants = 0 } = target
    const place = { organizationId: organization.id, grants, teamId: body.teamId }
    const team = await teamToGrant(context, 'team-access:manage', place)
    const grant = changeWorkspaceGrant(undefined, body)
    const id = deps.newId('teamWorkspace')
    const isNew = await insertTeamWorkspace(tx, {
      id,
      organization_id: organization.id,
      team_id: team.id,
      workspace_id: workspace.id,
      ...toColumns(grant),
      created_at: timestamp(deps.clock.now()),
    })
    if (!isNew) throw invalid('team has access to the workspace already', '/data/relationships/team')
    await bumpVersion(tx, organization.id)
    audit({
      action: 'team-workspace.create',
      organizationId: organization.id,
      resourceType: 'team-workspaces',
      resourceId: id,
      details: { team: team.id, workspace: workspace.id, ...grant },
    })
    return created(document(teamWorkspaceFragment((await findTeamWorkspace(tx, id)) as TeamWorkspaceRow)))
  },
})

const showGrant = readRoute({
  path: '/team-workspaces/:team_workspace_id',
  permission: 'team-access:read',
  summary: "Show a team's access to a workspace",
  answers: 'team-workspaces',
  address: grantOfPath,
  load: (context) => loadTeamWorkspace(context, context.address.id),
  document: ({ resource }) => Promise.resolve(ok(document(teamWorkspaceFragment(resource.grant)))),
})

const changeGrant = writeRoute({
  method: 'PATCH',
  path: '/team-workspaces/:team_workspace_id',
  permission: 'team-access:manage',
  summary: "Change a team's access to a workspace",
  answers: 'team-workspaces',
  status: 200,
  accepts: teamWorkspaceBody,
  address: grantOfPath,
  load: (context) => loadTeamWorkspace(context, context.address.id),
  body: (bytes, { id }) => parseTeamWorkspace(bytes, id),
  dryRun: (context) => watchAccess(context, trialOf(context.resource)),
  act: async ({ tx, resource, body, audit }) => {
    const { organization, workspace, team, grant } = resource
    const before = { access: grant.access, details: toDetails(grant) }
    const after = changeWorkspaceGrant(before, body)
    await updateTeamWorkspace(tx, grant.id, toColumns(after))
    await bumpVersion(tx, organization.id)
    audit({
      action: 'team-workspace.update',
      organizationId: organization.id,
      resourceType: 'team-workspaces',
      resourceId: grant.id,
      details: { team: team.id, workspace: workspace.id, before, after },
    })
    return ok(document(teamWorkspaceFragment({ ...grant, ...toColumns(after) })))
  },
})

const removeGrant = writeRoute({
  method: 'DELETE',
  path: '/team-workspaces/:team_workspace_id',
  permission: 'team-access:manage',
  summary: "Take a team's access to a workspace away",
  status: 204,
  address: grantOfPath,
  load: (context) => loadTeamWorkspace(context, context.address.id),
  dryRun: (context) => watchAccess(context, trialOf(context.resource)),
  act: async ({ tx, resource, audit }) => {
    const { organization, workspace, team, grant } = resource
    await deleteTeamWorkspace(tx, grant.id)
    await bumpVersion(tx, organization.id)
    audit({
      action: 'team-workspace.delete',
      organizationId: organization.id,
      resourceType: 'team-workspaces',
      resourceId: grant.id,
      details: { team: team.id, workspace: workspace.id, access: grant.access },
    })
    return noContent
  },
})

export const teamWorkspaceRoutes: readonly Route[] = [
  listGrants,
  addGrant,
  showGrant,
  changeGrant,
  removeGrant,
]
