import { existing } from '../core/existing.ts'
import type { Transaction } from '../database/database.ts'
import type { DryRun } from '../http/dry-run.ts'
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

/** Limits one statement, so that other requests do not wait long. */
const ROWS_A_STATEMENT = 2_000

/** What a dry run looks at: whose access may change, and where. */
export type Scope = {
  readonly organization: OrganizationRow
  /** The team that changes. The run examines the team's token and its members. */
  readonly team: TeamRow
  /** Examine only these users, who join or leave the team, instead of the team and its members. */
  readonly userIds?: readonly string[]
  /** The workspace, or the project with all its workspaces. Undefined means the whole organization. */
  readonly place?: NamedPlace
}

/** Everything that the change may affect: the team, its members among the examined users, its grants on the place. */
type Look = {
  readonly team: TeamRow | undefined
  readonly memberIds: ReadonlySet<string> | undefined
  readonly onPlace: Partial<Grants>
}

/**
 * Reads all access that does not depend on the change. The returned `look` reads the rest, before and after the change,
 * and `compare` returns the differences. The result contains nothing that the caller could not read: levels come only
 * from teams and grants that they see, on workspaces and projects that they see.
 */
export async function dryRunOfAccess(viewer: Viewer, scope: Scope): Promise<DryRun> {
  const { tx, deps } = viewer
  const { organization, place } = scope
  const { maxDryRunPairs, maxDryRunChanges } = deps.config
  const { places, total } = await placesOf(viewer, scope, maxDryRunPairs)
  const isTeamLookedAt = scope.userIds === undefined
  const most = Math.max(1, Math.floor(maxDryRunPairs / Math.max(1, places.length)))
  const people = scope.userIds ?? (await membersOf(viewer, scope.team))
  const users = await findUsers(tx, people.toSorted().slice(0, isTeamLookedAt ? most - 1 : most))
  const userIds = users.map(({ id }) => id)
  const sight = await sightOf(viewer, scope, scopeOf(scope), places)
  const isTeamSeen = sight.seesTeam(scope.team)
  const otherTeams = await otherTeamsOf(viewer, scope, userIds, sight)
  const teamIds = new Set([...otherTeams.values()].flatMap((teams) => teams.map(({ id }) => id)))
  const on = place?.on === 'workspace' ? 'workspaces' : 'projects too'
  const grants = await readGrants(tx, [...teamIds, scope.team.id], scopeOf(scope), on)
  const otherGrants = sight.seenGrants(grants)
  const who: Concerned[] = users.map(({ id, username }) => ({
    who: { type: 'users', id, name: username ?? id },
    otherTeams: otherTeams.get(id) ?? [],
  }))
  if (isTeamLookedAt) {
    who.unshift({ who: { type: 'teams', id: scope.team.id, name: scope.team.name }, otherTeams: [] })
  }
  const stateOf = ({ team, memberIds, onPlace }: Look): TeamState => {
    if (team === undefined || !isTeamSeen) return teamGone
    const own = { ...existing(grants.get(team.id)), ...onPlace }
    const seen = sight.seenGrants(new Map([[team.id, own]]))
    return { team, memberIds, granted: grantedTo({ teams: [team] }, seen) }
  }
  const look = (writing: Transaction) => lookAt(writing, scope, userIds)
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
    return accessChangesDocument(scope.team.id, { changes: found.changes, counts })
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the runner passes what look returned back to compare
  return { look, compare } satisfies DryRun<Look> as DryRun
}

/** Reads only a few rows, because other writers wait for the lock meanwhile. */
async function lookAt(tx: Transaction, scope: Scope, userIds: readonly string[]): Promise<Look> {
  const { place } = scope
  const team = await findTeam(tx, scope.team.id)
  // Only a dry run that adds or removes members changes who is a member.
  const memberIds =
    scope.userIds === undefined ? undefined : await activeMembersAmong(tx, scope.team.id, userIds)
  if (place === undefined) return { team, memberIds, onPlace: {} }
  const ofPlace = { workspaceIds: place.on === 'workspace' ? [place.id] : [], projectIds: [place.projectId] }
  const grants = await readGrants(tx, [scope.team.id], ofPlace, 'workspaces')
  const { onWorkspaces, onProjects } = existing(grants.get(scope.team.id))
  return { team, memberIds, onPlace: place.on === 'workspace' ? { onWorkspaces } : { onProjects } }
}

/** The people in a team. The service account is left out, because it acts as the team itself. */
async function membersOf({ tx }: Viewer, team: TeamRow): Promise<string[]> {
  const ids: string[] = []
  for await (const members of membersInSlices(tx, team.id)) {
    for (const { user_id: id, is_active: isActive } of members) {
      if (isActive === 1 && id !== team.service_account_id) ids.push(id)
    }
  }
  return ids
}

/** At most `most` of the workspaces and projects in the scope that the caller sees, and their total number. */
async function placesOf(
  viewer: Viewer,
  { organization, place }: Scope,
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

function scopeOf({ place }: Scope): Places {
  if (place === undefined) return 'everywhere'
  return place.on === 'project'
    ? { projectId: place.id }
    : { workspaceIds: [place.id], projectIds: [place.projectId] }
}

/** Each user's teams that the caller sees, without the team that changes. */
async function otherTeamsOf(
  { tx }: Viewer,
  { organization, team: changing }: Scope,
  userIds: readonly string[],
  sight: Sight,
): Promise<Map<string, HoldingTeam[]>> {
  const teams = new Map<string, HoldingTeam[]>(userIds.map((id) => [id, []]))
  for (const team of await teamsOfUsers(tx, organization.id, userIds)) {
    if (team.id !== changing.id && sight.seesTeam(team)) teams.get(team.user_id)?.push(team)
  }
  return teams
}
