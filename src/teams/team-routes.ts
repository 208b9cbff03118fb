import type { Readable } from 'node:stream'
import { timestamp } from '../core/clock.ts'
import { existing } from '../core/existing.ts'
import { invalid } from '../core/errors.ts'
import { noContent, ok, type Call } from '../http/call.ts'
import { keptDocument, keptPage } from '../http/kept-page.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { refuse } from '../jsonapi/body.ts'
import { document, listDocument, type Fragment } from '../jsonapi/document.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { watchAccess } from '../effective-access/access-trial.ts'
import { bumpVersion } from '../organizations/organization-store.ts'
import { loadOrganization, organizationOfPath } from '../organizations/organization-of-path.ts'
import { teamFragments, type TeamShape } from './team-document.ts'
import { includable, includedWithTeams, type Includes, type TeamContext } from './team-includes.ts'
import { loadTeam, teamOfPath } from './team-of-path.ts'
import { listVisibleTeams } from './team-list-store.ts'
import { deleteTeam, findTeam, insertTeam, updateTeam, type TeamRow } from './team-store.ts'
import {
  grantFlags,
  newTeamBody,
  NAME_IS_TAKEN,
  problemsOfOwners,
  readTeam,
  refuseNameInTrial,
  refuseTeam,
  teamBody,
} from './teams.ts'
import { commaSeparated, includes } from '../jsonapi/parameters.ts'

type Context = Omit<TeamContext, 'later'>

async function teamBodyOf(
  reader: Context & { resource: { organization: { name: string } } },
  team: TeamRow,
  include: Includes,
): Promise<string | Readable> {
  const context = { ...reader, later: new LaterParts() }
  const { tx, deps, resource, later } = context
  const shape: TeamShape = include.has('organization-memberships') ? 'whole with memberships' : 'whole'
  const [text] = await teamFragments(tx, deps, [team], context, shape, resource.organization)
  const included = await includedWithTeams(context, [team], include)
  return later.bodyOf(document(text as Fragment, included))
}

const filters = ['q', 'filter[names]', 'include'] as const

const listTeams = readRoute({
  path: '/organizations/:organization_name/teams',
  permission: 'organization:read',
  summary: 'List teams',
  query: {
    q: 'Part of the name, without case',
    'filter[names]': commaSeparated('Exact names, separated by commas'),
    include: includes(...includable),
  },
  answers: 'teams',
  isList: true,
  address: (call) => {
    const include = call.query.include(includable)
    const page = call.query.page()
    const name = organizationOfPath(call)
    if (name === undefined) return undefined
    const filter = { q: call.query.text('q'), names: call.query.list('filter[names]') }
    return { name, include, page, filter, links: call.query.withoutPage(filters) }
  },
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  document: async (reader) => {
    const { tx, deps, address, resource, standing, call } = reader
    const context = { ...reader, later: new LaterParts() }
    const { page, filter, include, links } = address
    const { organization } = resource
    // Clients request the list without filters most often, so its whole pages are cached.
    const name = links.length === 0 ? 'teams' : undefined
    return keptPage(context, organization, name, page, async () => {
      const { teams, total } = await listVisibleTeams(tx, organization, standing, filter, page)
      const shape: TeamShape = include.has('organization-memberships') ? 'listed with memberships' : 'listed'
      const fragments = await teamFragments(tx, deps, teams, context, shape, organization)
      const paging = pagingOf(call.path, links, page, total)
      const included = await includedWithTeams(context, teams, include)
      return context.later.bodyOf(listDocument(fragments, paging, included))
    })
  },
})

const createTeam = writeRoute({
  method: 'POST',
  path: '/organizations/:organization_name/teams',
  permission: 'team:manage',
  summary: 'Create a team',
  query: { include: includes(...includable) },
  answers: 'teams',
  status: 200,
  accepts: newTeamBody,
  address: (call) => {
    const include = call.query.include(includable)
    const name = organizationOfPath(call)
    return name === undefined ? undefined : { name, include }
  },
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  body: (bytes, _, { config }) => readTeam(bytes, newTeamBody, config),
  act: async (context) => {
    const { tx, deps, address, resource, actor, standing, audit } = context
    const { organization } = resource
    const { changes } = context.body
    const { dialect, maxTeams } = deps.config
    const granted = grantFlags(0, changes.flags, { actor, standing, target: {} }, dialect)
    const isFull = organization.teams_count >= maxTeams
    await refuseTeam(tx, organization.id, changes, [
      ...context.body.problems,
      ...(isFull ? [{ detail: `an organization may have at most ${maxTeams} teams`, pointer: '/data' }] : []),
      ...granted.problems,
    ])
    const now = timestamp(deps.clock.now())
    const id = deps.newId('team')
    const visibility = changes.visibility ?? 'secret'
    const isNew = await insertTeam(tx, {
      id,
      organization_id: organization.id,
      name: changes.name as string,
      sso_team_id: changes.ssoTeamId ?? null,
      visibility,
      organization_access: granted.flags,
      allow_member_token_management: changes.allowMemberTokenManagement === false ? 0 : 1,
      created_at: now,
      updated_at: now,
    })
    if (!isNew) refuse([NAME_IS_TAKEN])
    await bumpVersion(tx, organization.id, 1, visibility === 'organization' ? 1 : 0)
    audit({
      action: 'team.create',
      organizationId: organization.id,
      resourceType: 'teams',
      resourceId: id,
      details: { name: changes.name, visibility, 'organization-access': changes.flags },
    })
    return ok(await teamBodyOf(context, existing(await findTeam(tx, id)), address.include))
  },
})

