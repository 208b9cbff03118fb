import { existing } from '../core/existing.ts'
import { setImmediate } from 'node:timers/promises'
import type { ColumnSet } from '../access/decide.ts'
import { hasFlag, organizationFlags, type FlagSet } from '../access/organization-flags.ts'
import { standingOf, type InForce } from '../access/standing.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import type { AccessChange } from './access-changes-document.ts'
import type { HoldingTeam } from './holdings-store.ts'
import { grantedTo, heldOn, type Granted } from './holdings.ts'
import { actionsOn, levelOn, namesOfActions, type Held } from './levels.ts'
import type { NamedPlace } from './places.ts'
import type { GrantsByTeam } from './team-grants.ts'

/** A user or team whose access may change, and their teams other than the one that changes. */
export type Concerned = {
  readonly who: AccessChange['who']
  readonly otherTeams: readonly HoldingTeam[]
}

/** The team that changes, before or after the change. */
export type TeamState = {
  /** Undefined if the team does not exist then. */
  readonly team: HoldingTeam | undefined
  /** Undefined if all examined users are members. */
  readonly memberIds: ReadonlySet<string> | undefined
  readonly granted: Granted
}

const noPlaces = { workspace: new Map<string, never>(), project: new Map<string, never>() }
const nothingGranted: Granted = { ofProjects: noPlaces, ofWorkspaces: noPlaces }
const nothingHeld: Held = { columns: 0, inWorkspaces: 0, plans: false }

export const teamGone: TeamState = { team: undefined, memberIds: undefined, granted: nothingGranted }

/** After this many pairs of a user or team and a place, other work gets a turn of the event loop. */
const PAIRS_A_TURN = 5_000

export type Compared = {
  readonly organization: OrganizationRow
  readonly inForce: InForce
  readonly who: readonly Concerned[]
  readonly places: readonly NamedPlace[]
  readonly otherGrants: GrantsByTeam
  readonly before: TeamState
  readonly after: TeamState
}

/** The differences between before and after: at most `most` of them, and their total number. */
export async function changesOf(
  seen: Compared,
  most: number,
): Promise<{ changes: AccessChange[]; count: number }> {
  const { organization, places } = seen
  const changes: AccessChange[] = []
  let count = 0
  const add = (change: (() => AccessChange) | undefined) => {
    if (change === undefined) return
    count += 1
    if (changes.length < most) changes.push(change())
  }
  const byTeam = [seen.before, seen.after].map(({ granted }) =>
    places.map((place) => heldOn(0, granted, place)),
  )
  let pairs = 0
  for (const concerned of seen.who) {
    const before = standsBy(concerned, seen.before, seen)
    const after = standsBy(concerned, seen.after, seen)
    add(changeOfFlags(concerned.who, organization, before.flags, after.flags))
    const others =
      concerned.otherTeams.length === 0
        ? nothingGranted
        : grantedTo({ teams: concerned.otherTeams }, seen.otherGrants)
    for (const [index, place] of places.entries()) {
      pairs += 1
      if (pairs % PAIRS_A_TURN === 0) await setImmediate()
      const ofTeam = byTeam.map((held) => existing(held[index]))
      const rest = heldOn(0, others, place)
      add(
        changeOn(
          concerned.who,
          place,
          together(before.columns, rest, before.isMember ? ofTeam[0] : nothingHeld),
          together(after.columns, rest, after.isMember ? ofTeam[1] : nothingHeld),
        ),
      )
    }
  }
  return { changes, count }
}

/** A user's or team's standing: from their other teams and, if they are a member, from the team that changes. */
function standsBy(
  { who, otherTeams }: Concerned,
  { team, memberIds }: TeamState,
  { organization, inForce }: Pick<Compared, 'organization' | 'inForce'>,
): { isMember: boolean; columns: ColumnSet; flags: FlagSet } {
  const isMember = team !== undefined && (memberIds?.has(who.id) ?? true)
  if (team === undefined && who.type === 'teams') return { isMember, columns: 0, flags: 0 }
  const { columns, flags } = standingOf(
    {
      kind: who.type === 'teams' ? 'team' : 'user',
      isSiteAdmin: false,
      status: 'active',
      teams: isMember ? [...otherTeams, team] : otherTeams,
    },
    organization,
    inForce,
  )
  return { isMember, columns, flags }
}

function together(columns: ColumnSet, rest: Held, ofTeam: Held | undefined): Held {
  const { columns: more, inWorkspaces, plans } = ofTeam ?? nothingHeld
  return {
    columns: columns | rest.columns | more,
    inWorkspaces: columns | rest.inWorkspaces | inWorkspaces,
    plans: rest.plans || plans,
  }
}

function changeOfFlags(
  who: AccessChange['who'],
  { name }: Pick<OrganizationRow, 'name'>,
  before: FlagSet,
  after: FlagSet,
): (() => AccessChange) | undefined {
  if (before === after) return undefined
  const names = (set: FlagSet) => organizationFlags.filter((flag) => hasFlag(set, flag))
  return () => ({
    who,
    on: { type: 'organizations', id: name, name },
    gained: names(after & ~before),
    lost: names(before & ~after),
  })
}

function changeOn(
  who: AccessChange['who'],
  { on, id, name }: NamedPlace,
  held: Held,
  holds: Held,
): (() => AccessChange) | undefined {
  if (
    held.columns === holds.columns &&
    held.inWorkspaces === holds.inWorkspaces &&
    held.plans === holds.plans
  ) {
    return undefined
  }
  const [from, to] = [levelOn(on, held), levelOn(on, holds)]
  const [had, has] = [actionsOn(on, held), actionsOn(on, holds)]
  if (from === to && had === has) return undefined
  return () => ({
    who,
    on: { type: `${on}s`, id, name },
    from,
    to,
    gained: namesOfActions(on, has & ~had),
    lost: namesOfActions(on, had & ~has),
  })
}
