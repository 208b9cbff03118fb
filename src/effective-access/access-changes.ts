import { setImmediate } from 'node:timers/promises'
import type { ColumnSet } from '../access/decide.ts'
import { hasFlag, organizationFlags, type FlagSet } from '../access/organization-flags.ts'
import { standingOf, type InForce } from '../access/standing.ts'
import type { DryRun } from '../http/dry-run.ts'
import type { Viewer } from '../http/route.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { accessChangesDocument, type AccessChange, type KeptTokens } from './access-changes-document.ts'
import type { HoldingTeam } from '../teams/team-store.ts'
import { actionsOn, heldEverywhere, levelOn, namesOfActions, type Held } from './levels.ts'
import type { NamedPlace } from './places.ts'

/** A user or team whose access may change, and their teams other than one that changes. */
export type Concerned = {
  readonly who: AccessChange['who']
  readonly teams: readonly HoldingTeam[]
}

type Pair<T> = readonly [before: T, after: T]

/** What a user or team has before and after a change: permissions in the organization, and rights on each place. */
export type Having = {
  readonly flags: Pair<FlagSet>
  /** @param index of the place among those that are compared */
  readonly on: (index: number) => Pair<Held>
}

/** What is compared in one organization. */
export type Compared = {
  readonly organization: Pick<OrganizationRow, 'name'>
  readonly who: readonly Concerned[]
  readonly places: readonly NamedPlace[]
  readonly having: (concerned: Concerned) => Having
}

type Comparison = {
  readonly compared: readonly Compared[]
  /** How many users and teams, and how many workspaces and projects, the change may affect. */
  readonly totals: { readonly who: number; readonly places: number }
}

export const nothingHeld = heldEverywhere(0)

/** After this many pairs of a user or team and a place, other work gets a turn of the event loop. */
const PAIRS_A_TURN = 5_000

/**
 * Makes a dry run. `compare` says what to examine, given the results of `look` before and after the change.
 *
 * @param tokens those that somebody who leaves has made or seen
 */
export function dryRunOf<Look>(
  id: string,
  { deps }: Viewer,
  look: DryRun<Look>['look'],
  compare: (before: Look, after: Look) => Comparison,
  tokens?: KeptTokens,
): DryRun {
  const run: DryRun<Look> = {
    look,
    compare: (before, after) =>
      comparedDocument(id, compare(before, after), deps.config.maxDryRunChanges, tokens),
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the runner passes what look returned back to compare
  return run as DryRun
}

/** The answer to a dry run: at most `most` differences, those of a level or a permission first, and their number. */
async function comparedDocument(
  id: string,
  { compared, totals }: Comparison,
  most: number,
  tokens: KeptTokens | undefined,
): Promise<string> {
  const first: AccessChange[] = []
  const important: AccessChange[] = []
  let count = 0
  for await (const makeChange of differencesOf(compared)) {
    count += 1
    if (first.length === most && important.length === most) continue
    const change = makeChange()
    if (first.length < most) first.push(change)
    if (isImportant(change) && important.length < most) important.push(change)
  }
  const others = first.filter((change) => !isImportant(change))
  const changes = count <= most ? first : [...important, ...others].slice(0, most)
  const counts = {
    'changes-count': count,
    'who-count': totals.who,
    'who-looked-at': new Set(compared.flatMap(({ who }) => who.map((concerned) => concerned.who.id))).size,
    'places-count': totals.places,
    'places-looked-at': compared.reduce((sum, { places }) => sum + places.length, 0),
  }
  return accessChangesDocument(id, counts, changes, tokens)
}

/** Without a level, a change is of single rights: such as those of every member, on very many places. */
const isImportant = ({ from, to }: AccessChange) => from === undefined || from !== to

/** The differences between before and after. */
async function* differencesOf(all: readonly Compared[]): AsyncGenerator<() => AccessChange> {
  let pairs = 0
  for (const { organization, who, places, having } of all) {
    for (const concerned of who) {
      const { flags, on } = having(concerned)
      const ofFlags = changeOfFlags(concerned.who, organization, ...flags)
      if (ofFlags !== undefined) yield ofFlags
      for (const [index, place] of places.entries()) {
        pairs += 1
        if (pairs % PAIRS_A_TURN === 0) await setImmediate()
        const change = changeOn(concerned.who, place, ...on(index))
        if (change !== undefined) yield change
      }
    }
  }
}

/** What somebody's teams give in the whole organization. Nobody's site administration counts. */
export function standingBy(
  { who, teams }: Concerned,
  organization: OrganizationRow,
  inForce: InForce,
): { columns: ColumnSet; flags: FlagSet } {
  const kind = who.type === 'teams' ? 'team' : 'user'
  return standingOf({ kind, isSiteAdmin: false, status: 'active', teams }, organization, inForce)
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