const teamAddress = (call: Call) => {
  const include = call.query.include(includable)
  const address = teamOfPath(call)
  return address === undefined ? undefined : { ...address, include }
}

const showTeam = readRoute({
  path: '/teams/:team_id',
  permission: 'team:read',
  summary: 'Show a team',
  query: { include: includes(...includable) },
  answers: 'teams',
  address: teamAddress,
  load: ({ tx, address }) => loadTeam(tx, address.teamId),
  document: async (context) => {
    const { team, organization } = context.resource
    const { include } = context.address
    const make = () => teamBodyOf(context, team, include)
    return include.size === 0
      ? keptDocument(context, organization, `team ${team.id}`, make)
      : ok(await make())
  },
})

const changeTeam = writeRoute({
  method: 'PATCH',
  path: '/teams/:team_id',
  permission: 'team:manage',
  summary: 'Update a team',
  query: { include: includes(...includable) },
  answers: 'teams',
  status: 200,
  accepts: teamBody,
  address: teamAddress,
  load: ({ tx, address }) => loadTeam(tx, address.teamId),
  body: (bytes, { teamId }, { config }) => readTeam(bytes, teamBody, config, teamId),
  dryRun: (context) => {
    refuseNameInTrial(context.standing, context.body.changes)
    return watchAccess(context, context.resource)
  },
  act: async (context) => {
    const { tx, deps, address, resource, actor, standing, audit } = context
    const { team, organization } = resource
    const { changes } = context.body
    const granted = grantFlags(
      team.organization_access,
      changes.flags,
      { actor, standing, target: resource.target },
      deps.config.dialect,
    )
    const own = team.is_owners === 1 ? problemsOfOwners(changes) : granted.problems
    await refuseTeam(tx, organization.id, changes, [...context.body.problems, ...own], team)
    const isNew = await updateTeam(tx, team.id, {
      name: changes.name ?? team.name,
      sso_team_id: changes.ssoTeamId === undefined ? team.sso_team_id : changes.ssoTeamId,
      visibility: changes.visibility ?? team.visibility,
      organization_access: granted.flags,
      allow_member_token_management:
        changes.allowMemberTokenManagement === undefined
          ? team.allow_member_token_management
          : changes.allowMemberTokenManagement
            ? 1
            : 0,
      updated_at: timestamp(deps.clock.now()),
    })
    if (!isNew) refuse([NAME_IS_TAKEN])
    const updated = existing(await findTeam(tx, team.id))
    await bumpVersion(tx, organization.id, 0, openTeams(updated) - openTeams(team))
    audit({
      action: 'team.update',
      organizationId: organization.id,
      resourceType: 'teams',
      resourceId: team.id,
      details: { name: updated.name, changes },
    })
    return ok(await teamBodyOf(context, updated, address.include))
  },
})

function openTeams(team: TeamRow): number {
  return team.visibility === 'organization' ? 1 : 0
}

const removeTeam = writeRoute({
  method: 'DELETE',
  path: '/teams/:team_id',
  permission: 'team:manage',
  summary: 'Delete a team',
  status: 204,
  address: teamOfPath,
  load: ({ tx, address }) => loadTeam(tx, address.teamId),
  dryRun: (context) => watchAccess(context, context.resource),
  act: async ({ tx, resource, audit }) => {
    const { team, organization } = resource
    if (team.is_owners === 1) throw invalid('the team owners cannot be deleted')
    await deleteTeam(tx, team)
    await bumpVersion(tx, organization.id, -1, -openTeams(team))
    audit({
      action: 'team.delete',
      organizationId: organization.id,
      resourceType: 'teams',
      resourceId: team.id,
      details: { name: team.name },
    })
    return noContent
  },
})

export const teamRoutes: readonly Route[] = [listTeams, createTeam, showTeam, changeTeam, removeTeam]
