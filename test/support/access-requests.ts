import type { Target } from './access-table.ts'
import { stateText, md5Of, base64 } from './states.ts'
import { body } from './world.ts'

/** A request of the access matrix: a route, and the query and body to send. */
export type AccessRoute = {
  method: string
  path: string
  /** The row of the table in docs/decisions.md. 0: open to everyone. */
  row: number
  note?: string
  query?: (target: Target) => string
  body?: (target: Target) => object
}

type Extra = Pick<AccessRoute, 'note' | 'query' | 'body'>
/** Row 21 for a project that does not exist yet, so that no level on it can count. */
const PROJECT_CREATE = 121
/** Rows 27 and 28 for projects. Cells that say "workspaces only" are empty there. */
const PROJECT_GRANT_READ = 127
/** Row 24 for all workspaces of the organization. A grant on some of them is not enough. */
const ALL_WORKSPACES = 124
const PROJECT_GRANT_MANAGE = 128
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
  body(
    `team-${on}s`,
    { access: 'read' },
    {
      team: { data: { type: 'teams', id: target.params.teams } },
      [on]: { data: { type: `${on}s`, id: target.params[`${on}s`] } },
    },
  )
const filter = (name: string) => (target: Target) =>
  `?filter%5B${name}%5D%5Bid%5D=${target.params[`${name}s`]}`
const stateFilter = (target: Target) =>
  `?filter%5Borganization%5D%5Bname%5D=${target.params.organization_name}&filter%5Bworkspace%5D%5Bname%5D=${target.params.workspace_name}`

const route = (row: number, method: string, path: string, extra: Extra = {}): AccessRoute => ({
  row,
  method,
  path,
  ...extra,
})

