import type { Transaction } from '../database/database.ts'
import { ok } from '../http/call.ts'
import type { Watch } from '../http/dry-run.ts'
import type { Viewer } from '../http/route.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { reachOf } from '../access/granted-places-store.ts'
import { listVisibleProjects } from '../projects/project-store.ts'
import { membersInSlices } from '../teams/team-members-in-turns.ts'
import { findTeam, type TeamRow } from '../teams/team-store.ts'
import { findUsers } from '../users/user-store.ts'
import { listVisibleWorkspaces } from '../workspaces/workspace-list-store.ts'
import { accessChangesDocument } from './access-changes-document.ts'
import { changesOf, teamGone, type Concerned, type TeamState } from './access-changes.ts'
import { sightOf, type Sight } from './access-sight.ts'
import { activeMembersAmong, teamsOfUsers, type HoldingTeam, type Places } from './holdings-store.ts'
import { grantedTo } from './holdings.ts'
import { placeOf, placeOfProject, type NamedPlace } from './places.ts'
import { readGrants, type Grants } from './team-grants.ts'

/** A statement must not keep other requests waiting. */
const ROWS_A_STATEMENT = 2_000

/** What a trial is about: whose access may change, and where. */
export type Trial = {
  readonly organization: OrganizationRow
  /** The team that changes: what its token may do is looked at, and what its members may do. */
  readonly team: TeamRow
  /** These alone instead of the team and its members: who joins or leaves it. */
  readonly userIds?: readonly string[]
  /** The workspace, or the project with all workspaces in it; everywhere when it is left out. */
  readonly place?: NamedPlace
}

/** What a trial's change may change: the team itself, who of those concerned is in it, and what it holds on the place. */
type Look = {
  readonly team: TeamRow | undefined
  readonly memberIds: ReadonlySet<string> | undefined
  readonly onPlace: Partial<Grants>
}

/**
 * Reads who may do what by everything that the change leaves alone, and gives what looks at the rest before and after it
 * and answers with the difference. It tells the caller nothing that he could not read: levels are what comes of the teams
 * and grants that he sees, on the workspaces and projects that he sees.
 */
export async function watchAccess(viewer: Viewer, trial: Trial): Promise<Watch> {
  const { tx, deps } = viewer
  const { organization, place } = trial
  const { maxDryRunPairs, maxDryRunChanges } = deps.config
  const { places, total } = await placesOf(viewer, trial, maxDryRunPairs)
  const isTeamLookedAt = trial.userIds === undefined
  const most = Math.max(1, Math.floor(maxDryRunPairs / Math.max(1, places.length)))
  const people = trial.userIds ?? (await membersOf(viewer, trial.team))
  const users = await findUsers(tx, people.toSorted().slice(0, isTeamLookedAt ? most - 1 : most))
  const userIds = users.map(({ id }) => id)
  const sight = await sightOf(viewer, trial, scopeOf(trial), places)
  const isTeamSeen = sight.seesTeam(trial.team)
  const otherTeams = await otherTeamsOf(viewer, trial, userIds, sight)
  const teamIds = new Set([...otherTeams.values()].flatMap((teams) => teams.map(({ id }) => id)))
  const on = place?.on === 'workspace' ? 'workspaces' : 'projects too'
  const grants = await readGrants(tx, [...teamIds, trial.team.id], scopeOf(trial), on)
  const otherGrants = sight.seenGrants(grants)
  const who: Concerned[] = users.map(({ id, username }) => ({
    who: { type: 'users', id, name: username ?? id },
    otherTeams: otherTeams.get(id) ?? [],
  }))
  if (isTeamLookedAt) {
    who.unshift({ who: { type: 'teams', id: trial.team.id, name: trial.team.name }, otherTeams: [] })
  }
  const stateOf = ({ team, memberIds, onPlace }: Look): TeamState => {
    if (team === undefined || !isTeamSeen) return teamGone
    const own = { ...(grants.get(team.id) as Grants), ...onPlace }
    const seen = sight.seenGrants(new Map([[team.id, own]]))
    return { team, memberIds, granted: grantedTo({ teams: [team] }, seen) }
  }
  const look = (writing: Transaction) => lookAt(writing, trial, userIds)
  const compare = async (before: Look, after: Look) => {
    const { inForce } = deps.standings
    const seen = {
      organization,
      inForce,
      who,
      places,
      otherGrants,
      before: stateOf(before),
      after: stateOf(after),
    }
    const found = await changesOf(seen, maxDryRunChanges)
    const counts = {
      changes: found.count,
      who: people.length + (isTeamLookedAt ? 1 : 0),
      'who-looked-at': who.length,
      places: total,
      'places-looked-at': places.length,
    }
    return ok(accessChangesDocument(trial.team.id, { changes: found.changes, counts }))
  }
  return { look, compare } satisfies Watch<Look> as Watch
}

