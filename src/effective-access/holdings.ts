import { columnSet, type ColumnSet } from '../access/decide.ts'
import { hasFlag, organizationFlags, type OrganizationFlag } from '../access/organization-flags.ts'
import { columnsOfFlags, standingOf, type InForce, type OrganizationFacts } from '../access/standing.ts'
import type { HoldingTeam } from '../teams/team-store.ts'
import { heldEverywhere, type Held, type On } from './levels.ts'
import type { Grant, GrantsByTeam } from './team-grants.ts'

/** A user, or a team for its token, with the teams that count. */
export type Holder = {
  readonly kind: 'user' | 'team'
  readonly id: string
  readonly isSiteAdmin: boolean
  readonly status: 'active' | 'invited' | undefined
  readonly teams: readonly HoldingTeam[]
}

/** One source of access. Its columns apply to every workspace and project, or to the place of the grant. */
export type Source = {
  readonly source:
    | 'site-administrator'
    | 'organization-member'
    | 'organization-owner'
    | 'organization-access'
    | 'team-projects'
    | 'team-workspaces'
  readonly held: Held
  readonly team?: HoldingTeam
  readonly flag?: OrganizationFlag
  readonly grant?: Grant
}

export type Place = { readonly on: On; readonly id: string; readonly projectId: string }

function addTo<Item>(groups: Map<string, Item[]>, key: string, item: Item): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [item])
  else group.push(item)
}

type ByPlace = ReadonlyMap<string, readonly Source[]>

/** All grants of a holder's teams by workspace and project, in the order of the teams. */
export type Granted = {
  /** The effect of project grants on the project's workspaces, and on the project itself. */
  readonly ofProjects: Readonly<Record<On, ByPlace>>
  /** The effect of workspace grants: on each workspace, and on the project that contains it. */
  readonly ofWorkspaces: Readonly<Record<On, ByPlace>>
}

export function grantedTo({ teams }: Pick<Holder, 'teams'>, grants: GrantsByTeam): Granted {
  const empty = () => ({ workspace: new Map<string, Source[]>(), project: new Map<string, Source[]>() })
  const [ofProjects, ofWorkspaces] = [empty(), empty()]
  for (const team of teams) {
    const found = grants.get(team.id)
    if (found === undefined) continue
    const sourceOf = (grant: Grant, on: On): Source => ({
      source: grant.source,
      held: grant.held[on],
      team,
      grant,
    })
    for (const grant of found.onWorkspaces) {
      addTo(ofWorkspaces.workspace, grant.placeId, sourceOf(grant, 'workspace'))
    }
    for (const grant of found.inProjects) {
      addTo(ofWorkspaces.project, grant.placeId, sourceOf(grant, 'project'))
    }
    for (const grant of found.onProjects) {
      addTo(ofProjects.workspace, grant.placeId, sourceOf(grant, 'workspace'))
      addTo(ofProjects.project, grant.placeId, sourceOf(grant, 'project'))
    }
  }
  return { ofProjects, ofWorkspaces }
}

/** The sources that apply to all workspaces and projects, and their sum: the standing that decides requests, too. */
export function standingSources(
  holder: Holder,
  organization: Pick<OrganizationFacts, 'delegated_team_management'>,
  inForce: InForce,
): { columns: ColumnSet; sources: Source[] } {
  const sources: Source[] = []
  const add = (source: Omit<Source, 'held'>, columns: ColumnSet) => {
    if (columns !== 0) sources.push({ ...source, held: heldEverywhere(columns) })
  }
  if (holder.isSiteAdmin) add({ source: 'site-administrator' }, columnSet('SA'))
  if (holder.status === 'active') {
    add({ source: 'organization-member' }, columnSet(holder.kind === 'team' ? 'TT' : 'PM'))
    for (const team of holder.teams) {
      // The team `owners` has all flags, but they give nothing that owners do not have anyway.
      if (team.is_owners === 1) {
        add({ source: 'organization-owner', team }, columnSet('OW'))
        continue
      }
      const inForceHere = team.organization_access & inForce.flags
      for (const flag of organizationFlags) {
        if (!hasFlag(inForceHere, flag)) continue
        const columns = columnsOfFlags(1 << organizationFlags.indexOf(flag), organization)
        add({ source: 'organization-access', team, flag }, columns)
      }
    }
  }
  return { columns: standingOf(holder, organization, inForce).columns, sources }
}

/** Access and its sources. */
type Sum = { readonly held: Held; readonly sources: readonly Source[] }

function plus({ held, sources }: Sum, more: readonly Source[] | undefined): Sum {
  if (more === undefined) return { held, sources }
  return { held: plusHeld(held, more), sources: [...sources, ...more] }
}

function plusHeld({ columns, inWorkspaces, plans }: Held, more: readonly Source[] | undefined): Held {
  const sum = { columns, inWorkspaces, plans }
  for (const { held } of more ?? []) {
    sum.columns |= held.columns
    sum.inWorkspaces |= held.inWorkspaces
    sum.plans ||= held.plans
  }
  return sum
}

/** All columns on a place: organization-wide ones, and those from grants on the project and on the place. */
export function heldOn(columns: ColumnSet, granted: Granted, { on, id, projectId }: Place): Held {
  const withProject = plusHeld(heldEverywhere(columns), granted.ofProjects[on].get(projectId))
  return plusHeld(withProject, granted.ofWorkspaces[on].get(id))
}

/** The same with the sources, in this order. The sum for a project is computed once for all its workspaces. */
export function sumsOn(
  { columns, sources }: { columns: ColumnSet; sources: readonly Source[] },
  granted: Granted,
): (place: Place) => Sum {
  const everywhere: Sum = { held: heldEverywhere(columns), sources }
  const known: Record<On, Map<string, Sum>> = { workspace: new Map(), project: new Map() }
  return ({ on, id, projectId }) => {
    let withProject = known[on].get(projectId)
    if (withProject === undefined) {
      withProject = plus(everywhere, granted.ofProjects[on].get(projectId))
      known[on].set(projectId, withProject)
    }
    return plus(withProject, granted.ofWorkspaces[on].get(id))
  }
}
