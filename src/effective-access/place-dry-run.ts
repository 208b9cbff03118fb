import { existing } from '../core/existing.ts'
import type { Transaction } from '../database/database.ts'
import type { DryRun } from '../http/dry-run.ts'
import type { Viewer } from '../http/route.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { findProject } from '../projects/project-store.ts'
import { findTeams, type TeamRow } from '../teams/team-store.ts'
import { findUsers } from '../users/user-store.ts'
import { findWorkspaces } from '../workspaces/workspace-store.ts'
import { dryRunOf, nothingHeld, standingBy, type Concerned, type Having } from './access-changes.ts'
import { sightOf, type Sight } from './access-sight.ts'
import { concernedPeople, peopleIn } from './dry-run-people.ts'
import { teamsWithGrants } from './holdings-store.ts'
import { grantedTo, heldOn } from './holdings.ts'
import type { NamedPlace } from './places.ts'
import { readGrants, type GrantsByTeam } from './team-grants.ts'

/** Workspaces or a project that a change deletes, or workspaces that it moves. */
type PlaceScope = {
  readonly organization: OrganizationRow
  /** The id of the answer. */
  readonly id: string
  readonly places: readonly NamedPlace[]
  /** The id of the project that the workspaces move to, or null if they stay. Undefined: they are deleted. */
  readonly newProjectId?: string | null
}

/** The project of each place. A place that does not exist is missing. */
type Look = ReadonlyMap<string, string>

/**
 * Examines the teams that have a grant on the places or on their projects, and the members of these teams. If workspaces
 * move, only grants on projects count. Everybody who reaches the places without such a grant, as owners do, is left out.
 * The result contains nothing that the caller could not read: see dryRunOfAccess.
 */
export async function dryRunOfPlaces(viewer: Viewer, asked: PlaceScope): Promise<DryRun> {
  const { tx, deps } = viewer
  const { maxDryRunPairs } = deps.config
  const scope = { ...asked, places: asked.places.slice(0, maxDryRunPairs) }
  const { organization, places } = scope
  const { inForce } = deps.standings
  const most = Math.max(1, Math.floor(maxDryRunPairs / Math.max(1, places.length)))
  const named = namedIn(scope)
  const sight = await sightOf(viewer, scope, named, places)
  const { teams, grants: ofTeams } = await grantedTeams(tx, scope, sight)
  const people = await peopleIn(tx, teams, most)
  const room = Math.max(0, most - teams.length)
  const users = await findUsers(tx, [...people.ids].toSorted().slice(0, room))
  const concerned = await concernedPeople(tx, organization.id, users, sight)
  const otherIds = new Set(concerned.flatMap((person) => person.teams.map(({ id }) => id)))
  const unread = [...otherIds].filter((id) => !ofTeams.has(id))
  const others = sight.seenGrants(await readGrants(tx, unread, named, 'workspaces'))
  const grants: GrantsByTeam = new Map([...ofTeams, ...others])
  const who: Concerned[] = [
    ...teams.slice(0, most).map((team) => ({
      who: { type: 'teams' as const, id: team.id, name: team.name },
      teams: [team],
    })),
    ...concerned,
  ]
  const havingOf =
    (before: Look, after: Look) =>
    (one: Concerned): Having => {
      const granted = grantedTo(one, grants)
      const { columns, flags } = standingBy(one, organization, inForce)
      const held = (place: NamedPlace, look: Look) => {
        const projectId = look.get(place.id)
        return projectId === undefined ? nothingHeld : heldOn(columns, granted, { ...place, projectId })
      }
      return {
        flags: [flags, flags],
        on: (index) => {
          const place = existing(places[index])
          return [held(place, before), held(place, after)]
        },
      }
    }
  const look = (writing: Transaction) => lookAt(writing, scope)
  return dryRunOf(scope.id, viewer, look, (before, after) => ({
    compared: [{ organization, who, places, having: havingOf(before, after) }],
    totals: { who: teams.length + people.total, places: asked.places.length },
  }))
}

async function lookAt(tx: Transaction, { organization, places }: PlaceScope): Promise<Look> {
  const [first] = places
  if (first?.on === 'project') {
    const project = await findProject(tx, first.id)
    return new Map(project === undefined ? [] : [[project.id, project.id]])
  }
  const ids = places.map(({ id }) => id)
  const workspaces = await findWorkspaces(tx, organization.id, ids)
  return new Map(workspaces.map(({ id, project_id: projectId }) => [id, projectId]))
}

/** The workspaces, and their projects before and after the change. */
function namedIn({ places, newProjectId }: PlaceScope) {
  const projectIds = new Set(places.map(({ projectId }) => projectId))
  if (typeof newProjectId === 'string') projectIds.add(newProjectId)
  const workspaceIds = places.filter(({ on }) => on === 'workspace').map(({ id }) => id)
  return { workspaceIds, projectIds: [...projectIds] }
}

/** The teams of which the caller sees a grant that counts, and what they see of all their grants here. */
async function grantedTeams(
  tx: Transaction,
  scope: PlaceScope,
  sight: Sight,
): Promise<{ teams: TeamRow[]; grants: GrantsByTeam }> {
  const named = namedIn(scope)
  const isMove = scope.newProjectId !== undefined
  const ids = await teamsWithGrants(tx, isMove ? { ...named, workspaceIds: [] } : named)
  const known = (await findTeams(tx, scope.organization.id, ids)).filter(sight.seesTeam)
  const knownIds = known.map(({ id }) => id)
  const grants = sight.seenGrants(await readGrants(tx, knownIds, named, 'workspaces'))
  const teams = known.filter(({ id }) => {
    const { onWorkspaces, onProjects } = existing(grants.get(id))
    return onProjects.length > 0 || (!isMove && onWorkspaces.length > 0)
  })
  return { teams, grants }
}