/** Few rows, since others wait for the write lock meanwhile. */
async function lookAt(tx: Transaction, trial: Trial, userIds: readonly string[]): Promise<Look> {
  const { place } = trial
  const team = await findTeam(tx, trial.team.id)
  // Only what adds and removes members changes who they are.
  const memberIds =
    trial.userIds === undefined ? undefined : await activeMembersAmong(tx, trial.team.id, userIds)
  if (place === undefined) return { team, memberIds, onPlace: {} }
  const ofPlace = { workspaceIds: place.on === 'workspace' ? [place.id] : [], projectIds: [place.projectId] }
  const grants = await readGrants(tx, [trial.team.id], ofPlace, 'workspaces')
  const { onWorkspaces, onProjects } = grants.get(trial.team.id) as Grants
  return { team, memberIds, onPlace: place.on === 'workspace' ? { onWorkspaces } : { onProjects } }
}

/** The people in a team: its service account is the team itself. */
async function membersOf({ tx }: Viewer, team: TeamRow): Promise<string[]> {
  const ids: string[] = []
  for await (const members of membersInSlices(tx, team.id)) {
    for (const { user_id: id, is_active: isActive } of members) {
      if (isActive === 1 && id !== team.service_account_id) ids.push(id)
    }
  }
  return ids
}

/** The workspaces and projects that a trial is about and its caller sees, so many of them; and how many there are. */
async function placesOf(
  viewer: Viewer,
  { organization, place }: Trial,
  most: number,
): Promise<{ places: NamedPlace[]; total: number }> {
  if (place?.on === 'workspace') return { places: [place], total: 1 }
  const { tx } = viewer
  const filter = place === undefined ? {} : { projectId: place.id }
  const reach = reachOf('workspace:read', viewer)
  const mostWorkspaces = place === undefined ? most : most - 1
  const size = Math.min(mostWorkspaces, ROWS_A_STATEMENT)
  const workspaces: NamedPlace[] = []
  let known: number | undefined
  for (let number = 1; workspaces.length < Math.min(mostWorkspaces, known ?? 1); number++) {
    const page = { number, size }
    const listed = await listVisibleWorkspaces(tx, organization.id, reach, filter, page, { known })
    known = listed.total
    if (listed.workspaces.length === 0) break
    workspaces.push(...listed.workspaces.map(placeOf))
  }
  workspaces.splice(mostWorkspaces)
  const total = known ?? 0
  if (place !== undefined) return { places: [place, ...workspaces], total: 1 + total }
  const toProjects = reachOf('project:read', viewer)
  const projects = await listVisibleProjects(
    tx,
    organization.id,
    toProjects,
    {},
    {
      number: 1,
      size: most - workspaces.length,
    },
  )
  return {
    places: [...projects.projects.map(placeOfProject), ...workspaces],
    total: projects.total + total,
  }
}

function scopeOf({ place }: Trial): Places {
  if (place === undefined) return 'everywhere'
  return place.on === 'project'
    ? { projectId: place.id }
    : { workspaceIds: [place.id], projectIds: [place.projectId] }
}

/** The teams of each, as far as the caller sees them, without the one that changes. */
async function otherTeamsOf(
  { tx }: Viewer,
  { organization, team: changing }: Trial,
  userIds: readonly string[],
  sight: Sight,
): Promise<Map<string, HoldingTeam[]>> {
  const teams = new Map<string, HoldingTeam[]>(userIds.map((id) => [id, []]))
  for (const team of await teamsOfUsers(tx, organization.id, userIds)) {
    if (team.id !== changing.id && sight.seesTeam(team)) teams.get(team.user_id)?.push(team)
  }
  return teams
}
