import type { Caller } from '../access/decide.ts'
import { ownTurn } from '../core/turns.ts'
import type { Deps } from '../http/deps.ts'
import type { Fragment } from '../jsonapi/document.ts'
import { checkIncluded } from '../jsonapi/included.ts'
import { fields, includes, type QueryValues } from '../jsonapi/parameters.ts'
import { joined, type Piece } from '../jsonapi/later-parts.ts'
import { membershipFragments } from '../organization-memberships/membership-includes.ts'
import { membershipPieces } from '../organization-memberships/membership-pieces.ts'
import { findMemberships } from '../organization-memberships/membership-store.ts'
import { resourcesLater, type IncludingViewer } from '../outputs/included-outputs.ts'
import { userFragment } from '../users/user-document.ts'
import { findUsers } from '../users/user-store.ts'
import { shownMembers } from './team-document.ts'
import { teamResource } from './team-fields.ts'
import { membersInTurns } from './team-members-in-turns.ts'
import { someTeamMembers, type TeamMember, type TeamRow } from './team-store.ts'

const include = { include: includes('users', 'organization-memberships') }
type Includes = QueryValues<typeof include>['include']

/** The query of each answer with teams. */
export const teamQuery = {
  ...include,
  'fields[teams]': fields(
    'teams',
    ...Object.keys(teamResource.description.attributes),
    ...Object.keys(teamResource.description.relationships ?? {}),
  ),
}
export type TeamQuery = QueryValues<typeof teamQuery>

/** The resources that `include` adds, each user or membership once. Undefined if the request includes nothing. */
export async function includedWithTeams(
  context: IncludingViewer,
  teams: readonly TeamRow[],
  include: Includes,
): Promise<Fragment[] | undefined> {
  if (include.size === 0) return undefined
  const { tx, deps, later } = context
  const members = await membersAtOnce(context, teams)
  if (members !== undefined && later.hasRoomFor(members.length * include.size, 0)) {
    const { userIds, membershipIds } = idsOf(members, include, deps)
    const users = await findUsers(tx, userIds)
    const memberships = await findMemberships(tx, membershipIds)
    const included = users.map((user) => userFragment(user, context))
    return [...included, ...(await membershipFragments(context, memberships))]
  }
  const find = () => membersOf(deps, teams)
  return [resourcesLater(context, find, (found) => joined(resourcesOf(context, found, include)))]
}

/** Undefined if the answer has no room for so many. */
async function membersAtOnce(
  { tx, later }: IncludingViewer,
  teams: readonly TeamRow[],
): Promise<TeamMember[] | undefined> {
  const byUser = new Map<string, TeamMember>()
  for (const team of teams) {
    const room = later.roomForIdentifiers
    if (team.users_count > room) return undefined
    const members = await someTeamMembers(tx, team.id, '', room + 1)
    later.tookIdentifiers(members.length)
    if (members.length > room) return undefined
    for (const member of members) byUser.set(member.user_id, member)
  }
  return [...byUser.values()]
}

/** All members of the teams, each once. 400 if there are more than a list may include. */
async function membersOf(deps: Deps, teams: readonly TeamRow[]): Promise<TeamMember[]> {
  const byUser = new Map<string, TeamMember>()
  for (const team of teams) {
    for await (const members of membersInTurns(deps, team.id)) {
      for (const member of members) byUser.set(member.user_id, member)
      checkIncluded(teams.length, byUser.size)
    }
  }
  return [...byUser.values()]
}

/** Ids of the resources to include. An invited member is not a user yet. */
function idsOf(members: readonly TeamMember[], include: Includes, { config }: Deps) {
  const { active, shown } = shownMembers(members, config)
  return {
    userIds: include.has('users') ? active.map((member) => member.user_id) : [],
    membershipIds: include.has('organization-memberships') ? shown.map((member) => member.membership_id) : [],
  }
}

const RESOURCES_A_TURN = 200

async function* resourcesOf(
  viewer: Caller & { deps: Deps },
  members: readonly TeamMember[],
  include: Includes,
): AsyncGenerator<string | AsyncIterable<Piece>> {
  const { deps } = viewer
  const { userIds, membershipIds } = idsOf(members, include, deps)
  for (const ids of slicesOf(userIds)) {
    await ownTurn()
    const users = await deps.database.read((tx) => findUsers(tx, ids))
    yield users.map((user) => userFragment(user, viewer)).join(',')
  }
  for (const ids of slicesOf(membershipIds)) {
    await ownTurn()
    const memberships = await deps.database.read((tx) => findMemberships(tx, ids))
    yield membershipPieces(viewer, memberships)
  }
}

/** Sorted by id, as in an answer that is built at once. */
function slicesOf(ids: readonly string[]): string[][] {
  const sorted = ids.toSorted()
  return Array.from({ length: Math.ceil(ids.length / RESOURCES_A_TURN) }, (_, place) =>
    sorted.slice(place * RESOURCES_A_TURN, (place + 1) * RESOURCES_A_TURN),
  )
}
