import { isPermitted, type ColumnSet } from '../access/decide.ts'
import type { Viewer } from '../http/route.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { ownersTeam } from '../team-access/shown-teams-store.ts'
import { teamFacts, type HoldingTeam } from '../teams/team-store.ts'
import { teamsOfUsers, type Places } from './holdings-store.ts'
import { grantedTo, heldOn, type Place } from './holdings.ts'
import type { NamedPlace } from './places.ts'
import { readGrants, type GrantsByTeam } from './team-grants.ts'

/** The teams and grants that the viewer may know. Others must not show through the sum of access. */
export type Sight = {
  readonly seesTeam: (team: HoldingTeam) => boolean
  readonly seenGrants: (grants: GrantsByTeam) => GrantsByTeam
}

/** Evaluated before the change. If the change itself hides or shows teams, that must not count as another change. */
export async function sightOf(
  viewer: Viewer,
  { organization }: { organization: OrganizationRow },
  scope: Places,
  places: readonly NamedPlace[],
): Promise<Sight> {
  const { actor, standing } = viewer
  const seesAll = ['team:read', 'team-access:read', 'project-access:read'] as const
  if (seesAll.every((permission) => isPermitted(permission, actor, standing, { team: ownersTeam }))) {
    return { seesTeam: () => true, seenGrants: (grants) => grants }
  }
  const known = new Map<string, HoldingTeam>()
  const seesTeam = (team: HoldingTeam) => {
    const first = known.get(team.id) ?? team
    known.set(team.id, first)
    return isPermitted('team:read', actor, standing, { team: teamFacts(first) })
  }
  const columnsOn = await ownColumns(viewer, organization, scope)
  const byId = new Map(places.map((place) => [place.id, place]))
  const seenGrants = (grants: GrantsByTeam): GrantsByTeam =>
    new Map(
      [...grants].map(([teamId, { onWorkspaces, onProjects, inProjects }]) => {
        const team = known.get(teamId)
        const isSeen = (permission: 'team-access:read' | 'project-access:read', place: Place | undefined) => {
          if (team === undefined || place === undefined) return false
          const target = { team: teamFacts(team), grants: columnsOn(place) }
          return isPermitted(permission, actor, standing, target)
        }
        return [
          teamId,
          {
            onWorkspaces: onWorkspaces.filter((row) => isSeen('team-access:read', byId.get(row.placeId))),
            onProjects: onProjects.filter((row) => isSeen('project-access:read', project(row.placeId))),
            inProjects: inProjects.filter((row) => isSeen('team-access:read', project(row.placeId))),
          },
        ]
      }),
    )
  return { seesTeam, seenGrants }
}

const project = (id: string): Place => ({ on: 'project', id, projectId: id })

/** The columns that the caller's own grants give on each place. */
async function ownColumns(
  { tx, actor }: Viewer,
  organization: OrganizationRow,
  scope: Places,
): Promise<(place: Place) => ColumnSet> {
  const teams = await teamsOfUsers(tx, organization.id, actor.userId === null ? [] : [actor.userId])
  const ids = teams.map(({ id }) => id)
  const granted = grantedTo({ teams }, await readGrants(tx, ids, scope, 'projects too'))
  return (place) => heldOn(0, granted, place).columns
}
