import type { AccessHolder, Grant, NeededGrant } from '../access/access-grants-query.ts'
import { actionsOn } from '../access/actions.ts'
import type { Change } from '../access/changes.ts'
import { changedGrant, newGrant, type GrantPlace } from '../access/grant-changes.ts'
import type { Resource } from '../api/client.ts'

export type Place = GrantPlace & { readonly name: string }

/** A grant on a place that would be enough for one of the caller's teams. */
export type Way = { readonly access: string; readonly place: Place }

/** What to do: give one of their teams a grant, or put them into a team. */
export type Option = { readonly key: string; readonly way?: Way; readonly join?: AccessHolder }

/** From least to most. */
const levels = ['read-outputs', 'custom', 'read', 'plan', 'write', 'maintain', 'admin']

/** "custom with state-versions: read" gives the level read. */
function levelOf({ access }: Way): string {
  const [level = '', part] = access.split(' with ')
  if (part === undefined) return level
  return /^state-versions: (.*)/.exec(part)?.[1] ?? 'custom'
}

/** The grants on places that would have been enough. */
export function waysOn(needed: readonly NeededGrant[]): Way[] {
  return needed.flatMap(({ access = '', on = [] }) =>
    on.flatMap(({ type, id, name }) =>
      id === null ? [] : [{ access, place: { type, id, name: name ?? id } }],
    ),
  )
}

/** The least first. Of the same level: what concerns one person, then one workspace, then a project; a custom grant first. */
export function optionsOf(ways: readonly Way[], joins: readonly AccessHolder[]): Option[] {
  const ranked = [
    ...joins.map((join) => ({
      option: { key: join.who.id, join },
      rank: [levels.indexOf(join.level), 0, 0],
    })),
    ...ways.map((way) => ({
      option: { key: `${way.access} ${way.place.id}`, way },
      rank: [
        levels.indexOf(levelOf(way)),
        way.place.type === 'workspaces' ? 1 : 2,
        way.access.startsWith('custom') ? 0 : 1,
      ],
    })),
  ]
  return ranked.toSorted((one, other) => compare(one.rank, other.rank)).map(({ option }) => option)
}

function compare(one: readonly number[], other: readonly number[]): number {
  const place = one.findIndex((number, index) => number !== other[index])
  return place === -1 ? 0 : (one[place] ?? 0) - (other[place] ?? 0)
}

/** The action that a permission decides on a place, by its name in `filter[may]`. */
export function actionOf(permission: string, { type }: Place): string | undefined {
  return actionsOn[type].find((action) => action.permission === permission)?.name
}

const MAX_TEAMS_SHOWN = 5

/** The teams that a person could join: the five that have least. Owners may do everything, so their team is left out. */
export function teamsToJoin(
  holders: readonly Resource<AccessHolder>[],
  own: readonly { readonly id: string }[],
): AccessHolder[] {
  return holders
    .map(({ attributes }) => attributes)
    .filter(({ who }) => own.every(({ id }) => id !== who.id))
    .filter(({ grants }) => grants.every(({ source }) => source !== 'organization-owner'))
    .toSorted((one, other) => levels.indexOf(one.level) - levels.indexOf(other.level))
    .slice(0, MAX_TEAMS_SHOWN)
}

/** Gives a team the access: a new grant, or a change of the one that it has on the place. */
export function grantChange({ access, place }: Way, teamId: string, known: readonly Grant[]): Change {
  const attributes = attributesOf(access, place)
  const grant = known.find(({ attributes: { team, on } }) => team.id === teamId && on.id === place.id)
  return grant === undefined
    ? newGrant(place, teamId, attributes)
    : changedGrant(place.type, grant.id, attributes)
}

/** Turns "custom with state-versions: read" into the attributes of a grant. */
function attributesOf(access: string, { type }: Place): object {
  const [level = '', part] = access.split(' with ')
  if (part === undefined) return { access: level }
  const [name = '', value = true] = part.split(': ')
  if (type === 'workspaces') return { access: level, [name]: value }
  const inside =
    name === 'workspace-locking'
      ? { locking: true }
      : name === 'workspaces'
        ? { create: true }
        : { [name]: value }
  return { access: level, 'workspace-access': inside }
}
