import { noContent, ok } from '../http/call.ts'
import { readRoute, writeRoute, type Acting, type Route } from '../http/route.ts'
import { parseIdentifiers } from '../jsonapi/body.ts'
import { listDocument } from '../jsonapi/document.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { membershipFragments } from '../organization-memberships/membership-document.ts'
import { membershipFilterOf } from '../organization-memberships/membership-filter.ts'
import { listMembershipsOfTeam } from '../organization-memberships/membership-list-store.ts'
import { watchAccess } from '../effective-access/access-trial.ts'
import { bumpVersion } from '../organizations/organization-store.ts'
import type { MemberCandidate } from './member-candidate-store.ts'
import { deleteTeamMembers, insertTeamMembers } from './team-member-store.ts'
import { checkMemberLimit, checkOwnerRemains, resolveMembers, type MemberIds } from './team-members.ts'
import { loadTeam, teamOfPath } from './team-of-path.ts'
import { listTeamMembers } from './team-store.ts'
import { choice, flag } from '../jsonapi/parameters.ts'

type TeamContext = Acting<unknown, NonNullable<Awaited<ReturnType<typeof loadTeam>>>, readonly string[]>

/** Adds the members who are not in the team yet. If one of them cannot be added, none is. */
async function add(context: TeamContext, by: MemberIds): Promise<void> {
  const { tx, deps, resource, body, audit, unchanged } = context
  const { team, organization } = resource
  const members = await resolveMembers(tx, team, by, body)
  const present = new Set((await listTeamMembers(tx, team.id)).map((member) => member.user_id))
  const added = members.filter((member) => !present.has(member.user_id))
  if (added.length === 0) return unchanged()
  await checkMemberLimit(tx, team, added.length, deps.config)
  const rows = added.map((member) => ({
    team_id: team.id,
    membership_id: member.id,
    user_id: member.user_id,
    organization_id: organization.id,
    is_active: member.status === 'active' ? (1 as const) : (0 as const),
  }))
  await insertTeamMembers(tx, team.id, rows)
  await bumpVersion(tx, organization.id)
  audit({
    action: 'team.add-members',
    organizationId: organization.id,
    resourceType: 'teams',
    resourceId: team.id,
    details: { name: team.name, ...namesOf(added) },
  })
}

/** For the audit trail. A member who is only invited is named by the membership id, see namesUser. */
function namesOf(members: readonly MemberCandidate[]): Record<string, string[]> {
  const invited = members.filter(({ status }) => status === 'invited').map(({ id }) => id)
  const users = members.filter(({ status }) => status === 'active').map(({ user_id: id }) => id)
  return { users, ...(invited.length === 0 ? {} : { invited }) }
}

async function remove(context: TeamContext, by: MemberIds): Promise<void> {
  const { tx, resource, body, audit, unchanged } = context
  const { team, organization } = resource
  const members = await resolveMembers(tx, team, by, body)
  const userIds = members.map((member) => member.user_id)
  if (team.is_owners === 1) await checkOwnerRemains(tx, organization, userIds)
  if ((await deleteTeamMembers(tx, team.id, userIds)) === 0) return unchanged()
  await bumpVersion(tx, organization.id)
  audit({
    action: 'team.remove-members',
    organizationId: organization.id,
    resourceType: 'teams',
    resourceId: team.id,
    details: { name: team.name, ...namesOf(members) },
  })
}

function memberRoute(method: 'POST' | 'DELETE', by: MemberIds): Route {
  const isAdding = method === 'POST'
  return writeRoute({
    method,
    path: `/teams/:team_id/relationships/${by}`,
    permission: 'team:update-members',
    summary: `${isAdding ? 'Add members to' : 'Remove members from'} a team, by ${by === 'users' ? 'user' : 'membership'}`,
    status: 204,
    ...(isAdding ? {} : { refuses: [403] }),
    accepts: { identifiers: by },
    address: teamOfPath,
    load: ({ tx, address }) => loadTeam(tx, address.teamId),
    body: (bytes, _, { config }) => parseIdentifiers(bytes, by, config.maxTeamMembers),
    dryRun: async (context) => {
      const members = await resolveMembers(context.tx, context.resource.team, by, context.body)
      // An invited member gets no access before they accept.
      const active = members.filter(({ status }) => status === 'active')
      return watchAccess(context, { ...context.resource, userIds: active.map(({ user_id: id }) => id) })
    },
    act: async (context) => {
      await (isAdding ? add : remove)(context, by)
      return noContent
    },
  })
}

const filters = ['filter[status]', 'filter[is_service_account]', 'sort'] as const

const listMembers = readRoute({
  path: '/teams/:team_id/relationships/organization-memberships',
  permission: 'team:read',
  summary: 'List the memberships of a team',
  query: {
    'filter[status]': choice('Memberships with this status', 'active', 'invited'),
    'filter[is_service_account]': flag('Service accounts alone, or none of them'),
    sort: choice('The order of the list', 'status', '-status'),
  },
  answers: 'organization-memberships',
  isList: true,
  address: (call) => {
    const page = call.query.page()
    const { status, isServiceAccount, sort } = membershipFilterOf(call.query, ['status', '-status'])
    const address = teamOfPath(call)
    if (address === undefined) return undefined
    return {
      ...address,
      page,
      filter: { status, isServiceAccount, sort },
      links: call.query.withoutPage(filters),
    }
  },
  load: ({ tx, address }) => loadTeam(tx, address.teamId),
  document: async (context) => {
    const { tx, address, call } = context
    const { teamId, page, filter, links } = address
    const { memberships, total } = await listMembershipsOfTeam(tx, teamId, filter, page)
    const later = new LaterParts()
    const fragments = await membershipFragments(tx, memberships, { ...context, later })
    return ok(later.bodyOf(listDocument(fragments, pagingOf(call.path, links, page, total))))
  },
})

export const teamMemberRoutes: readonly Route[] = [
  memberRoute('POST', 'users'),
  memberRoute('DELETE', 'users'),
  listMembers,
  memberRoute('POST', 'organization-memberships'),
  memberRoute('DELETE', 'organization-memberships'),
]
