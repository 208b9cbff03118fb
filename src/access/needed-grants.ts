import { columnSet, isPermitted, type Caller, type Standing, type Target } from './decide.ts'
import { columnsOfGrant, noDetails, type GrantFacts } from './grants.ts'
import { flagSet, organizationFlags, withIncluded, type OrganizationFlag } from './organization-flags.ts'
import type { Column, Permission } from './rules.ts'

/** Where a team would be granted access. `id` is null for any workspace or project of the organization. */
type GrantPlace = { type: 'workspaces' | 'projects'; id: string | null }

/** One grant that would be enough alone. `or-more`: a higher level of the same grant is enough, too. */
export type NeededGrant =
  | { grant: 'membership' }
  | { grant: 'owner' }
  | { grant: 'site-admin' }
  | { grant: 'shared-organization' }
  | { grant: 'team-membership'; team: string }
  | { grant: 'allow-member-token-management'; team: string }
  | { grant: 'organization-access'; flag: OrganizationFlag; 'or-more': boolean }
  | { grant: 'team-access'; access: string; 'or-more': boolean; on: GrantPlace[] }

/** Facts about the place that the decision itself does not use. */
export type NeededFacts = {
  /** Undefined if the object belongs to no organization. */
  organization?: {
    readonly hasDelegation: boolean
    /** Whether the dialect knows the flag `access-secret-teams`. */
    readonly hasSecretTeamsFlag: boolean
  }
  /** Where a grant for the object can be made: its workspace, and the project of the object or of its workspace. */
  workspaceId?: string
  projectId?: string
}

/** The arguments of isPermitted. */
type Judged = Caller & { readonly target: Target }

/**
 * Each chain goes from least to most: if a flag permits something, all flags after it permit it, too. A test proves
 * this. Only the strength of a team can require one particular flag.
 */
export const flagChains: readonly (readonly (readonly [OrganizationFlag, Column])[])[] = [
  [
    ['read-workspaces', 'RO'],
    ['manage-workspaces', 'MW'],
    ['manage-projects', 'MP'],
  ],
  [
    ['manage-membership', 'MM'],
    ['manage-teams', 'MT'],
    ['manage-organization-access', 'MO'],
  ],
  [['read-audit', 'AU']],
]
/** The other flags have no column. They only let a delegate change teams that have the same flags. */
const flagsOfStrength = organizationFlags.filter(
  (flag) => flag !== 'access-secret-teams' && !flagChains.flat().some(([known]) => known === flag),
)
/** These columns count only if the organization has switched on delegated-team-management. */
const delegated: ReadonlySet<Column> = new Set<Column>(['MT', 'MO'])

const custom = (facts: Partial<GrantFacts>) => ({ ...noDetails, access: 'custom' as const, ...facts })
const level = (access: GrantFacts['access']) => [access, { ...noDetails, access }] as const
type Level = readonly [name: string, facts: Omit<GrantFacts, 'on'>]

const customChains: readonly (readonly Level[])[] = [
  (['read-outputs', 'read', 'write'] as const).map((name) => [
    `custom with state-versions: ${name}`,
    custom({ state_versions: name }),
  ]),
  [['custom with workspace-locking', custom({ workspace_locking: 1 })]],
]
/** From least to most, like flagChains. */
export const levelChains: Readonly<Record<GrantFacts['on'], readonly (readonly Level[])[]>> = {
  workspace: [[level('read'), level('write'), level('admin')], ...customChains],
  project: [
    [level('read'), level('write'), level('maintain'), level('admin')],
    ...customChains,
    [['custom with workspaces: create', custom({ workspace_create: 1 })]],
  ],
}

/**
 * Lists what would have permitted the request of a refused caller. Each entry is the least of its kind and is enough
 * alone. This function repeats no rule: it adds each candidate grant to the caller and asks isPermitted.
 *
 * Some decisions need more than the table, e.g. a delegate may give no flag that they lack. Then the result names only
 * ownership.
 */
export function neededGrants(permission: Permission, judged: Judged, facts: NeededFacts): NeededGrant[] {
  const { actor, target } = judged
  const permits = (change: Partial<Judged>) => {
    const changed = { ...judged, ...change }
    return isPermitted(permission, changed.actor, changed.standing, changed.target)
  }
  const needed: NeededGrant[] = []
  if (facts.organization !== undefined) {
    const insider = asInsider(judged.standing)
    // An organization token cannot receive grants, and neither can a team of another organization.
    const isGrantable =
      actor.kind === 'user' || (actor.kind === 'team' && (insider.columns & columnSet('TT')) !== 0)
    const isAllowedAlready = permits({})
    if (actor.kind === 'user' && !isAllowedAlready && permits({ standing: insider })) {
      return [{ grant: 'membership' }]
    }
    if (isGrantable && !isAllowedAlready) {
      needed.push(...ofTeams({ ...judged, standing: insider }, facts, permits))
    }
    if (actor.kind === 'user' && permits({ standing: asOwner(insider) })) needed.push({ grant: 'owner' })
  } else if (target.sharesOrganization === false) {
    // Some permissions need a shared organization. An outsider gets them by becoming a member of it.
    const standing = { ...judged.standing, columns: judged.standing.columns | columnSet('PM') }
    if (permits({ standing, target: { ...target, sharesOrganization: true } })) {
      needed.push({ grant: 'shared-organization' })
    }
  }
  if (needed.length === 0 && actor.kind === 'user' && permits(asSiteAdmin(judged))) {
    needed.push({ grant: 'site-admin' })
  }
  return needed
}

