import { ok, type Answer } from '../http/call.ts'
import type { Viewer } from '../http/route.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { reachOf } from '../access/granted-places-store.ts'
import { listVisibleProjects } from '../projects/project-store.ts'
import { findTeam, listTeamMembers, type TeamRow } from '../teams/team-store.ts'
import { findUsers } from '../users/user-store.ts'
import { listVisibleWorkspaces } from '../workspaces/workspace-list-store.ts'
import { accessChangesDocument, type AccessChange } from './access-changes-document.ts'
import { changesOf, type Snapshot } from './access-changes.ts'
import { sightOf, type Sight } from './access-sight.ts'
import { teamsOfUsers, type HoldingTeam, type Places } from './holdings-store.ts'
import { grantedTo, readGrants, standingSources, type Holder } from './holdings.ts'
import { placeOf, placeOfProject, type NamedPlace } from './places.ts'
import { teamHolder } from './subjects.ts'

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

/**
 * Looks at who may do what before a change, and gives what looks again after it and answers with the difference. It
 * tells the caller nothing that he could not read: levels are what comes of the teams and grants that he sees, on the
 * workspaces and projects that he sees.
 */
export async function watchAccess(viewer: Viewer, trial: Trial): Promise<() => Promise<Answer>> {
  const { tx, deps } = viewer
  const { maxDryRunPairs, maxDryRunChanges } = deps.config
  const { places, total } = await placesOf(viewer, trial, maxDryRunPairs)
  const isTeamLookedAt = trial.userIds === undefined
  const most = Math.max(1, Math.floor(maxDryRunPairs / Math.max(1, places.length)))
  const people = trial.userIds ?? (await membersOf(viewer, trial.team))
  const users = await findUsers(tx, people.toSorted().slice(0, isTeamLookedAt ? most - 1 : most))
  const who: AccessChange['who'][] = users.map(({ id, username }) => ({
    type: 'users',
    id,
    name: username ?? id,
  }))
  if (isTeamLookedAt) who.unshift({ type: 'teams', id: trial.team.id, name: trial.team.name })
  const sight = await sightOf(viewer, trial, scopeOf(trial), places)
  const before = await takeSnapshot(viewer, trial, who, sight)
  return async () => {
    const after = await takeSnapshot(viewer, trial, who, sight)
    const { organization } = trial
    const found = changesOf({ organization, who, places, before, after }, maxDryRunChanges)
    const counts = {
      changes: found.count,
      who: people.length + (isTeamLookedAt ? 1 : 0),
      'who-looked-at': who.length,
      places: total,
      'places-looked-at': places.length,
    }
    return ok(accessChangesDocument(trial.team.id, { changes: found.changes, counts }))
  }
}

/** The people in a team: its service account is the team itself. */
async function membersOf({ tx }: Viewer, team: TeamRow): Promise<string[]> {
  const members = await listTeamMembers(tx, team.id)
  return members
    .filter((member) => member.is_active === 1 && member.user_id !== team.service_account_id)
    .map((member) => member.user_id)
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
  const page = { number: 1, size: place === undefined ? most : most - 1 }
  const reach = reachOf('workspace:read', viewer)
  const listed = await listVisibleWorkspaces(tx, organization.id, reach, filter, page)
  const workspaces = listed.workspaces.map(placeOf)
  if (place !== undefined) return { places: [place, ...workspaces], total: 1 + listed.total }
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
    total: projects.total + listed.total,
  }
}

function scopeOf({ place }: Trial): Places {
  if (place === undefined) return 'everywhere'
  return place.on === 'project'
    ? { projectId: place.id }
    : { workspaceIds: [place.id], projectIds: [place.projectId] }
}

async function takeSnapshot(
  { tx, deps }: Viewer,
  trial: Trial,
  who: readonly AccessChange['who'][],
  sight: Sight,
): Promise<Snapshot> {
  const { organization, place } = trial
  const userIds = who.filter(({ type }) => type === 'users').map(({ id }) => id)
  const teams = new Map<string, HoldingTeam[]>(userIds.map((id) => [id, []]))
  for (const team of await teamsOfUsers(tx, organization.id, userIds)) {
    if (sight.seesTeam(team)) teams.get(team.user_id)?.push(team)
  }
  const holders: Holder[] = userIds.map((id) => ({
    kind: 'user',
    id,
    isSiteAdmin: false,
    status: 'active',
    teams: teams.get(id) ?? [],
  }))
  const team = await findTeam(tx, trial.team.id)
  if (team !== undefined && userIds.length < who.length) holders.unshift(teamHolder(team))
  const teamIds = [...new Set(holders.flatMap((holder) => holder.teams.map(({ id }) => id)))]
  const on = place?.on === 'workspace' ? 'workspaces' : 'projects too'
  const grants = sight.seenGrants(await readGrants(tx, teamIds, scopeOf(trial), on))
  const { inForce } = deps.standings
  return new Map(
    holders.map((holder) => [
      holder.id,
      {
        columns: standingSources(holder, organization, inForce).columns,
        flags: holder.teams.reduce((set, one) => set | one.organization_access, 0) & inForce.flags,
        granted: grantedTo(holder, grants),
      },
    ]),
  )
}
