import type { TablePermission, Target } from './access-table.ts'
import { stateText, md5Of, base64 } from './states.ts'
import { body, grantBody, inProject } from './world.ts'

/** A request of the access matrix: a route, and the query and body to send. */
export type AccessRoute = {
  method: string
  path: string
  /** The row of test/data/access-table.txt. */
  permission: TablePermission
  note?: string
  query?: (target: Target) => string
  body?: (target: Target) => object
}

/** The password of owners, see access-home.ts. */
export const PASSWORD = 'correct horse'

type Extra = Pick<AccessRoute, 'note' | 'query' | 'body'>
/** For all workspaces of the organization. A grant on some of them is not enough. */
const ALL_WORKSPACES = 'workspace:manage everywhere'
const inOrganization = '/organizations/:organization_name'
const workspaceByName = `${inOrganization}/workspaces/:workspace_name`
export const effectiveAccess = `${inOrganization}/effective-access`
const id = (name: string) => (target: Target) => ({
  data: [{ type: name, id: target.params[name] as string }],
})
const named = (type: string) => () => body(type, { name: 'made-by-the-matrix' })
const empty = (type: string) => () => body(type, {})
const token = () => body('authentication-tokens', { description: 'made by the matrix' })
const bindings = () => ({
  data: [{ type: 'tag-bindings', attributes: { key: 'made-by', value: 'the-matrix' } }],
})
const stateVersion = () => {
  const text = stateText('{}', 7)
  const content = { serial: 7, md5: md5Of(text), state: base64(text) }
  return body('state-versions', { ...content, lineage: 'lineage-of-the-tests' })
}
const rollback = (target: Target) =>
  body(
    'state-versions',
    {},
    { 'rollback-state-version': { data: { type: 'state-versions', id: target.params.state_version_id } } },
  )
const contentActions = '/state-versions/:state_version_id/actions'
const grant = (on: 'workspace' | 'project') => (target: Target) =>
  grantBody(target.params.teams, on, target.params[`${on}s`])
const filter = (name: string) => (target: Target) =>
  `?filter%5B${name}%5D%5Bid%5D=${target.params[`${name}s`]}`
const stateFilter = (target: Target) =>
  `?filter%5Borganization%5D%5Bname%5D=${target.params.organization_name}&filter%5Bworkspace%5D%5Bname%5D=${target.params.workspace_name}`

const route = (
  permission: TablePermission,
  method: string,
  path: string,
  extra: Extra = {},
): AccessRoute => ({
  permission,
  method,
  path,
  ...extra,
})

