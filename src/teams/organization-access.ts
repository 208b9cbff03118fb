import { Type } from 'typebox'
import { entriesOf } from '../core/keys.ts'
import type { Problem } from '../core/errors.ts'
import {
  flagSet,
  hasFlag,
  knownFlags,
  type FlagSet,
  type OrganizationFlag,
} from '../access/organization-flags.ts'
import type { Config } from '../config.ts'

/** Flags as a request gives them. Flags left out keep their value. */
export type FlagChanges = Partial<Record<OrganizationFlag, boolean>>

const schemaOf = (flags: readonly OrganizationFlag[]) =>
  Type.Partial(Type.Object(Object.fromEntries(flags.map((flag) => [flag, Type.Boolean()]))))

/** One schema per dialect, with the flags that the dialect knows. */
export const organizationAccessSchemas = {
  documented: schemaOf(knownFlags('documented')),
  current: schemaOf(knownFlags('current')),
}

/** What a manage flag turns on, in the order of the cascades. */
const turnedOn = {
  'manage-projects': ['manage-workspaces', 'read-workspaces'],
  'read-projects': ['read-workspaces'],
  'manage-workspaces': ['read-workspaces'],
} as const

/** Says of each flag that stays on although a flag that turns it on was turned off, unless the request gives it, too. */
export function flagsLeftOn(before: FlagSet, after: FlagSet, changes: FlagChanges): Problem[] {
  const left = new Map<OrganizationFlag, OrganizationFlag>()
  for (const [flag, others] of entriesOf(turnedOn)) {
    if (!hasFlag(before, flag) || hasFlag(after, flag)) continue
    for (const other of others) {
      if (hasFlag(after, other) && changes[other] === undefined && !left.has(other)) left.set(other, flag)
    }
  }
  return [...left].map(([other, flag]) => ({
    detail: `${other} stays true: turning ${flag} off does not turn it off`,
    pointer: `/data/attributes/organization-access/${other}`,
  }))
}

/**
 * The flags after a change. First the flags that an explicit flag implies are added. Then flags that contradict each
 * other are reported, each problem at its flag. Flags that the dialect does not know are ignored.
 */
export function applyFlagChanges(
  before: FlagSet,
  changes: FlagChanges,
  dialect: Config['dialect'],
): { flags: FlagSet; problems: Problem[] } {
  const known = knownFlags(dialect)
  const given = (flag: OrganizationFlag) => (known.includes(flag) ? changes[flag] : undefined)
  let after = before
  const set = (flag: OrganizationFlag, value: boolean) => {
    after = value ? after | flagSet(flag) : after & ~flagSet(flag)
  }
  for (const flag of known) {
    const value = given(flag)
    if (value !== undefined) set(flag, value)
  }
  if (hasFlag(after, 'manage-projects') && given('manage-workspaces') === undefined)
    set('manage-workspaces', true)
  if (hasFlag(after, 'read-projects') && given('read-workspaces') === undefined) set('read-workspaces', true)
  // The current dialect stores and returns an explicit false, so that the tfe provider sees no difference. It stays
  // until manage-workspaces is set or turned on again.
  const isTurnedOn = given('manage-workspaces') === true || !hasFlag(before, 'manage-workspaces')
  const isReadImplied = dialect === 'documented' || (given('read-workspaces') === undefined && isTurnedOn)
  if (hasFlag(after, 'manage-workspaces') && isReadImplied) set('read-workspaces', true)

  const problems: Problem[] = []
  const contradiction = (flag: OrganizationFlag, because: OrganizationFlag) =>
    problems.push({
      detail: `${flag} cannot be false while ${because} is true`,
      pointer: `/data/attributes/organization-access/${flag}`,
    })
  if (hasFlag(after, 'manage-projects') && !hasFlag(after, 'manage-workspaces')) {
    contradiction('manage-workspaces', 'manage-projects')
  }
  if (hasFlag(after, 'read-projects') && !hasFlag(after, 'read-workspaces')) {
    contradiction('read-workspaces', 'read-projects')
  }
  return { flags: after, problems }
}
