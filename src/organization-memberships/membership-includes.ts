import { isPermitted } from '../access/decide.ts'
import type { Fragment } from '../jsonapi/document.ts'
import { checkIncluded } from '../jsonapi/included.ts'
import { joined } from '../jsonapi/later-parts.ts'
import { resourcesLater, type IncludingViewer } from '../outputs/included-outputs.ts'
import { teamFragments, teamsInTurns } from '../teams/team-document.ts'
import { wholeTeam } from '../teams/team-fields.ts'
import { findTeams } from '../teams/team-store.ts'
import { userFragment } from '../users/user-document.ts'
import { findUsers, type UserRow } from '../users/user-store.ts'
import { namesUser, standInUser } from './invited-user.ts'
import { fragmentsOf, seenTeams } from './membership-document.ts'
import { membershipPieces, seenTeamIds } from './membership-pieces.ts'
import { teamsOfMemberships, type MembershipRow, type TeamOfMembership } from './membership-store.ts'

/** The documents of a list of memberships. Built `later` if they are in very many teams. */
export async function membershipFragments(
  viewer: IncludingViewer,
  memberships: readonly MembershipRow[],
): Promise<Fragment[]> {
  const teams = await teamsAtOnce(viewer, memberships)
  if (teams === undefined) return [viewer.later.addResources(() => membershipPieces(viewer, memberships))]
  return fragmentsOf(memberships, teams, viewer)
}

/** Undefined if the answer has no room for so many. */
async function teamsAtOnce(
  { tx, later }: IncludingViewer,
  memberships: readonly MembershipRow[],
): Promise<TeamOfMembership[] | undefined> {
  const room = later.roomForIdentifiers
  const ids = memberships.map(({ id }) => id)
  const teams = await teamsOfMemberships(tx, ids, room)
  later.tookIdentifiers(teams?.length ?? room)
  return teams
}

/** The resources that `include` adds: users, and teams that the caller may see. Undefined without `include`. */
export async function includedWithMemberships(
  context: IncludingViewer,
  memberships: readonly MembershipRow[],
  include: ReadonlySet<string>,
): Promise<Fragment[] | undefined> {
  if (include.size === 0) return undefined
  const { tx, actor, standing } = context
  const included: Fragment[] = []
  if (include.has('user')) {
    const named = memberships.filter((membership) => namesUser(membership, actor))
    const users = await findUsers(tx, [...new Set(named.map((membership) => membership.user_id))])
    const add = (user: UserRow, userId: string) => {
      const isMembershipReadable = isPermitted('membership:read', actor, standing, { userId })
      included.push(userFragment(user, context, { isMembershipReadable }))
    }
    for (const user of users) add(user, user.id)
    for (const membership of memberships) {
      if (!namesUser(membership, actor)) add(standInUser(membership), membership.user_id)
    }
  }
  if (include.has('teams')) included.push(...(await includedTeams(context, memberships)))
  return included
}

async function includedTeams(
  context: IncludingViewer,
  memberships: readonly MembershipRow[],
): Promise<Fragment[]> {
  const { tx, later } = context
  const { organization_id: id = '', organization_name: name = '' } = memberships[0] ?? {}
  const teams = (await teamsAtOnce(context, memberships))?.map(({ team }) => team)
  const seen = teams && [...new Set(seenTeams(teams, context).map(({ id }) => id))]
  if (seen !== undefined && later.hasRoomFor(seen.length, 0)) {
    return teamFragments(context, await findTeams(tx, id, seen), wholeTeam, { name })
  }
  const find = () => seenTeamIds(context, memberships, (count) => checkIncluded(memberships.length, count))
  return [resourcesLater(context, find, (ids) => joined(teamsInTurns(context, { id, name }, ids, wholeTeam)))]
}