/** Grants to teams. The caller is a member of a team, or is a team token. */
function ofTeams(
  { actor, standing, target }: Judged,
  { organization, workspaceId, projectId }: NeededFacts,
  permits: (change: Partial<Judged>) => boolean,
): NeededGrant[] {
  const needed: NeededGrant[] = []
  const addFlag = (flag: OrganizationFlag, isOrMore = false) => {
    needed.push({ grant: 'organization-access', flag, 'or-more': isOrMore })
  }
  const { team } = target
  if (actor.kind === 'user' && team !== undefined && !team.isOwners) {
    if (permits({ standing: { ...standing, teamIds: new Set([...standing.teamIds, team.id]) } })) {
      needed.push({ grant: 'team-membership', team: team.id })
    }
    if (permits({ standing, target: { ...target, team: { ...team, allowMemberTokenManagement: true } } })) {
      needed.push({ grant: 'allow-member-token-management', team: team.id })
    }
  }
  for (const chain of flagChains) {
    const known = chain.filter(([, column]) => organization?.hasDelegation || !delegated.has(column))
    const enough = known.map(([flag, column]) => permits({ standing: withFlag(standing, flag, column) }))
    const least = enough.indexOf(true)
    const isOrMore = least !== -1 && !enough.slice(least).includes(false)
    for (const [place, [flag]] of known.entries()) {
      if (enough[place] !== true || (isOrMore && place !== least)) continue
      addFlag(flag, isOrMore && place < known.length - 1)
    }
  }
  for (const flag of flagsOfStrength) {
    if (permits({ standing: withFlag(standing, flag) })) addFlag(flag)
  }
  if (
    organization?.hasSecretTeamsFlag &&
    permits({ standing: { ...withFlag(standing, 'access-secret-teams'), seesSecretTeams: true } })
  ) {
    addFlag('access-secret-teams')
  }
  // `grants` is set, though maybe 0, if the rule depends on grants.
  if (target.grants === undefined) return needed
  const byAccess = new Map<string, Extract<NeededGrant, { grant: 'team-access' }>>()
  for (const place of placesOf(workspaceId, projectId)) {
    const on = place.type === 'workspaces' ? 'workspace' : 'project'
    for (const chain of levelChains[on]) {
      const step = chain.findIndex(([, grant]) => {
        const grants = (target.grants ?? 0) | columnsOfGrant({ ...grant, on })
        return permits({ standing, target: { ...target, grants } })
      })
      const least = chain[step]
      if (least === undefined) continue
      const orMore = step < chain.length - 1
      const key = `${least[0]} ${orMore}`
      const known = byAccess.get(key)
      if (known !== undefined) known.on.push(place)
      else byAccess.set(key, { grant: 'team-access', access: least[0], 'or-more': orMore, on: [place] })
    }
  }
  return [...needed, ...byAccess.values()]
}

function placesOf(workspaceId: string | undefined, projectId: string | undefined): GrantPlace[] {
  // Neither is known for a list, or for an object that some project will contain.
  const isAny = workspaceId === undefined && projectId === undefined
  const places: GrantPlace[] = []
  if (isAny || workspaceId !== undefined) places.push({ type: 'workspaces', id: workspaceId ?? null })
  if (isAny || projectId !== undefined) places.push({ type: 'projects', id: projectId ?? null })
  return places
}

/** Grants go to members of teams. An invited user or an outsider has to become a member first. */
function asInsider(standing: Standing): Standing {
  const outside = columnSet('OUT', 'IN')
  if ((standing.columns & outside) === 0) return standing
  return { ...standing, columns: (standing.columns & ~outside) | columnSet('PM') }
}

function asOwner(standing: Standing): Standing {
  return { ...standing, columns: standing.columns | columnSet('OW'), seesSecretTeams: true }
}

function asSiteAdmin({ actor, standing }: Caller): Caller {
  return {
    actor: { ...actor, isSiteAdmin: true },
    standing: { ...standing, columns: standing.columns | columnSet('SA'), seesSecretTeams: true },
  }
}

function withFlag(standing: Standing, flag: OrganizationFlag, column?: Column): Standing {
  const flags = withIncluded(standing.flags | flagSet(flag))
  return {
    ...standing,
    columns: standing.columns | (column === undefined ? 0 : columnSet(column)),
    flags,
    lacks: standing.lacks & ~flags,
  }
}
