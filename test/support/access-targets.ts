import { idPrefixes } from '../../src/core/ids.ts'
import type { Home } from './access-home.ts'
import { effectiveAccess, type AccessRoute } from './access-requests.ts'
import type { Target } from './access-table.ts'
import type { AccessActor } from './access-world.ts'

export const missingId = (kind: string) => `${kind}-zzzzzzzzzzzzzzzz`
export const missingParams: Record<string, string> = {
  organization_name: 'no-such-organization',
  workspace_name: 'no-such-workspace',
  organization_membership_id: missingId(idPrefixes.membership),
  team_id: missingId(idPrefixes.team),
  user_id: missingId(idPrefixes.user),
  token_id: missingId(idPrefixes.token),
  session_id: missingId(idPrefixes.session),
  project_id: missingId(idPrefixes.project),
  workspace_id: missingId(idPrefixes.workspace),
  team_workspace_id: missingId(idPrefixes.teamWorkspace),
  team_project_id: missingId(idPrefixes.teamProject),
  state_version_id: missingId(idPrefixes.stateVersion),
  state_version_output_id: missingId(idPrefixes.output),
  workspaces: missingId(idPrefixes.workspace),
  projects: missingId(idPrefixes.project),
  tag_id: missingId(idPrefixes.tag),
}

/** The path and query of a route's request for the target. */
export function pathOf({ path, query }: AccessRoute, target: Target): string {
  const filled = path.replace(/:([a-z_]+)/g, (_, name: string) =>
    encodeURIComponent(target.params[name] as string),
  )
  return filled + (query?.(target) ?? '')
}

type Asker = Pick<
  AccessActor,
  'code' | 'home' | 'teamIds' | 'isTeamToken' | 'userId' | 'membershipId' | 'grantId' | 'projectGrantId'
>

/** The targets of a route in an organization, for one caller. */
export function targetsOf({ path, query, body: makeBody }: AccessRoute, home: Home, actor: Asker): Target[] {
  const { teams, members, tokens } = home
  const shared = paramsOf(home)
  const target = (label: string, own: Record<string, string>, facts: Partial<Target> = {}): Target => ({
    label,
    params: { ...shared, ...own },
    ...facts,
  })
  const eachTeam = Object.entries(teams)
  if (path.includes(':team_id')) {
    return eachTeam.map(([label, team]) => target(`${label} team`, { team_id: team.id }, { team }))
  }
  if (path.includes(':organization_membership_id')) {
    const of = (label: string, key: keyof Home['members']) =>
      target(label, { organization_membership_id: members[key].membershipId }, { teamsOfUser: [teams[key]] })
    const owner = { organization_membership_id: home.ownerMembershipId }
    const own = { organization_membership_id: actor.membershipId as string }
    return [
      of('a member', 'open'),
      of('a member of the granted team', 'granted'),
      of('a member of the secret team', 'secret'),
      target('an owner', owner, {
        teamsOfUser: [teams.owners],
        isSelf: actor.membershipId === home.ownerMembershipId,
      }),
      ...(actor.membershipId === undefined || actor.code === 'OWN'
        ? []
        : [target('oneself', own, { isSelf: true, teamsOfUser: teamsOf(home, actor) })]),
    ]
  }
  if (path.includes(':user_id')) {
    const own =
      actor.userId === undefined ? [] : [target('oneself', { user_id: actor.userId }, { isSelf: true })]
    return [target('a member', { user_id: members.open.id }), ...own]
  }
  if (path.endsWith('_backing_data')) {
    const { older, deleted } = home.stateVersions
    return [target('', { state_version_id: path.includes('/soft_delete') ? older : deleted })]
  }
  if (path.includes(':session_id')) {
    const isSelf = actor.userId === home.organization.owner.id
    return [target("the owner's", { session_id: home.sessionId }, { isSelf })]
  }
  if (path.includes(':token_id')) {
    return [
      target(
        "the owner's",
        { token_id: tokens.user },
        { isSelf: actor.userId === home.organization.owner.id },
      ),
      target(
        "the open team's",
        { token_id: tokens.openTeam },
        { team: teams.open, permission: 'team:tokens' },
      ),
      target(
        "the granted team's",
        { token_id: tokens.grantedTeam },
        { team: teams.granted, permission: 'team:tokens' },
      ),
      target(
        "the owners team's",
        { token_id: tokens.ownersTeam },
        { team: teams.owners, permission: 'team:tokens' },
      ),
      target("the organization's", { token_id: tokens.organization }, { permission: 'organization:token' }),
    ]
  }
  if (path.includes(':team_workspace_id')) return grantTargets(home, actor, false)
  if (path.includes(':team_project_id')) return grantTargets(home, actor, true)
  if (path === effectiveAccess) {
    const { userId, teamIds, isTeamToken } = actor
    // Only members of the organization can ask for their own access there.
    const isMember = userId !== undefined && actor.membershipId !== undefined && actor.home === home
    const user = isMember ? [target('oneself', { user: userId }, { isSelf: true })] : []
    const own = isTeamToken
      ? [target("the token's team", { team: teamIds[0] as string }, { isSelf: true })]
      : []
    return [
      target('a member', { user: members.open.id }),
      target('the open team', { team: teams.open.id }),
      ...user,
      ...own,
    ]
  }
  if (path === '/team-workspaces' || path === '/team-projects') {
    if (makeBody === undefined) return [target('', {})]
    return Object.entries(home.freeTeams).map(([label, team]) =>
      target(`${label} team`, { teams: team.id }, { team }),
    )
  }
  if (['/account/password', '/account/password-checks', '/account/login-codes'].includes(path))
    return [target('', {}, { isSelf: actor.userId !== undefined })]
  return [target('', {}, query === undefined && !path.includes(':') ? { isSelf: true } : {})]
}

function teamsOf(home: Home, actor: Asker): Target['teamsOfUser'] {
  return actor.teamIds.map(
    (id) => Object.values(home.teams).find((team) => team.id === id) ?? { id, isOpen: true, isOwners: false },
  )
}

function grantTargets(home: Home, { grantId, projectGrantId, teamIds }: Asker, isProject: boolean): Target[] {
  const [name, grants, own] = isProject
    ? (['team_project_id', home.projectGrants, projectGrantId] as const)
    : (['team_workspace_id', home.grants, grantId] as const)
  const target = (label: string, id: string, team: Target['team']) => ({
    label,
    params: { [name]: id },
    team,
  })
  return [
    target('of the granted team', grants.granted, home.teams.granted),
    target('of the secret team', grants.secret, home.teams.secret),
    ...(own === undefined
      ? []
      : [target("of one's own team", own, { id: teamIds[0] as string, isOpen: true, isOwners: false })]),
  ]
}

function paramsOf(home: Home): Record<string, string> {
  return {
    organization_name: home.organization.name,
    workspace_id: home.workspaceId,
    workspace_name: home.workspaceName,
    project_id: home.projectId,
    state_version_id: home.stateVersions.current,
    state_version_output_id: home.outputId,
    users: home.members.open.id,
    'organization-memberships': home.members.open.membershipId,
    teams: home.teams.open.id,
    tag_id: home.tagId,
    tags: home.tagId,
    workspaces: home.workspaceId,
    projects: home.projectId,
  }
}
