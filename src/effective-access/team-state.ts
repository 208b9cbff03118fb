import type { ColumnSet } from '../access/decide.ts'
import type { FlagSet } from '../access/organization-flags.ts'
import type { InForce } from '../access/standing.ts'
import { existing } from '../core/existing.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { nothingHeld, standingBy, type Concerned, type Having } from './access-changes.ts'
import type { HoldingTeam } from '../teams/team-store.ts'
import { grantedTo, heldOn, type Granted } from './holdings.ts'
import type { Held } from './levels.ts'
import type { NamedPlace } from './places.ts'
import type { GrantsByTeam } from './team-grants.ts'

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

export const teamGone: TeamState = { team: undefined, memberIds: undefined, granted: nothingGranted }

type Seen = {
  readonly organization: OrganizationRow
  readonly inForce: InForce
  readonly places: readonly NamedPlace[]
  readonly otherGrants: GrantsByTeam
}

/** What each user or team has before and after a change of one team. */
export function havingOf(
  { before, after }: { before: TeamState; after: TeamState },
  seen: Seen,
): (concerned: Concerned) => Having {
  const { places, otherGrants } = seen
  const onPlaces = ({ granted }: TeamState) => places.map((place) => heldOn(0, granted, place))
  const [gave, gives] = [onPlaces(before), onPlaces(after)]
  return (concerned) => {
    const { teams } = concerned
    const others = teams.length === 0 ? nothingGranted : grantedTo({ teams }, otherGrants)
    const [had, has] = [standsBy(concerned, before, seen), standsBy(concerned, after, seen)]
    const held = ({ isMember, columns }: Stands, rest: Held, ofTeam: Held | undefined) =>
      together(columns, rest, isMember ? ofTeam : nothingHeld)
    return {
      flags: [had.flags, has.flags],
      on: (index) => {
        const rest = heldOn(0, others, existing(places[index]))
        return [held(had, rest, gave[index]), held(has, rest, gives[index])]
      },
    }
  }
}

type Stands = { readonly isMember: boolean; readonly columns: ColumnSet; readonly flags: FlagSet }

/** A user's or team's standing: from their other teams and, if they are a member, from the team that changes. */
function standsBy(
  { who, teams }: Concerned,
  { team, memberIds }: TeamState,
  { organization, inForce }: Seen,
): Stands {
  const isMember = team !== undefined && (memberIds?.has(who.id) ?? true)
  if (team === undefined && who.type === 'teams') return { isMember, columns: 0, flags: 0 }
  const concerned = { who, teams: isMember ? [...teams, team] : teams }
  return { isMember, ...standingBy(concerned, organization, inForce) }
}

function together(columns: ColumnSet, rest: Held, ofTeam: Held | undefined): Held {
  const { columns: more, inWorkspaces, plans } = ofTeam ?? nothingHeld
  return {
    columns: columns | rest.columns | more,
    inWorkspaces: columns | rest.inWorkspaces | inWorkspaces,
    plans: rest.plans || plans,
  }
}
