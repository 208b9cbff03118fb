import { columnsOfFlags, type InForce, type OrganizationFacts } from '../access/standing.ts'
import { flagSet, organizationFlags, type FlagSet } from '../access/organization-flags.ts'
import { noDetails, type GrantFacts } from '../access/grants.ts'
import { actionsOn, heldEverywhere, type ActionSet, type On } from './levels.ts'
import { heldBy } from './team-grants.ts'

/** The values of a grant's columns that give a wanted action, each by itself. */
export type GivingGrants = {
  readonly levels: readonly Exclude<GrantFacts['access'], 'custom'>[]
  readonly states: readonly Exclude<GrantFacts['state_versions'], 'none'>[]
  readonly locking: boolean
  readonly creating: boolean
}

/** Which flags and which grants of a team give at least one of the wanted actions on a place. */
export type Giving = {
  readonly flags: FlagSet
  readonly onProjects: GivingGrants
  /** For a project: grants on the workspaces in it. */
  readonly onWorkspaces: GivingGrants
}

const fixedLevels = ['read', 'plan', 'write', 'maintain', 'admin'] as const
const stateVersions = ['read-outputs', 'read', 'write'] as const

/**
 * The rules that decide a request, turned into conditions for a query. Rights add up, so somebody has an action exactly
 * if one of their flags or grants gives it alone.
 */
export function givingOf(
  on: On,
  wanted: ActionSet,
  organization: Pick<OrganizationFacts, 'delegated_team_management'>,
  inForce: InForce,
): Giving {
  const givingGrants = (grantOn: GrantFacts['on']): GivingGrants => {
    const gives = (facts: Partial<GrantFacts>) => {
      const held = heldBy({ ...noDetails, access: 'custom', on: grantOn, ...facts }, false)
      return (actionsOn(on, held[on]) & wanted) !== 0
    }
    return {
      levels: fixedLevels.filter((access) => gives({ access })),
      states: stateVersions.filter((state_versions) => gives({ state_versions })),
      locking: gives({ workspace_locking: 1 }),
      creating: grantOn === 'project' && gives({ workspace_create: 1 }),
    }
  }
  const flags = organizationFlags.filter((flag) => {
    const columns = columnsOfFlags(flagSet(flag) & inForce.flags, organization)
    return (actionsOn(on, heldEverywhere(columns)) & wanted) !== 0
  })
  return {
    flags: flagSet(...flags),
    onProjects: givingGrants('project'),
    onWorkspaces: givingGrants('workspace'),
  }
}
