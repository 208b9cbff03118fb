import { isPermitted, type Caller } from '../access/decide.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import type { Reveal } from '../http/read-route.ts'
import type { Fragment } from '../jsonapi/document.ts'
import { checkIncluded } from '../jsonapi/included.ts'
import { joined, type LaterParts } from '../jsonapi/later-parts.ts'
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
  tx: Transaction,
  memberships: readonly MembershipRow[],
  viewer: Caller & { deps: Deps; later: LaterParts },
): Promise<Fragment[]> {
  const { deps, later } = viewer
  const teams = await teamsAtOnce(tx, memberships, later)
  if (teams === undefined) return [later.addResources(() => membershipPieces(deps, memberships, viewer))]
  return fragmentsOf(memberships, teams, viewer)
}

/** Undefined if the answer has no room for so many. */
async function teamsAtOnce(
  tx: Transaction,
  memberships: readonly MembershipRow[],
  later: LaterParts,
): Promise<TeamOfMembership[] | undefined> {
  const room = later.roomForIdentifiers
  const ids = memberships.map(({ id }) => id)
  const teams = await teamsOfMemberships(tx, ids, room)
  later.tookIdentifiers(teams?.length ?? room)
  return teams
}

type MembershipContext = Caller & {
  tx: Transaction
  deps: Deps
  later: LaterParts
  /** Takes a function that runs after the transaction and before anything is sent. It may still refuse the request. */
  reveal?: (event: Reveal) => void
}

/** The resources that `include` adds: users, and teams that the caller may see. Undefined without `include`. */
export async function includedWithMemberships(
  context: MembershipContext,
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
      included.push(userFragment(user, actor, { isMembershipReadable }))
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
  context: MembershipContext,
  memberships: readonly MembershipRow[],
): Promise<Fragment[]> {
  const { tx, deps, later, reveal } = context
  const { organization_id: id = '', organization_name: name = '' } = memberships[0] ?? {}
  const teams = (await teamsAtOnce(tx, memberships, later))?.map(({ team }) => team)
  const seen = teams && [...new Set(seenTeams(teams, context).map(({ id }) => id))]
  if (seen !== undefined && later.hasRoomFor(seen.length, 0)) {
    return teamFragments(context, await findTeams(tx, id, seen), wholeTeam, { name })
  }
  const find = () =>
    seenTeamIds(deps, memberships, context, (count) => checkIncluded(memberships.length, count))
  let ids: string[] | undefined
  reveal?.(async () => {
    ids = await find()
    return undefined
  })
  return [
    later.addResources(async function* () {
      ids ??= await find()
      yield* joined(teamsInTurns(deps, { id, name }, ids, context, wholeTeam))
    }),
  ]
}
