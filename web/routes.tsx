import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, createRouter, redirect } from '@tanstack/react-router'
import { isStatus } from './api/errors.ts'
import { accountQuery } from './api/session.ts'
import { Failed, Loading } from './kit/states.tsx'
import { NoPage } from './no-page.tsx'
import { lazyPage, reload } from './lazy-page.ts'
import { organizationsQuery } from './organizations/organizations-query.ts'
import * as searches from './searches.ts'
import { Shell } from './shell.tsx'
import { SignInPage } from './sign-in/sign-in-page.tsx'

type Context = { readonly queries: QueryClient }

const root = createRootRouteWithContext<Context>()({})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/~/sign-in',
  validateSearch: searches.goingOn,
  component: SignInPage,
})

const welcome = createRoute({
  getParentRoute: () => root,
  path: '/~/welcome',
  validateSearch: searches.invitation,
  component: lazyPage(() => import('./sign-in/welcome-page.tsx'), 'WelcomePage'),
})

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queries.ensureQueryData(accountQuery)
    } catch (error) {
      if (!isStatus(error, 401)) throw error
      throw redirect({ to: '/~/sign-in', search: { next: location.href } })
    }
  },
})

const organizations = createRoute({
  getParentRoute: () => shell,
  path: '/',
  validateSearch: searches.home,
  loader: ({ context }) => context.queries.ensureQueryData(organizationsQuery(1)),
  component: lazyPage(() => import('./organizations/organizations-page.tsx'), 'OrganizationsPage'),
})

const teams = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/settings/teams',
  validateSearch: searches.searched,
  component: lazyPage(() => import('./teams/teams-page.tsx'), 'TeamsPage'),
})

const account = createRoute({
  getParentRoute: () => shell,
  path: '/~/account',
  component: lazyPage(() => import('./account/account-page.tsx'), 'AccountPage'),
})

const login = createRoute({
  getParentRoute: () => shell,
  path: '/~/login',
  validateSearch: searches.loginSearch,
  component: lazyPage(() => import('./login/login-page.tsx'), 'LoginPage'),
})

const ownTokens = createRoute({
  getParentRoute: () => shell,
  path: '/settings/tokens',
  validateSearch: searches.tokenSource,
  component: lazyPage(() => import('./account/tokens-page.tsx'), 'OwnTokensPage'),
})

const team = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/settings/teams/$team',
  component: lazyPage(() => import('./teams/team-page.tsx'), 'TeamPage'),
})

const teamMembers = createRoute({
  getParentRoute: () => team,
  path: '/',
  component: lazyPage(() => import('./teams/team-members-page.tsx'), 'TeamMembersPage'),
})

const teamPermissions = createRoute({
  getParentRoute: () => team,
  path: '/permissions',
  component: lazyPage(() => import('./teams/team-permissions-page.tsx'), 'TeamPermissionsPage'),
})

const teamAccess = createRoute({
  getParentRoute: () => team,
  path: '/access',
  component: lazyPage(() => import('./teams/team-access-page.tsx'), 'TeamAccessPage'),
})

const teamTokens = createRoute({
  getParentRoute: () => team,
  path: '/tokens',
  component: lazyPage(() => import('./teams/team-tokens-page.tsx'), 'TeamTokensPage'),
})

const teamSettings = createRoute({
  getParentRoute: () => team,
  path: '/settings',
  component: lazyPage(() => import('./teams/team-settings-page.tsx'), 'TeamSettingsPage'),
})

const workspaces = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/workspaces',
  validateSearch: searches.searched,
  component: lazyPage(() => import('./workspaces/workspaces-page.tsx'), 'WorkspacesPage'),
})

const workspace = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/workspaces/$workspace',
  validateSearch: searches.searched,
  component: lazyPage(() => import('./workspaces/workspace-page.tsx'), 'WorkspacePage'),
})

const workspaceOutputs = createRoute({
  getParentRoute: () => workspace,
  path: '/',
  component: lazyPage(() => import('./workspaces/workspace-page.tsx'), 'WorkspaceOutputsPage'),
})

const states = createRoute({
  getParentRoute: () => workspace,
  path: '/states',
  validateSearch: searches.comparison,
  component: lazyPage(() => import('./state-versions/state-versions-page.tsx'), 'StateVersionsPage'),
})