/** The permission that each route asks for, and a valid body. A route that is not here fails the test. */
export const accessRoutes: readonly AccessRoute[] = [
  route('organizations:list', 'GET', '/organizations'),
  route('organization:create', 'POST', '/organizations', {
    body: () => body('organizations', { name: 'made-by-the-matrix', email: 'm@example.com' }),
  }),
  route('organization:read', 'GET', inOrganization),
  route('organization:manage', 'PATCH', inOrganization, { body: empty('organizations') }),
  route('organization:manage', 'PUT', inOrganization, { body: empty('organizations') }),
  route('organization:manage', 'DELETE', inOrganization),
  route('organization:read', 'GET', `${inOrganization}/entitlement-set`),
  route('memberships:list', 'GET', `${inOrganization}/organization-memberships`),
  route('membership:invite', 'POST', `${inOrganization}/organization-memberships`, {
    body: () => body('organization-memberships', { email: 'invited-by-the-matrix@example.com' }),
  }),
  route('account:read', 'GET', '/organization-memberships'),
  route('membership:accept', 'POST', '/organization-memberships/:organization_membership_id/actions/accept'),
  route('membership:read', 'GET', '/organization-memberships/:organization_membership_id'),
  route('membership:remove', 'DELETE', '/organization-memberships/:organization_membership_id'),
  route('team:read', 'GET', `${inOrganization}/teams`),
  route('team:manage', 'POST', `${inOrganization}/teams`, { body: named('teams') }),
  route('team:read', 'GET', '/teams/:team_id'),
  route('team:manage', 'PATCH', '/teams/:team_id', { body: () => body('teams', { 'sso-team-id': 'x' }) }),
  route('team:grant', 'PATCH', '/teams/:team_id', {
    note: 'organization-access',
    body: () => body('teams', { 'organization-access': { 'manage-organization-access': true } }),
  }),
  route('team:manage', 'DELETE', '/teams/:team_id'),
  route('team:update-members', 'POST', '/teams/:team_id/relationships/users', { body: id('users') }),
  route('team:update-members', 'DELETE', '/teams/:team_id/relationships/users', { body: id('users') }),
  route('team:read', 'GET', '/teams/:team_id/relationships/organization-memberships'),
  route('team:update-members', 'POST', '/teams/:team_id/relationships/organization-memberships', {
    body: id('organization-memberships'),
  }),
  route('team:update-members', 'DELETE', '/teams/:team_id/relationships/organization-memberships', {
    body: id('organization-memberships'),
  }),
  route('account:read', 'GET', '/account/details'),
  route('user:read', 'GET', '/users/:user_id'),
  route('organizations:administer', 'GET', '/admin/organizations'),
  route('users:administer', 'GET', '/admin/users'),
  route('users:administer', 'POST', '/admin/users', {
    body: () => body('users', { username: 'by-the-matrix', email: 'b@example.com' }),
  }),
  ...['suspend', 'unsuspend', 'grant_admin', 'revoke_admin'].map((action) =>
    route('users:administer', 'POST', `/admin/users/:user_id/actions/${action}`),
  ),
  route('users:administer', 'DELETE', '/admin/users/:user_id'),
  route('users:administer', 'POST', '/admin/users/:user_id/password-links'),
  route('user:tokens', 'PATCH', '/account/password', {
    note: 'a person',
    body: () => {
      const password = 'another horse'
      return body('users', { current_password: PASSWORD, password, password_confirmation: password })
    },
  }),
  route('user:tokens', 'GET', '/users/:user_id/sessions'),
  route('user:tokens', 'DELETE', '/users/:user_id/sessions'),
  route('user:tokens', 'POST', '/account/login-codes', {
    note: 'a person',
    body: () =>
      body('login-codes', {
        'client-id': 'terraform-cli',
        'response-type': 'code',
        'redirect-uri': 'http://localhost:10000/login',
        'code-challenge': 'c'.repeat(43),
        'code-challenge-method': 'S256',
        state: 'made-by-the-matrix',
      }),
  }),
  route('user:tokens', 'POST', '/account/password-checks', {
    note: 'a person',
    body: () => body('password-checks', { password: PASSWORD }),
  }),
  route('user:tokens', 'GET', '/sessions/:session_id'),
  route('user:tokens', 'DELETE', '/sessions/:session_id'),
  route('user:tokens', 'POST', '/users/:user_id/authentication-tokens', { body: token }),
  route('user:tokens', 'GET', '/users/:user_id/authentication-tokens'),
  route('user:tokens', 'DELETE', '/users/:user_id/authentication-tokens'),
  route('project:read', 'GET', `${inOrganization}/projects`),
  route('project:create', 'POST', `${inOrganization}/projects`, { body: named('projects') }),
  route('project:read', 'GET', '/projects/:project_id'),
  route('project:manage', 'PATCH', '/projects/:project_id', { body: empty('projects') }),
  route('project:manage', 'DELETE', '/projects/:project_id'),
  // A workspace that the caller may not manage is 422. Here, callers who may create workspaces may also manage it.
  route('workspace:create', 'POST', '/projects/:project_id/relationships/workspaces', {
    body: id('workspaces'),
  }),
  route('project:read', 'GET', '/projects/:project_id/tag-bindings'),
  route('project:read', 'GET', '/projects/:project_id/relationships/tag-bindings'),
  route('project:read', 'GET', '/projects/:project_id/effective-tag-bindings'),
  route('project:manage', 'PATCH', '/projects/:project_id/tag-bindings', { body: bindings }),
  route('project:manage', 'POST', '/projects/:project_id/relationships/tag-bindings', { body: bindings }),
  route('project:manage', 'PATCH', '/projects/:project_id/relationships/tag-bindings', { body: bindings }),
  ...['authentication-token', 'authentication-tokens'].flatMap((path) => [
    route('team:tokens', 'POST', `/teams/:team_id/${path}`, { body: token }),
    route('team:tokens', 'GET', `/teams/:team_id/${path}`),
  ]),
  route('team:tokens', 'DELETE', '/teams/:team_id/authentication-token'),
  // Callers who may read the organization may list. The list has only tokens that team:tokens gives them, often none.
  route('organization:read', 'GET', `${inOrganization}/team-tokens`),
  route('organization:read', 'DELETE', `${inOrganization}/team-tokens`, { body: () => ({ data: [] }) }),
  route('organization:manage', 'GET', `${inOrganization}/token-ttl-policies`),
  route('organization:manage', 'PATCH', `${inOrganization}/token-ttl-policies`, {
    body: () =>
      body('organization-token-ttl-policies', {
        'token-ttl-policies': [{ 'token-type': 'team', 'max-ttl-ms': 86_400_000 }],
      }),
  }),
  route('organization:token', 'POST', `${inOrganization}/authentication-token`, { body: token }),
  route('organization:token', 'GET', `${inOrganization}/authentication-token`),
  route('organization:token', 'DELETE', `${inOrganization}/authentication-token`),
  route('user:tokens', 'GET', '/authentication-tokens/:token_id'),
  route('user:tokens', 'DELETE', '/authentication-tokens/:token_id'),
  route('workspace:read', 'GET', `${inOrganization}/workspaces`),
  route('workspace:create', 'POST', `${inOrganization}/workspaces`, {
    body: ({ params: { projects } }) => body('workspaces', { name: 'by-the-matrix' }, inProject(projects)),
  }),
  ...['/workspaces/:workspace_id', workspaceByName].flatMap((path) => [
    route('workspace:read', 'GET', path),
    route('workspace:manage', 'PATCH', path, { body: empty('workspaces') }),
    route('workspace:manage', 'DELETE', path),
    route('workspace:manage', 'POST', `${path}/actions/safe-delete`),
  ]),
  route('workspace:read', 'GET', '/workspaces/:workspace_id/tag-bindings'),
  route('workspace:read', 'GET', '/workspaces/:workspace_id/relationships/tag-bindings'),
  route('workspace:read', 'GET', '/workspaces/:workspace_id/effective-tag-bindings'),
  route('workspace:manage', 'PATCH', '/workspaces/:workspace_id/tag-bindings', { body: bindings }),
  route('workspace:manage', 'POST', '/workspaces/:workspace_id/relationships/tag-bindings', {
    body: bindings,
  }),
  route('workspace:manage', 'PATCH', '/workspaces/:workspace_id/relationships/tag-bindings', {
    body: bindings,
  }),
  route('workspace:read', 'GET', '/workspaces/:workspace_id/relationships/remote-state-consumers'),
  ...['POST', 'PATCH', 'DELETE'].map((method) =>
    route('workspace:manage', method, '/workspaces/:workspace_id/relationships/remote-state-consumers', {
      body: id('workspaces'),
    }),
  ),
  route('workspace:read', 'GET', `${inOrganization}/tags`),
  route(ALL_WORKSPACES, 'DELETE', `${inOrganization}/tags`, { body: id('tags') }),
  route(ALL_WORKSPACES, 'POST', '/tags/:tag_id/relationships/workspaces', { body: id('workspaces') }),
  route('workspace:read', 'GET', '/workspaces/:workspace_id/relationships/tags'),
  ...['POST', 'DELETE'].map((method) =>
    route('workspace:manage', method, '/workspaces/:workspace_id/relationships/tags', {
      body: () => ({ data: [{ type: 'tags', attributes: { name: 'a' } }] }),
    }),
  ),
  route('workspace:lock', 'POST', '/workspaces/:workspace_id/actions/lock'),
  route('workspace:lock', 'POST', `${workspaceByName}/actions/lock`),
  route('workspace:lock', 'POST', '/workspaces/:workspace_id/actions/unlock'),
  route('workspace:force-unlock', 'POST', '/workspaces/:workspace_id/actions/force-unlock'),
  // Callers who may read the workspace or project may list. The list has only teams that they may know.
  route('workspace:read', 'GET', '/team-workspaces', { query: filter('workspace') }),
  route('team-access:manage', 'POST', '/team-workspaces', { body: grant('workspace') }),
  route('team-access:read', 'GET', '/team-workspaces/:team_workspace_id'),
  route('team-access:manage', 'PATCH', '/team-workspaces/:team_workspace_id', {
    body: empty('team-workspaces'),
  }),
  route('team-access:manage', 'DELETE', '/team-workspaces/:team_workspace_id'),
  route('project:read', 'GET', '/team-projects', { query: filter('project') }),
  route('project-access:manage', 'POST', '/team-projects', { body: grant('project') }),
  route('project-access:read', 'GET', '/team-projects/:team_project_id'),
  route('project-access:manage', 'PATCH', '/team-projects/:team_project_id', {
    body: empty('team-projects'),
  }),
  route('project-access:manage', 'DELETE', '/team-projects/:team_project_id'),
  route('team:read', 'GET', '/teams/:team_id/access-grants'),
  route('workspace:read', 'GET', '/workspaces/:workspace_id/access-grants'),
  route('project:read', 'GET', '/projects/:project_id/access-grants'),
  route('effective-access:read', 'GET', '/workspaces/:workspace_id/access-holders'),
  route('effective-access:read', 'GET', '/projects/:project_id/access-holders'),
  route('effective-access:read', 'GET', effectiveAccess, {
    query: ({ params: { user, team } }) => (user === undefined ? `?team=${team}` : `?user=${user}`),
  }),
  route('state-version:read', 'GET', '/state-versions', { query: stateFilter }),
  route('state-version:read', 'GET', '/state-versions/:state_version_id'),
  route('state-version:read', 'GET', '/workspaces/:workspace_id/current-state-version'),
  route('state-version:create', 'POST', '/workspaces/:workspace_id/state-versions', { body: stateVersion }),
  route('state-version:create', 'PATCH', '/workspaces/:workspace_id/state-versions', { body: rollback }),
  route('state-content:manage', 'POST', `${contentActions}/soft_delete_backing_data`),
  route('state-content:manage', 'POST', `${contentActions}/restore_backing_data`),
  route('state-content:manage', 'POST', `${contentActions}/permanently_delete_backing_data`),
  route('state-version:read', 'GET', '/state-versions/:state_version_id/download'),
  route('state-version:read', 'GET', '/state-versions/:state_version_id/json-download'),
  route('outputs:read', 'GET', '/state-versions/:state_version_id/outputs'),
  route('outputs:read', 'GET', '/state-version-outputs/:state_version_output_id'),
  route('outputs:read-current', 'GET', '/workspaces/:workspace_id/current-state-version-outputs'),
  route('outputs:read', 'GET', '/state-versions/:state_version_id/output-previews'),
  route('outputs:read', 'GET', '/state-versions/:state_version_id/output-changes'),
  route('outputs:read-current', 'GET', '/workspaces/:workspace_id/current-output-previews'),
  route('outputs:read', 'GET', '/workspaces/:workspace_id/output-versions'),
  route('refusals:read', 'GET', `${inOrganization}/refusals`),
  route('refusals:read-all', 'GET', '/admin/refusals'),
  route('audit:read', 'GET', `${inOrganization}/audit-events`),
  route('audit-trail:read', 'GET', '/organization/audit-trail'),
]
