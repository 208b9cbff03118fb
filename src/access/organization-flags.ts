import type { Config } from '../config.ts'

/**
 * The organization-level permissions of a team, as the specification (2.2) and go-tfe name them. A set of them is stored
 * as one integer, a bit for each place in this list: places are never reused, new flags go to the end.
 */
export const organizationFlags = [
  'manage-policies',
  'manage-policy-overrides',
  'manage-run-tasks',
  'manage-workspaces',
  'manage-vcs-settings',
  'manage-agent-pools',
  'manage-providers',
  'manage-modules',
  'manage-projects',
  'read-projects',
  'read-workspaces',
  'manage-membership',
  'manage-teams',
  'manage-organization-access',
  'delegate-policy-overrides',
  'access-secret-teams',
] as const

export type OrganizationFlag = (typeof organizationFlags)[number]

/** A set of flags. */
export type FlagSet = number

export function flagSet(...flags: readonly OrganizationFlag[]): FlagSet {
  return flags.reduce((set, flag) => set | (1 << organizationFlags.indexOf(flag)), 0)
}

/** Every flag that any dialect knows. */
export const allFlags: FlagSet = flagSet(...organizationFlags)

export function hasFlag(set: FlagSet, flag: OrganizationFlag): boolean {
  return (set & (1 << organizationFlags.indexOf(flag))) !== 0
}

/** With the flags that these include: whoever manages workspaces reads them, also where it is not stored. */
export function withIncluded(set: FlagSet): FlagSet {
  return hasFlag(set, 'manage-workspaces') ? set | flagSet('read-workspaces') : set
}

const documentedFlags = organizationFlags.slice(0, 14)
/** Rule 2.2.3: the list of teams shows nine. */
const listedFlags: readonly OrganizationFlag[] = [
  'manage-policies',
  'manage-policy-overrides',
  'manage-run-tasks',
  'manage-workspaces',
  'manage-vcs-settings',
  'manage-agent-pools',
  'manage-projects',
  'read-projects',
  'read-workspaces',
]

/** The flags that a dialect knows: others are ignored when sent, kept when stored, and not in force. */
export function knownFlags(dialect: Config['dialect']): readonly OrganizationFlag[] {
  return dialect === 'documented' ? documentedFlags : organizationFlags
}

export function flagsInList(dialect: Config['dialect']): readonly OrganizationFlag[] {
  return dialect === 'documented' ? listedFlags : organizationFlags
}