const workspaceAccess = createRoute({
  getParentRoute: () => workspace,
  path: '/access',
  validateSearch: searches.holders,
  component: lazyPage(() => import('./access/workspace-access-page.tsx'), 'WorkspaceAccessPage'),
})

const workspaceSettings = createRoute({
  getParentRoute: () => workspace,
  path: '/settings',
  component: lazyPage(() => import('./workspaces/workspace-settings-page.tsx'), 'WorkspaceSettingsPage'),
})

const projects = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/projects',
  validateSearch: searches.searched,
  component: lazyPage(() => import('./projects/projects-page.tsx'), 'ProjectsPage'),
})

const project = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/projects/$project',
  validateSearch: searches.searched,
  component: lazyPage(() => import('./projects/project-page.tsx'), 'ProjectPage'),
})

const projectWorkspaces = createRoute({
  getParentRoute: () => project,
  path: '/',
  component: lazyPage(() => import('./projects/project-page.tsx'), 'ProjectWorkspacesPage'),
})

const projectAccess = createRoute({
  getParentRoute: () => project,
  path: '/access',
  validateSearch: searches.holders,
  component: lazyPage(() => import('./projects/project-page.tsx'), 'ProjectAccessPage'),
})

const projectSettings = createRoute({
  getParentRoute: () => project,
  path: '/settings',
  component: lazyPage(() => import('./projects/project-settings-page.tsx'), 'ProjectSettingsPage'),
})

const organizationSettings = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/settings/general',
  component: lazyPage(
    () => import('./organizations/organization-settings-page.tsx'),
    'OrganizationSettingsPage',
  ),
})

const siteRefusals = createRoute({
  getParentRoute: () => shell,
  path: '/~/admin/refusals',
  validateSearch: searches.refusalSearch,
  component: lazyPage(() => import('./refusals/refusals-page.tsx'), 'SiteRefusalsPage'),
})

const siteOrganizations = createRoute({
  getParentRoute: () => shell,
  path: '/~/admin/organizations',
  validateSearch: searches.searched,
  component: lazyPage(() => import('./organizations/site-organizations-page.tsx'), 'SiteOrganizationsPage'),
})

const users = createRoute({
  getParentRoute: () => shell,
  path: '/~/admin/users',
  validateSearch: searches.searched,
  component: lazyPage(() => import('./users/users-page.tsx'), 'UsersPage'),
})

const people = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/people',
  validateSearch: searches.searched,
  component: lazyPage(() => import('./people/people-page.tsx'), 'PeoplePage'),
})

const person = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/people/$person',
  validateSearch: searches.onePage,
  component: lazyPage(() => import('./people/person-page.tsx'), 'PersonPage'),
})

const audit = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/audit',
  validateSearch: searches.auditSearch,
  component: lazyPage(() => import('./audit/audit-page.tsx'), 'AuditPage'),
})

const access = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/access',
  validateSearch: searches.question,
  component: lazyPage(() => import('./access/access-page.tsx'), 'AccessPage'),
})

const refusals = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/refusals',
  validateSearch: searches.refusalSearch,
  component: lazyPage(() => import('./refusals/refusals-page.tsx'), 'RefusalsPage'),
})

/** Every page. */
export function createPages(queries: QueryClient) {
  return createRouter({
    routeTree: root.addChildren([
      signIn,
      welcome,
      shell.addChildren([
        organizations,
        account,
        login,
        ownTokens,
        teams,
        team.addChildren([teamMembers, teamPermissions, teamAccess, teamTokens, teamSettings]),
        people,
        person,
        access,
        audit,
        refusals,
        workspaces,
        workspace.addChildren([workspaceOutputs, states, workspaceAccess, workspaceSettings]),
        projects,
        project.addChildren([projectWorkspaces, projectAccess, projectSettings]),
        organizationSettings,
        users,
        siteRefusals,
        siteOrganizations,
      ]),
    ]),
    basepath: '/app',
    context: { queries },
    defaultPendingComponent: Loading,
    defaultNotFoundComponent: NoPage,
    // Not inside another page, which would keep its heading and its name.
    notFoundMode: 'root',
    // What was read for a page, or a script that did not arrive, is asked for again only by a new document.
    defaultErrorComponent: ({ error }) => <Failed error={error} onRetry={() => void reload()} />,
  })
}
