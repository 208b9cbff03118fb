import { MOST_LEFT_TOKENS, leftTokensOf } from '../authentication-tokens/handed-out.ts'
import { leftTokensEverywhere, type LeftIn } from '../authentication-tokens/left-everywhere.ts'
import { existing } from '../core/existing.ts'
import type { Transaction } from '../database/database.ts'
import type { DryRun } from '../http/dry-run.ts'
import type { Viewer } from '../http/route.ts'
import {
  findMembership,
  membershipsOfUser,
  type MembershipRow,
} from '../organization-memberships/membership-store.ts'
import { findOrganization, type OrganizationRow } from '../organizations/organization-store.ts'
import { findUser, findUsers, type UserRow } from '../users/user-store.ts'
import type { KeptTokens } from './access-changes-document.ts'
import { dryRunOf, nothingHeld, standingBy, type Compared } from './access-changes.ts'
import { sightOf } from './access-sight.ts'
import { concernedPeople } from './dry-run-people.ts'
import { placesOf } from './dry-run-places.ts'
import { grantedTo, heldOn } from './holdings.ts'
import { readGrants } from './team-grants.ts'

/** Limits the statements of one dry run. */
const MOST_ORGANIZATIONS = 100

/** What a user has in one organization, as far as the caller sees it. `total`: workspaces and projects there. */
type Belonging = {
  readonly compared: (isLeft: boolean) => Compared
  readonly places: number
  readonly total: number
}

/**
 * The end of a membership: examines its user on all places that the caller sees. Somebody who is only invited has no
 * access, and is not named.
 */
export async function dryRunOfRemoval(
  viewer: Viewer,
  { organization, membership }: { organization: OrganizationRow; membership: MembershipRow },
): Promise<DryRun> {
  const { tx, deps } = viewer
  const isActive = membership.status === 'active'
  const [user] = await findUsers(tx, isActive ? [membership.user_id] : [])
  const { maxDryRunPairs } = deps.config
  const found = user === undefined ? [] : [await belongingTo(viewer, organization, user, maxDryRunPairs)]
  const look = async (writing: Transaction) =>
    (await findMembership(writing, membership.id))?.status === 'active'
  const left = isActive ? await leftTokensOf(viewer, organization, membership.user_id) : []
  return leaving(viewer, { id: membership.id, found, unread: 0 }, look, [{ organization, left }])
}

/** The suspension or deletion of a user: examines them in the organizations whose active member they are. */
export async function dryRunOfUserEnding(viewer: Viewer, user: UserRow): Promise<DryRun> {
  const { tx, actor, deps } = viewer
  const memberships = (await membershipsOfUser(tx, user.id)).filter(({ status }) => status === 'active')
  const found: Belonging[] = []
  let room = deps.config.maxDryRunPairs
  let unread = 0
  for (const { organization_id: id } of memberships) {
    if (found.length === MOST_ORGANIZATIONS || room === 0) {
      unread += 1
      continue
    }
    const organization = existing(await findOrganization(tx, id))
    if (organization.deleted_at !== null) continue
    const standing = await deps.standings.in(tx, actor, organization)
    const belonging = await belongingTo({ ...viewer, standing }, organization, user, room)
    found.push(belonging)
    room -= belonging.places
  }
  const look = async (writing: Transaction) => (await findUser(writing, user.id))?.is_suspended === 0
  const left = await leftTokensEverywhere(viewer, user.id)
  return leaving(viewer, { id: user.id, found, unread }, look, left)
}

/** @param unread organizations that are not examined. Each has at least one project. */
function leaving(
  viewer: Viewer,
  { id, found, unread }: { id: string; found: readonly Belonging[]; unread: number },
  look: (tx: Transaction) => Promise<boolean>,
  left: readonly LeftIn[],
): DryRun {
  const places = found.reduce((sum, { total }) => sum + total, unread)
  const compare = (wasIn: boolean, isIn: boolean) => ({
    compared: found.map((belonging) => belonging.compared(wasIn && !isIn)),
    totals: { who: Math.min(1, found.length), places },
  })
  return dryRunOf(id, viewer, look, compare, keptTokens(left))
}

/** The tokens of teams and organizations that the user has made or seen: they stay valid unless the request ends them. */
function keptTokens(left: readonly LeftIn[]): KeptTokens {
  const all = left.flatMap(({ organization, left: ofOne }) =>
    ofOne.flatMap(({ token: { id, kind, description }, team }) =>
      kind === 'user'
        ? []
        : [{ id, kind, organization: organization.name, team: team?.name ?? null, description }],
    ),
  )
  return { tokens: all.slice(0, MOST_LEFT_TOKENS), 'tokens-truncated': all.length > MOST_LEFT_TOKENS }
}

async function belongingTo(
  viewer: Viewer,
  organization: OrganizationRow,
  user: UserRow,
  most: number,
): Promise<Belonging> {
  const { tx, deps } = viewer
  const { places, total } = await placesOf(viewer, { organization }, most)
  const sight = await sightOf(viewer, { organization }, 'everywhere', places)
  const who = await concernedPeople(tx, organization.id, [user], sight)
  const teamIds = who.flatMap(({ teams }) => teams.map(({ id }) => id))
  const grants = sight.seenGrants(await readGrants(tx, teamIds, 'everywhere', 'projects too'))
  const compared = (isLeft: boolean): Compared => ({
    organization,
    who,
    places,
    having: (one) => {
      const granted = grantedTo(one, grants)
      const { columns, flags } = standingBy(one, organization, deps.standings.inForce)
      return {
        flags: [flags, isLeft ? 0 : flags],
        on: (index) => {
          const held = heldOn(columns, granted, existing(places[index]))
          return [held, isLeft ? nothingHeld : held]
        },
      }
    },
  })
  return { compared, places: places.length, total }
}
