import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import type { AccessQuestion } from './access/access-grants-query.ts'
import type { AuditFilter } from './audit/audit-page.tsx'
import { isStatus } from './api/errors.ts'
import { accountQuery } from './api/session.ts'
import { Failed, Loading } from './kit/states.tsx'
import { loginSearch } from './login/parameters.ts'
import { organizationsQuery } from './organizations/organizations-query.ts'
import { Shell } from './shell.tsx'
import { SignInPage } from './sign-in/sign-in-page.tsx'

type Comparison = { version?: string | undefined; since?: string | undefined; page?: number }
type AuditSearch = AuditFilter & { page?: number }
type Question = AccessQuestion & { page?: number }

type Context = { readonly queries: QueryClient }

const root = createRootRouteWithContext<Context>()({})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/~/sign-in',
  // Only a path of our own: another address would send people somewhere else.
  validateSearch: ({ next }: { next?: unknown }): { next?: string } =>
    typeof next === 'string' && /^\/[^/\\]/.test(next) ? { next } : {},
  component: SignInPage,
})

const welcome = createRoute({
  getParentRoute: () => root,
  path: '/~/welcome',
  component: lazyRouteComponent(() => import('./sign-in/welcome-page.tsx'), 'WelcomePage'),
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
  loader: ({ context }) => context.queries.ensureQueryData(organizationsQuery),
  component: lazyRouteComponent(() => import('./organizations/organizations-page.tsx'), 'OrganizationsPage'),
})

/** A search text and a page in the address; neither if they are as at the beginning. */
const searched = ({ q, page }: { q?: unknown; page?: unknown }): { q?: string; page?: number } => ({
  ...(typeof q === 'string' && q !== '' ? { q } : {}),
  ...(typeof page === 'number' && page > 1 ? { page } : {}),
})

const teams = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/settings/teams',
  validateSearch: searched,
  component: lazyRouteComponent(() => import('./teams/teams-page.tsx'), 'TeamsPage'),
})

const account = createRoute({
  getParentRoute: () => shell,
  path: '/~/account',
  component: lazyRouteComponent(() => import('./account/account-page.tsx'), 'AccountPage'),
})

const login = createRoute({
  getParentRoute: () => shell,
  path: '/~/login',
  validateSearch: loginSearch,
  component: lazyRouteComponent(() => import('./login/login-page.tsx'), 'LoginPage'),
})

/** The clients open this address with source=terraform-login. */
const ownTokens = createRoute({
  getParentRoute: () => shell,
  path: '/settings/tokens',
  validateSearch: ({ source }: Record<string, unknown>): { source?: string } => named({ source }),
  component: lazyRouteComponent(() => import('./account/tokens-page.tsx'), 'OwnTokensPage'),
})

const team = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/settings/teams/$team',
  component: lazyRouteComponent(() => import('./teams/team-page.tsx'), 'TeamPage'),
})

const teamMembers = createRoute({
  getParentRoute: () => team,
  path: '/',
  component: lazyRouteComponent(() => import('./teams/team-members-page.tsx'), 'TeamMembersPage'),
})

const teamPermissions = createRoute({
  getParentRoute: () => team,
  path: '/permissions',
  component: lazyRouteComponent(() => import('./teams/team-permissions-page.tsx'), 'TeamPermissionsPage'),
})

const teamAccess = createRoute({
  getParentRoute: () => team,
  path: '/access',
  component: lazyRouteComponent(() => import('./teams/team-access-page.tsx'), 'TeamAccessPage'),
})

const teamTokens = createRoute({
  getParentRoute: () => team,
  path: '/tokens',
  component: lazyRouteComponent(() => import('./teams/team-tokens-page.tsx'), 'TeamTokensPage'),
})

const teamSettings = createRoute({
  getParentRoute: () => team,
  path: '/settings',
  component: lazyRouteComponent(() => import('./teams/team-settings-page.tsx'), 'TeamSettingsPage'),
})

const workspaces = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/workspaces',
  validateSearch: searched,
  component: lazyRouteComponent(() => import('./workspaces/workspaces-page.tsx'), 'WorkspacesPage'),
})

const workspace = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/workspaces/$workspace',
  validateSearch: searched,
  component: lazyRouteComponent(() => import('./workspaces/workspace-page.tsx'), 'WorkspacePage'),
})

const workspaceOutputs = createRoute({
  getParentRoute: () => workspace,
  path: '/',
  component: lazyRouteComponent(() => import('./workspaces/workspace-page.tsx'), 'WorkspaceOutputsPage'),
})

/** The texts among the parameters of an address. */
function named<Name extends string>(given: Record<Name, unknown>): { [N in Name]?: string } {
  const texts: { [N in Name]?: string } = {}
  for (const name in given) {
    const value = given[name]
    if (typeof value === 'string' && value !== '') texts[name] = value
  }
  return texts
}

const states = createRoute({
  getParentRoute: () => workspace,
  path: '/states',
  validateSearch: ({ version, since, page }: Record<string, unknown>): Comparison => ({
    ...named({ version, since }),
    ...searched({ page }),
  }),
  component: lazyRouteComponent(
    () => import('./state-versions/state-versions-page.tsx'),
    'StateVersionsPage',
  ),
})

const workspaceAccess = createRoute({
  getParentRoute: () => workspace,
  path: '/access',
  component: lazyRouteComponent(() => import('./access/workspace-access-page.tsx'), 'WorkspaceAccessPage'),
})

const people = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/people',
  validateSearch: searched,
  component: lazyRouteComponent(() => import('./people/people-page.tsx'), 'PeoplePage'),
})

const audit = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/audit',
  validateSearch: ({ actor, action, resource, request, page }: Record<string, unknown>): AuditSearch => ({
    ...named({ actor, action, resource, request }),
    ...searched({ page }),
  }),
  component: lazyRouteComponent(() => import('./audit/audit-page.tsx'), 'AuditPage'),
})

const access = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/access',
  validateSearch: ({ user, team, workspace: place, project, page }: Record<string, unknown>): Question => ({
    ...named({ user, team, workspace: place, project }),
    ...searched({ page }),
  }),
  component: lazyRouteComponent(() => import('./access/access-page.tsx'), 'AccessPage'),
})

const refusals = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/refusals',
  validateSearch: searched,
  component: lazyRouteComponent(() => import('./refusals/refusals-page.tsx'), 'RefusalsPage'),
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
        access,
        audit,
        refusals,
        workspaces,
        workspace.addChildren([workspaceOutputs, states, workspaceAccess]),
      ]),
    ]),
    basepath: '/app',
    context: { queries },
    defaultPendingComponent: Loading,
    defaultErrorComponent: ({ error, reset }) => <Failed error={error} onRetry={reset} />,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPages>
  }
}
