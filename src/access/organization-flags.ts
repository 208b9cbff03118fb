import type { Config } from '../config.ts'

/**
 * The organization-level permissions of a team, named as in go-tfe. A set of flags is stored as one integer, and a
 * flag's bit is its index in this list. So never reuse or reorder an index; add new flags at the end.
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
  'read-audit',
] as const

export type OrganizationFlag = (typeof organizationFlags)[number]

/** A set of flags, one bit per flag. */
export type FlagSet = number

export function flagSet(...flags: readonly OrganizationFlag[]): FlagSet {
  return flags.reduce((set, flag) => set | (1 << organizationFlags.indexOf(flag)), 0)
}

/** Every flag of every dialect. */
export const allFlags: FlagSet = flagSet(...organizationFlags)

export function hasFlag(set: FlagSet, flag: OrganizationFlag): boolean {
  return (set & (1 << organizationFlags.indexOf(flag))) !== 0
}

/** Adds the flags that others imply: manage-workspaces implies read-workspaces even if only the first one is stored. */
export function withIncluded(set: FlagSet): FlagSet {
  return hasFlag(set, 'manage-workspaces') ? set | flagSet('read-workspaces') : set
}

const documentedFlags = organizationFlags.slice(0, 14)
const platformFlags = organizationFlags.slice(0, 16)
/** Purser's own flags. Documents show them only to a request that asks for `fields[teams]`. */
const ownFlags = organizationFlags.slice(16)
/** In the documented dialect, the list of teams shows only these nine flags. */
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

/** The flags that a dialect knows. Other flags are ignored in requests, kept when stored, and not in force. */
export function knownFlags(dialect: Config['dialect']): readonly OrganizationFlag[] {
  return [...flagsInDocument(dialect), ...ownFlags]
}

/** The flags in the document of one team. Clients of the platform expect exactly these. */
export function flagsInDocument(dialect: Config['dialect']): readonly OrganizationFlag[] {
  return dialect === 'documented' ? documentedFlags : platformFlags
}

export function flagsInList(dialect: Config['dialect']): readonly OrganizationFlag[] {
  return dialect === 'documented' ? listedFlags : platformFlags
}