/** The row of the table for each route, and a valid body. A route that is missing here fails the test. */
export const accessRoutes: readonly AccessRoute[] = [
  route(3, 'GET', '/organizations'),
  route(2, 'POST', '/organizations', {
    body: () => body('organizations', { name: 'made-by-the-matrix', email: 'm@example.com' }),
  }),
  route(4, 'GET', inOrganization),
  route(5, 'PATCH', inOrganization, { body: empty('organizations') }),
  route(5, 'PUT', inOrganization, { body: empty('organizations') }),
  route(5, 'DELETE', inOrganization),
  route(4, 'GET', `${inOrganization}/entitlement-set`),
  route(6, 'GET', `${inOrganization}/organization-memberships`),
  route(8, 'POST', `${inOrganization}/organization-memberships`, {
    body: () => body('organization-memberships', { email: 'invited-by-the-matrix@example.com' }),
  }),
  route(1, 'GET', '/organization-memberships'),
  route(9, 'POST', '/organization-memberships/:organization_membership_id/actions/accept'),
  route(7, 'GET', '/organization-memberships/:organization_membership_id'),
  route(10, 'DELETE', '/organization-memberships/:organization_membership_id'),
  route(11, 'GET', `${inOrganization}/teams`),
  route(12, 'POST', `${inOrganization}/teams`, { body: named('teams') }),
  route(11, 'GET', '/teams/:team_id'),
  route(12, 'PATCH', '/teams/:team_id', { body: () => body('teams', { 'sso-team-id': 'x' }) }),
  route(13, 'PATCH', '/teams/:team_id', {
    note: 'organization-access',
    body: () => body('teams', { 'organization-access': { 'manage-organization-access': true } }),
  }),
  route(12, 'DELETE', '/teams/:team_id'),
  route(14, 'POST', '/teams/:team_id/relationships/users', { body: id('users') }),
  route(14, 'DELETE', '/teams/:team_id/relationships/users', { body: id('users') }),
  route(11, 'GET', '/teams/:team_id/relationships/organization-memberships'),
  route(14, 'POST', '/teams/:team_id/relationships/organization-memberships', {
    body: id('organization-memberships'),
  }),
  route(14, 'DELETE', '/teams/:team_id/relationships/organization-memberships', {
    body: id('organization-memberships'),
  }),
  route(1, 'GET', '/account/details'),
  route(19, 'GET', '/users/:user_id'),
  route(18, 'GET', '/admin/users'),
  route(18, 'POST', '/admin/users', {
    body: () => body('users', { username: 'by-the-matrix', email: 'b@example.com' }),
  }),
  ...['suspend', 'unsuspend', 'grant_admin', 'revoke_admin'].map((action) =>
    route(18, 'POST', `/admin/users/:user_id/actions/${action}`),
  ),
  route(18, 'DELETE', '/admin/users/:user_id'),
  route(17, 'POST', '/users/:user_id/authentication-tokens', { body: token }),
  route(17, 'GET', '/users/:user_id/authentication-tokens'),
  route(20, 'GET', `${inOrganization}/projects`),
  route(PROJECT_CREATE, 'POST', `${inOrganization}/projects`, { body: named('projects') }),
  route(20, 'GET', '/projects/:project_id'),
  route(21, 'PATCH', '/projects/:project_id', { body: empty('projects') }),
  route(21, 'DELETE', '/projects/:project_id'),
  // A workspace that the caller may not manage is 422. Here, callers who may create workspaces may also manage it.
  route(23, 'POST', '/projects/:project_id/relationships/workspaces', { body: id('workspaces') }),
  route(20, 'GET', '/projects/:project_id/tag-bindings'),
  route(20, 'GET', '/projects/:project_id/relationships/tag-bindings'),
  route(20, 'GET', '/projects/:project_id/effective-tag-bindings'),
  route(21, 'PATCH', '/projects/:project_id/tag-bindings', { body: bindings }),
  route(21, 'POST', '/projects/:project_id/relationships/tag-bindings', { body: bindings }),
  route(21, 'PATCH', '/projects/:project_id/relationships/tag-bindings', { body: bindings }),
  ...['authentication-token', 'authentication-tokens'].flatMap((path) => [
    route(15, 'POST', `/teams/:team_id/${path}`, { body: token }),
    route(15, 'GET', `/teams/:team_id/${path}`),
  ]),
  route(15, 'DELETE', '/teams/:team_id/authentication-token'),
  // Callers who may read the organization may list. The list has only tokens that row 15 gives them, often none.
  route(4, 'GET', `${inOrganization}/team-tokens`),
  route(4, 'DELETE', `${inOrganization}/team-tokens`, { body: () => ({ data: [] }) }),
  route(5, 'GET', `${inOrganization}/token-ttl-policies`),
  route(5, 'PATCH', `${inOrganization}/token-ttl-policies`, {
    body: () =>
      body('organization-token-ttl-policies', {
        'token-ttl-policies': [{ 'token-type': 'team', 'max-ttl-ms': 86_400_000 }],
      }),
  }),
  route(16, 'POST', `${inOrganization}/authentication-token`, { body: token }),
  route(16, 'GET', `${inOrganization}/authentication-token`),
  route(16, 'DELETE', `${inOrganization}/authentication-token`),
  route(17, 'GET', '/authentication-tokens/:token_id'),
  route(17, 'DELETE', '/authentication-tokens/:token_id'),
  route(22, 'GET', `${inOrganization}/workspaces`),
  route(23, 'POST', `${inOrganization}/workspaces`, {
    body: ({ params: { projects } }) =>
      body(
        'workspaces',
        { name: 'by-the-matrix' },
        { project: { data: { type: 'projects', id: projects } } },
      ),
  }),
  ...['/workspaces/:workspace_id', workspaceByName].flatMap((path) => [
    route(22, 'GET', path),
    route(24, 'PATCH', path, { body: empty('workspaces') }),
    route(24, 'DELETE', path),
    route(24, 'POST', `${path}/actions/safe-delete`),
  ]),
  route(22, 'GET', '/workspaces/:workspace_id/tag-bindings'),
  route(22, 'GET', '/workspaces/:workspace_id/relationships/tag-bindings'),
  route(22, 'GET', '/workspaces/:workspace_id/effective-tag-bindings'),
  route(24, 'PATCH', '/workspaces/:workspace_id/tag-bindings', { body: bindings }),
  route(24, 'POST', '/workspaces/:workspace_id/relationships/tag-bindings', { body: bindings }),
  route(24, 'PATCH', '/workspaces/:workspace_id/relationships/tag-bindings', { body: bindings }),
  route(22, 'GET', '/workspaces/:workspace_id/relationships/remote-state-consumers'),
  ...['POST', 'PATCH', 'DELETE'].map((method) =>
    route(24, method, '/workspaces/:workspace_id/relationships/remote-state-consumers', {
      body: id('workspaces'),
    }),
  ),
  route(22, 'GET', `${inOrganization}/tags`),
  route(ALL_WORKSPACES, 'DELETE', `${inOrganization}/tags`, { body: id('tags') }),
  route(ALL_WORKSPACES, 'POST', '/tags/:tag_id/relationships/workspaces', { body: id('workspaces') }),
  route(22, 'GET', '/workspaces/:workspace_id/relationships/tags'),
  ...['POST', 'DELETE'].map((method) =>
    route(24, method, '/workspaces/:workspace_id/relationships/tags', {
      body: () => ({ data: [{ type: 'tags', attributes: { name: 'a' } }] }),
    }),
  ),
  route(25, 'POST', '/workspaces/:workspace_id/actions/lock'),
  route(25, 'POST', `${workspaceByName}/actions/lock`),
  route(25, 'POST', '/workspaces/:workspace_id/actions/unlock'),
  route(26, 'POST', '/workspaces/:workspace_id/actions/force-unlock'),
  // Callers who may read the workspace or project may list. The list has only teams that they may know.
  route(22, 'GET', '/team-workspaces', { query: filter('workspace') }),
  route(28, 'POST', '/team-workspaces', { body: grant('workspace') }),
  route(27, 'GET', '/team-workspaces/:team_workspace_id'),
  route(28, 'PATCH', '/team-workspaces/:team_workspace_id', { body: empty('team-workspaces') }),
  route(28, 'DELETE', '/team-workspaces/:team_workspace_id'),
  route(20, 'GET', '/team-projects', { query: filter('project') }),
  route(PROJECT_GRANT_MANAGE, 'POST', '/team-projects', { body: grant('project') }),
  route(PROJECT_GRANT_READ, 'GET', '/team-projects/:team_project_id'),
  route(PROJECT_GRANT_MANAGE, 'PATCH', '/team-projects/:team_project_id', { body: empty('team-projects') }),
  route(PROJECT_GRANT_MANAGE, 'DELETE', '/team-projects/:team_project_id'),
  route(34, 'GET', effectiveAccess, {
    query: ({ params: { user, team } }) => (user === undefined ? `?team=${team}` : `?user=${user}`),
  }),
  route(30, 'GET', '/state-versions', { query: stateFilter }),
  route(30, 'GET', '/state-versions/:state_version_id'),
  route(30, 'GET', '/workspaces/:workspace_id/current-state-version'),
  route(29, 'POST', '/workspaces/:workspace_id/state-versions', { body: stateVersion }),
  route(29, 'PATCH', '/workspaces/:workspace_id/state-versions', { body: rollback }),
  route(33, 'POST', `${contentActions}/soft_delete_backing_data`),
  route(33, 'POST', `${contentActions}/restore_backing_data`),
  route(33, 'POST', `${contentActions}/permanently_delete_backing_data`),
  route(30, 'GET', '/state-versions/:state_version_id/download'),
  route(30, 'GET', '/state-versions/:state_version_id/json-download'),
  route(31, 'GET', '/state-versions/:state_version_id/outputs'),
  route(31, 'GET', '/state-version-outputs/:state_version_output_id'),
  route(32, 'GET', '/workspaces/:workspace_id/current-state-version-outputs'),
  route(33, 'GET', `${inOrganization}/refusals`),
  route(18, 'GET', '/admin/refusals'),
  route(33, 'GET', `${inOrganization}/audit-events`),
  route(135, 'GET', '/organization/audit-trail'), // Not in the table of docs/decisions.md: added later.
]
