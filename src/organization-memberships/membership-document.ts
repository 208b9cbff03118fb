import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import { isPermitted, type Standing, type TeamFacts } from '../access/decide.ts'
import type { Transaction } from '../database/database.ts'
import {
  nullable,
  relationMany,
  relationOne,
  timeSchema,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import { checkIncluded } from '../jsonapi/included.ts'
import { joined, type LaterParts } from '../jsonapi/later-parts.ts'
import type { Deps } from '../http/deps.ts'
import type { Reveal } from '../http/route.ts'
import { teamFragments, teamsInTurns } from '../teams/team-document.ts'
import { findTeams } from '../teams/team-store.ts'
import { userFragment } from '../users/user-document.ts'
import { findUsers } from '../users/user-store.ts'
import { namesUser, shownUserId, standInUser } from './invited-user.ts'
import { membershipPieces, seenTeamIds } from './membership-pieces.ts'
import { teamsOfMemberships, type MembershipRow, type TeamOfMembership } from './membership-store.ts'

export const membershipDescription: ResourceDescription = {
  type: 'organization-memberships',
  attributes: {
    status: Type.Union([Type.Literal('active'), Type.Literal('invited')]),
    email: nullable(Type.String()),
    'created-at': timeSchema,
  },
  relationships: {
    organization: relationOne('organizations'),
    user: relationOne('users'),
    teams: relationMany('teams'),
  },
}

export type MembershipViewer = { actor: Actor; standing: Standing }

/** The documents of a list of memberships. Built `later` if they are in very many teams. */
export async function membershipFragments(
  tx: Transaction,
  memberships: readonly MembershipRow[],
  viewer: MembershipViewer & { deps: Deps; later: LaterParts },
): Promise<Fragment[]> {
  const { deps, later } = viewer
  const teams = await teamsAtOnce(tx, memberships, later)
  if (teams === undefined) return [later.addResources(() => membershipPieces(deps, memberships, viewer))]
  return fragmentsOf(memberships, teams, viewer)
}

export function fragmentsOf(
  memberships: readonly MembershipRow[],
  teams: readonly TeamOfMembership[],
  viewer: MembershipViewer,
): Fragment[] {
  const byMembership = Map.groupBy(teams, ({ membershipId }) => membershipId)
  return memberships.map((membership) => {
    const own = (byMembership.get(membership.id) ?? []).map(({ team }) => team)
    return membershipFragment(membership, own, viewer)
  })
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

export function seenTeams(teams: readonly TeamFacts[], { actor, standing }: MembershipViewer): TeamFacts[] {
  return teams.filter((team) => isPermitted('team:read', actor, standing, { team }))
}

/** The only function that builds `"type": "organization-memberships"`, without teams that the caller may not see. */
export function membershipFragment(
  membership: MembershipRow,
  teams: readonly TeamFacts[],
  viewer: MembershipViewer,
): Fragment {
  const { actor, standing } = viewer
  // A team document names memberships that the caller may not read directly. Then the email is hidden.
  const isReadable = isPermitted('membership:read', actor, standing, { userId: membership.user_id })
  return fragment({
    id: membership.id,
    type: 'organization-memberships',
    attributes: {
      status: membership.status,
      email: isReadable ? membership.email : null,
      'created-at': membership.created_at,
    },
    relationships: {
      organization: { data: { id: membership.organization_name, type: 'organizations' } },
      user: { data: { id: shownUserId(membership, actor), type: 'users' } },
      teams: { data: seenTeams(teams, viewer).map(({ id }) => ({ id, type: 'teams' })) },
    },
  })
}

type MembershipContext = MembershipViewer & {
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
    for (const user of users) {
      const isMembershipReadable = isPermitted('membership:read', actor, standing, { userId: user.id })
      included.push(userFragment(user, actor, { isMembershipReadable }))
    }
    for (const membership of memberships) {
      if (namesUser(membership, actor)) continue
      const target = { userId: membership.user_id }
      const isMembershipReadable = isPermitted('membership:read', actor, standing, target)
      included.push(userFragment(standInUser(membership), actor, { isMembershipReadable }))
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
  const teams = await teamsAtOnce(tx, memberships, later)
  const seen = teams && [
    ...new Set(
      seenTeams(
        teams.map(({ team }) => team),
        context,
      ).map(({ id }) => id),
    ),
  ]
  if (seen !== undefined && later.hasRoomFor(seen.length, 0)) {
    return teamFragments(tx, deps, await findTeams(tx, id, seen), context, 'whole', { name })
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
      yield* joined(teamsInTurns(deps, { id, name }, ids, context, 'whole'))
    }),
  ]
}
