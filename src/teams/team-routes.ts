import type { Actor } from '../access/actor.ts'
import type { Standing } from '../access/decide.ts'
import { timestamp } from '../core/clock.ts'
import { invalid } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { noContent, ok, type Answer, type Call } from '../http/call.ts'
import type { Deps } from '../http/deps.ts'
import { keptPage } from '../http/kept-page.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { refuse } from '../jsonapi/body.ts'
import { document, listDocument, type Fragment } from '../jsonapi/document.ts'
import { checkIncluded } from '../jsonapi/included.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { membershipFragments } from '../organization-memberships/membership-document.ts'
import { findMemberships } from '../organization-memberships/membership-store.ts'
import { watchAccess } from '../effective-access/access-trial.ts'
import { bumpVersion } from '../organizations/organization-store.ts'
import { userFragment } from '../users/user-document.ts'
import { findUsers } from '../users/user-store.ts'
import { loadOrganization, organizationOfPath } from '../organizations/organization-of-path.ts'
import { teamFragments, type TeamShape } from './team-document.ts'
import { loadTeam, teamOfPath } from './team-of-path.ts'
import { listVisibleTeams } from './team-list-store.ts'
import {
  deleteTeam,
  findTeam,
  insertTeam,
  listTeamMembers,
  updateTeam,
  type TeamMember,
  type TeamRow,
} from './team-store.ts'
import {
  grantFlags,
  newTeamBody,
  NAME_IS_TAKEN,
  problemsOfOwners,
  readTeam,
  refuseTeam,
  teamBody,
} from './teams.ts'

const includable = ['users', 'organization-memberships'] as const
type Includes = ReadonlySet<(typeof includable)[number]>

type Context = { tx: Transaction; deps: Deps; actor: Actor; standing: Standing }

/** What `include` adds: each user or membership once. */
async function includedOf(context: Context, teams: readonly TeamRow[], include: Includes) {
  if (include.size === 0) return undefined
  const { tx, actor, deps } = context
  const byUser = new Map<string, TeamMember>()
  for (const team of teams) {
    for (const member of await listTeamMembers(tx, team.id)) byUser.set(member.user_id, member)
    checkIncluded(teams.length, byUser.size)
  }
  const members = [...byUser.values()]
  const included: Fragment[] = []
  if (include.has('users')) {
    const ids = members.filter((member) => member.is_active).map((member) => member.user_id)
    for (const user of await findUsers(tx, ids)) included.push(userFragment(user, actor))
  }
  if (include.has('organization-memberships')) {
    const shown = members.filter((member) => member.is_active === 1 || deps.config.dialect === 'current')
    const ids = shown.map((member) => member.membership_id)
    const memberships = await findMemberships(tx, ids)
    for (const text of await membershipFragments(tx, memberships, context)) included.push(text)
  }
  return included
}

async function teamAnswer(context: Context, team: TeamRow, include: Includes): Promise<Answer> {
  const shape: TeamShape = include.has('organization-memberships') ? 'whole with memberships' : 'whole'
  const [text] = await teamFragments(context.tx, context.deps, [team], context, shape)
  return ok(document(text as Fragment, await includedOf(context, [team], include)))
}

const filters = ['q', 'filter[names]', 'include'] as const

const listTeams = readRoute({
  path: '/organizations/:organization_name/teams',
  permission: 'organization:read',
  summary: 'List teams',
  query: {
    q: 'Part of the name, without case',
    'filter[names]': 'Exact names, separated by commas',
    include: 'users, organization-memberships',
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
  document: async (context) => {
    const { tx, deps, address, resource, standing, call } = context
    const { page, filter, include, links } = address
    const { organization } = resource
    // The bare list is what clients ask for all day: whole pages of it are kept.
    const name = links.length === 0 ? 'teams' : undefined
    return keptPage(context, organization, name, page, async () => {
      const { teams, total } = await listVisibleTeams(tx, organization, standing, filter, page)
      const shape: TeamShape = include.has('organization-memberships') ? 'listed with memberships' : 'listed'
      const fragments = await teamFragments(tx, deps, teams, context, shape)
      const paging = pagingOf(call.path, links, page, total)
      return listDocument(fragments, paging, await includedOf(context, teams, include))
    })
  },
})

const createTeam = writeRoute({
  method: 'POST',
  path: '/organizations/:organization_name/teams',
  permission: 'team:manage',
  summary: 'Create a team',
  query: { include: 'users, organization-memberships' },
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
    const granted = grantFlags(0, changes.flags, { actor, standing }, dialect)
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
    return teamAnswer(context, (await findTeam(tx, id)) as TeamRow, address.include)
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
  query: { include: 'users, organization-memberships' },
  answers: 'teams',
  address: teamAddress,
  load: ({ tx, address }) => loadTeam(tx, address.teamId),
  document: (context) => teamAnswer(context, context.resource.team, context.address.include),
})

const changeTeam = writeRoute({
  method: 'PATCH',
  path: '/teams/:team_id',
  permission: 'team:manage',
  summary: 'Update a team',
  query: { include: 'users, organization-memberships' },
  answers: 'teams',
  status: 200,
  accepts: teamBody,
  address: teamAddress,
  load: ({ tx, address }) => loadTeam(tx, address.teamId),
  body: (bytes, { teamId }, { config }) => readTeam(bytes, teamBody, config, teamId),
  dryRun: (context) => watchAccess(context, context.resource),
  act: async (context) => {
    const { tx, deps, address, resource, actor, standing, audit } = context
    const { team, organization } = resource
    const { changes } = context.body
    const granted = grantFlags(
      team.organization_access,
      changes.flags,
      { actor, standing, team },
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
    const updated = (await findTeam(tx, team.id)) as TeamRow
    await bumpVersion(tx, organization.id, 0, openTeams(updated) - openTeams(team))
    audit({
      action: 'team.update',
      organizationId: organization.id,
      resourceType: 'teams',
      resourceId: team.id,
      details: { name: updated.name, changes },
    })
    return teamAnswer(context, updated, address.include)
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
