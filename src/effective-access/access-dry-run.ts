import { existing } from '../core/existing.ts'
import type { Transaction } from '../database/database.ts'
import type { DryRun } from '../http/dry-run.ts'
import type { Viewer } from '../http/route.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { teamMembersAmong } from '../teams/team-member-store.ts'
import { findTeam, type TeamRow } from '../teams/team-store.ts'
import { findUsers } from '../users/user-store.ts'
import { dryRunOf } from './access-changes.ts'
import { sightOf } from './access-sight.ts'
import { concernedPeople, peopleIn } from './dry-run-people.ts'
import { placesOf } from './dry-run-places.ts'
import type { Places } from './holdings-store.ts'
import { grantedTo } from './holdings.ts'
import type { NamedPlace } from './places.ts'
import { readGrants, type Grants } from './team-grants.ts'
import { havingOf, teamGone, type TeamState } from './team-state.ts'

/** What a dry run looks at: whose access may change, and where. */
type Scope = {
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
  const { maxDryRunPairs } = deps.config
  const { places, total } = await placesOf(viewer, scope, maxDryRunPairs)
  const isTeamLookedAt = scope.userIds === undefined
  const most = Math.max(1, Math.floor(maxDryRunPairs / Math.max(1, places.length)))
  const people = scope.userIds ?? [...(await peopleIn(tx, [scope.team])).ids]
  const users = await findUsers(tx, people.toSorted().slice(0, isTeamLookedAt ? most - 1 : most))
  const userIds = users.map(({ id }) => id)
  const sight = await sightOf(viewer, scope, scopeOf(scope), places)
  const isTeamSeen = sight.seesTeam(scope.team)
  const concerned = await concernedPeople(tx, organization.id, users, sight)
  const who = concerned.map((person) => ({
    ...person,
    teams: person.teams.filter(({ id }) => id !== scope.team.id),
  }))
  const teamIds = new Set(who.flatMap(({ teams }) => teams.map(({ id }) => id)))
  const on = place?.on === 'workspace' ? 'workspaces' : 'projects too'
  const grants = await readGrants(tx, [...teamIds, scope.team.id], scopeOf(scope), on)
  const otherGrants = sight.seenGrants(grants)
  if (isTeamLookedAt) {
    who.unshift({ who: { type: 'teams', id: scope.team.id, name: scope.team.name }, teams: [] })
  }
  const stateOf = ({ team, memberIds, onPlace }: Look): TeamState => {
    if (team === undefined || !isTeamSeen) return teamGone
    const own = { ...existing(grants.get(team.id)), ...onPlace }
    const seen = sight.seenGrants(new Map([[team.id, own]]))
    return { team, memberIds, granted: grantedTo({ teams: [team] }, seen) }
  }
  const look = (writing: Transaction) => lookAt(writing, scope, userIds)
  return dryRunOf(scope.team.id, viewer, look, (before, after) => {
    const change = { before: stateOf(before), after: stateOf(after) }
    const having = havingOf(change, { organization, inForce: deps.standings.inForce, places, otherGrants })
    const totals = { who: people.length + (isTeamLookedAt ? 1 : 0), places: total }
    return { compared: [{ organization, who, places, having }], totals }
  })
}

/** Reads only a few rows, because other writers wait for the lock meanwhile. */
async function lookAt(tx: Transaction, scope: Scope, userIds: readonly string[]): Promise<Look> {
  const { place } = scope
  const team = await findTeam(tx, scope.team.id)
  // Only a dry run that adds or removes members changes who is a member.
  const members = scope.userIds && (await teamMembersAmong(tx, scope.team.id, userIds))
  const active = members?.filter((member) => member.is_active === 1)
  const memberIds = active && new Set(active.map((member) => member.user_id))
  if (place === undefined) return { team, memberIds, onPlace: {} }
  const ofPlace = { workspaceIds: place.on === 'workspace' ? [place.id] : [], projectIds: [place.projectId] }
  const grants = await readGrants(tx, [scope.team.id], ofPlace, 'workspaces')
  const { onWorkspaces, onProjects } = existing(grants.get(scope.team.id))
  return { team, memberIds, onPlace: place.on === 'workspace' ? { onWorkspaces } : { onProjects } }
}

function scopeOf({ place }: Scope): Places {
  if (place === undefined) return 'everywhere'
  return place.on === 'project'
    ? { projectId: place.id }
    : { workspaceIds: [place.id], projectIds: [place.projectId] }
}
