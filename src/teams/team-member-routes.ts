import { dryRunOfAccess } from '../effective-access/access-dry-run.ts'
import { done, unchanged, type Outcome } from '../http/outcome.ts'
import { list } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import type { Transaction } from '../database/database.ts'
import { write, type Acting } from '../http/write-route.ts'
import { readIdentifiers, type Identifiers } from '../jsonapi/body.ts'
import { listDocument } from '../jsonapi/document.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { choice, includes, maybeFlag } from '../jsonapi/parameters.ts'
import {
  includedWithMemberships,
  membershipFragments,
} from '../organization-memberships/membership-includes.ts'
import { statusFilter } from '../organization-memberships/membership-filter.ts'
import { listMembershipsOfTeam } from '../organization-memberships/membership-list-store.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import type { MemberCandidate } from './member-candidate-store.ts'
import { deleteTeamMembers, insertTeamMembers, teamMembersAmong } from './team-member-store.ts'
import { checkOwnerRemains, resolveMembers, tooManyMembers, type MemberIds } from './team-members.ts'
import { teamPlace } from './team-place.ts'
import type { TeamRow } from './team-store.ts'

type LoadedTeam = { readonly organization: OrganizationRow; readonly team: TeamRow; readonly target: object }
type Changing = Acting<unknown, LoadedTeam, Identifiers, unknown, {}, readonly MemberCandidate[]>

/** Those of the members who are not in the team yet. */
async function newAmong(tx: Transaction, team: TeamRow, members: readonly MemberCandidate[]) {
  const userIds = members.map((member) => member.user_id)
  const present = new Set((await teamMembersAmong(tx, team.id, userIds)).map((member) => member.user_id))
  return members.filter((member) => !present.has(member.user_id))
}

/** Adds members who are not in the team yet. */
async function add({ tx, resource, checked: added }: Changing): Promise<Outcome<unknown>> {
  const { team, organization } = resource
  if (added.length === 0) return unchanged(team)
  const rows = added.map((member) => ({
    team_id: team.id,
    membership_id: member.id,
    user_id: member.user_id,
    organization_id: organization.id,
    is_active: member.status === 'active' ? (1 as const) : (0 as const),
  }))
  await insertTeamMembers(tx, team.id, rows)
  return done(team, { action: 'team.add-members', details: { name: team.name, ...namesOf(added) } })
}

async function remove({ tx, resource, checked: members }: Changing): Promise<Outcome<unknown>> {
  const { team, organization } = resource
  const userIds = members.map((member) => member.user_id)
  if (team.is_owners === 1) await checkOwnerRemains(tx, organization, userIds)
  if ((await deleteTeamMembers(tx, team.id, userIds)) === 0) return unchanged(team)
  return done(team, { action: 'team.remove-members', details: { name: team.name, ...namesOf(members) } })
}

/** For the audit trail. A member who is only invited is named by the membership id, see namesUser. */
function namesOf(members: readonly MemberCandidate[]): Record<string, string[]> {
  const invited = members.filter(({ status }) => status === 'invited').map(({ id }) => id)
  const users = members.filter(({ status }) => status === 'active').map(({ user_id: id }) => id)
  return { users, ...(invited.length === 0 ? {} : { invited }) }
}

function memberRoute(method: 'POST' | 'DELETE', by: MemberIds): Route {
  const isAdding = method === 'POST'
  return write(teamPlace, `/relationships/${by}`, {
    method,
    status: 204,
    permission: 'team:update-members',
    summary: `${isAdding ? 'Add members to' : 'Remove members from'} a team, by ${by === 'users' ? 'user' : 'membership'}`,
    ...(isAdding ? {} : { refuses: [403] }),
    accepts: { identifiers: by },
    body: (bytes, { config }) => readIdentifiers(bytes, by, config.maxTeamMembers),
    dryRun: async (context) => {
      const { tx, resource, body } = context
      // The write refuses what is not found.
      const members = await resolveMembers(tx, resource.team, by, body.ids, isAdding, [])
      // An invited member gets no access before they accept.
      const active = members.filter(({ status }) => status === 'active')
      return dryRunOfAccess(context, { ...context.resource, userIds: active.map(({ user_id: id }) => id) })
    },
    // If one of the members cannot be added or removed, none is.
    problems: async ({ tx, deps, resource: { team }, body, problems }) => {
      const members = await resolveMembers(tx, team, by, body.ids, isAdding, problems)
      if (!isAdding) return members
      const added = await newAmong(tx, team, members)
      if (added.length > 0) problems.push(...(await tooManyMembers(tx, team, added.length, deps.config)))
      return added
    },
    act: isAdding ? add : remove,
  })
}

export const teamMemberRoutes: readonly Route[] = [
  memberRoute('POST', 'users'),
  memberRoute('DELETE', 'users'),
  list(teamPlace, '/relationships/organization-memberships', {
    permission: 'team:read',
    summary: 'List the memberships of a team',
    answers: 'organization-memberships',
    isPolled: true,
    query: {
      ...statusFilter,
      'filter[is_service_account]': maybeFlag('true: only service accounts; false: none of them'),
      sort: choice('The order of the list', 'status', '-status'),
      include: includes('user'),
    },
    document: async (context) => {
      const { tx, resource, query, page, paging } = context
      const filter = {
        status: query['filter[status]'],
        isServiceAccount: query['filter[is_service_account]'],
        sort: query.sort && (query.sort === 'status' ? ('asc' as const) : ('desc' as const)),
      }
      await context.willLookAt(() => resource.team.users_count)
      const { memberships, total } = await listMembershipsOfTeam(tx, resource.team.id, filter, page)
      const viewer = { ...context, later: new LaterParts() }
      const fragments = await membershipFragments(viewer, memberships)
      const included = await includedWithMemberships(viewer, memberships, query.include)
      return viewer.later.bodyOf(listDocument(fragments, paging(total), included))
    },
  }),
  memberRoute('POST', 'organization-memberships'),
  memberRoute('DELETE', 'organization-memberships'),
]
