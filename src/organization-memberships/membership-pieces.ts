import { existing } from '../core/existing.ts'
import type { Caller, TeamFacts } from '../access/decide.ts'
import { ownTurn } from '../core/turns.ts'
import type { Deps } from '../http/deps.ts'
import type { Fragment } from '../jsonapi/document.ts'
import { joined, type Piece } from '../jsonapi/later-parts.ts'
import { fragmentsOf, membershipFragment, seenTeams } from './membership-document.ts'
import {
  someTeamsOfMembership,
  teamsOfMemberships,
  type MembershipRow,
  type TeamOfMembership,
} from './membership-store.ts'

const MEMBERSHIPS_A_TURN = 50
const TEAMS_A_TURN = 2_000

type Viewer = Caller & { readonly deps: Pick<Deps, 'database'> }

/** Some memberships with all their teams, or one membership with some of its many teams. */
type Slice =
  | { memberships: readonly MembershipRow[]; teams: readonly TeamOfMembership[] }
  | { membership: MembershipRow; some: TeamFacts[]; isLast: boolean }

/**
 * Memberships with their teams, over several turns of the event loop. Teams come by name; in a membership with more
 * than 2,000 teams they come by id.
 */
async function* slicesOf({ deps }: Viewer, memberships: readonly MembershipRow[]): AsyncGenerator<Slice> {
  let size = MEMBERSHIPS_A_TURN
  for (let from = 0; from < memberships.length;) {
    const some = memberships.slice(from, from + size)
    const ids = some.map(({ id }) => id)
    await ownTurn()
    const teams = await deps.database.read((tx) => teamsOfMemberships(tx, ids, TEAMS_A_TURN))
    if (teams === undefined && some.length > 1) {
      size = Math.ceil(size / 4)
      continue
    }
    if (teams === undefined) yield* slicesOfOne(deps, existing(some[0]))
    else yield { memberships: some, teams }
    from += some.length
  }
}

async function* slicesOfOne({ database }: Viewer['deps'], membership: MembershipRow): AsyncGenerator<Slice> {
  let after = ''
  for (let isLast = false; !isLast;) {
    await ownTurn()
    const some = await database.read((tx) => someTeamsOfMembership(tx, membership.id, after, TEAMS_A_TURN))
    isLast = some.length < TEAMS_A_TURN
    after = some.at(-1)?.id ?? after
    yield { membership, some, isLast }
  }
}

/** The membership resources as JSON, separated by commas. */
export function membershipPieces(
  viewer: Viewer,
  memberships: readonly MembershipRow[],
): AsyncIterable<Piece> {
  return joined(texts(viewer, memberships))
}

async function* texts(viewer: Viewer, memberships: readonly MembershipRow[]): AsyncGenerator<Fragment> {
  let many = ''
  for await (const slice of slicesOf(viewer, memberships)) {
    if ('memberships' in slice) {
      yield fragmentsOf(slice.memberships, slice.teams, viewer).join(',')
      continue
    }
    const identifiers = seenTeams(slice.some, viewer).map(({ id }) => ({ id, type: 'teams' }))
    const text = JSON.stringify(identifiers).slice(1, -1)
    many += many === '' || text === '' ? text : `,${text}`
    if (!slice.isLast) continue
    // No stored text matches: JSON escapes the quotes in it.
    yield membershipFragment(slice.membership, [], viewer).replace(
      '"teams":{"data":[',
      (found) => found + many,
    )
    many = ''
  }
}

/** The ids of the memberships' teams that the viewer may see, each once. */
export async function seenTeamIds(
  viewer: Viewer,
  memberships: readonly MembershipRow[],
  look: (count: number) => void,
): Promise<string[]> {
  const ids = new Set<string>()
  for await (const slice of slicesOf(viewer, memberships)) {
    const teams = 'memberships' in slice ? slice.teams.map(({ team }) => team) : slice.some
    for (const { id } of seenTeams(teams, viewer)) ids.add(id)
    look(ids.size)
  }
  return [...ids].toSorted()
}
