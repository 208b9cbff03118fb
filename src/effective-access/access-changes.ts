import type { ColumnSet } from '../access/decide.ts'
import { hasFlag, organizationFlags, type FlagSet } from '../access/organization-flags.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import type { AccessChange } from './access-changes-document.ts'
import { heldOn, type Granted } from './holdings.ts'
import { actionsOn, levelOn, namesOfActions } from './levels.ts'
import type { NamedPlace } from './places.ts'

type Holding = { readonly columns: ColumnSet; readonly flags: FlagSet; readonly granted: Granted }

/** What everybody concerned holds at one moment, by id. */
export type Snapshot = ReadonlyMap<string, Holding>

const none: ReadonlyMap<string, never> = new Map<string, never>()
/** Of a team that is gone. */
const nothing: Holding = {
  columns: 0,
  flags: 0,
  granted: { onWorkspaces: none, onProjects: none, inProjects: none },
}

/** What is not the same in two snapshots: `most` of the changes, and how many there are. */
export function changesOf(
  seen: {
    organization: Pick<OrganizationRow, 'name'>
    who: readonly AccessChange['who'][]
    places: readonly NamedPlace[]
    before: Snapshot
    after: Snapshot
  },
  most: number,
): { changes: AccessChange[]; count: number } {
  const changes: AccessChange[] = []
  let count = 0
  const add = (change: AccessChange | undefined) => {
    if (change === undefined) return
    count += 1
    if (changes.length < most) changes.push(change)
  }
  for (const who of seen.who) {
    const before = seen.before.get(who.id) ?? nothing
    const after = seen.after.get(who.id) ?? nothing
    add(changeOfFlags(who, seen.organization, before.flags, after.flags))
    for (const place of seen.places) add(changeOn(who, place, before, after))
  }
  return { changes, count }
}

function changeOfFlags(
  who: AccessChange['who'],
  { name }: Pick<OrganizationRow, 'name'>,
  before: FlagSet,
  after: FlagSet,
): AccessChange | undefined {
  if (before === after) return undefined
  const names = (set: FlagSet) => organizationFlags.filter((flag) => hasFlag(set, flag))
  return {
    who,
    on: { type: 'organizations', id: name, name },
    gained: names(after & ~before),
    lost: names(before & ~after),
  }
}

function changeOn(
  who: AccessChange['who'],
  place: NamedPlace,
  before: Holding,
  after: Holding,
): AccessChange | undefined {
  const { on, id, name } = place
  const held = heldOn(before.columns, before.granted, place)
  const holds = heldOn(after.columns, after.granted, place)
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
  return {
    who,
    on: { type: `${on}s`, id, name },
    from,
    to,
    gained: namesOfActions(on, has & ~had),
    lost: namesOfActions(on, had & ~has),
  }
}
