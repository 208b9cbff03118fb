import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import { isStatus } from './api/errors.ts'
import { accountQuery } from './api/session.ts'
import { Failed, Loading } from './kit/states.tsx'
import { organizationsQuery } from './organizations/organizations-query.ts'
import { Shell } from './shell.tsx'
import { SignInPage } from './sign-in/sign-in-page.tsx'

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

const teams = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/settings/teams',
  validateSearch: ({ q, page }: { q?: unknown; page?: unknown }): { q?: string; page?: number } => ({
    ...(typeof q === 'string' && q !== '' ? { q } : {}),
    ...(typeof page === 'number' && page > 1 ? { page } : {}),
  }),
  component: lazyRouteComponent(() => import('./teams/teams-page.tsx'), 'TeamsPage'),
})

const workspaces = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/workspaces',
  component: lazyRouteComponent(() => import('./workspaces/workspaces-page.tsx'), 'WorkspacesPage'),
})

const workspace = createRoute({
  getParentRoute: () => shell,
  path: '/$organization/workspaces/$workspace',
  component: lazyRouteComponent(() => import('./workspaces/workspace-page.tsx'), 'WorkspacePage'),
})

/** Every page. */
export function createPages(queries: QueryClient) {
  return createRouter({
    routeTree: root.addChildren([
      signIn,
      welcome,
      shell.addChildren([organizations, teams, workspaces, workspace]),
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
