import { existing } from '../core/existing.ts'
import { parseStored } from '../core/stored-json.ts'
import { isPermitted } from '../access/decide.ts'
import { reachOf } from '../access/granted-places-store.ts'
import { invalidBy } from '../core/errors.ts'
import { done, doneAll } from '../http/outcome.ts'
import { read } from '../http/read-route.ts'
import type { Loaded, Loading, Route, Viewer } from '../http/route.ts'
import { sitePlace } from '../http/site-place.ts'
import { write } from '../http/write-route.ts'
import { readResource } from '../jsonapi/body.ts'
import { document, listDocument, type Fragment } from '../jsonapi/document.ts'
import { pagingOf, pagingOfWhole, type Page } from '../jsonapi/paging.ts'
import { includes, linkParameters, text } from '../jsonapi/parameters.ts'
import type { Query } from '../jsonapi/query.ts'
import {
  addProblemsOfNewOrganization,
  createRequestedOrganization,
  readNewOrganization,
} from '../organization-founding/new-organization.ts'
import { projectFragment } from '../projects/project-document.ts'
import { loadProject } from '../projects/project-place.ts'
import { ownAccountPlace } from '../users/user-place.ts'
import { countWorkspaces } from '../workspaces/workspace-list-store.ts'
import {
  echoedOf,
  NAME_IS_TAKEN,
  newOrganizationBody,
  organizationBody,
  rulingColumns,
} from './organization-attributes.ts'
import { entitlementSetFragment, organizationFragment } from './organization-document.ts'
import { listOrganizations } from './organization-list-store.ts'
import { addProblemOfName } from './organization-names.ts'
import { organizationPlace } from './organization-place.ts'
import { markDeleted, updateOrganization, type OrganizationRow } from './organization-store.ts'

/** The page size when the request asks for no page: clients expect all organizations of the caller. */
const MAX_UNPAGED = 1_000

const filters = {
  q: text('Part of the name or of the email, ignoring case'),
  'q[email]': text('Part of the email, ignoring case'),
  'q[name]': text('Part of the name, ignoring case'),
}

/** Undefined if the request asks for no page. */
function pageOf(query: Query): Page | undefined {
  return query.has('page[number]') || query.has('page[size]') ? query.page() : undefined
}

const listPlace = {
  ...ownAccountPlace,
  address: ({ query }: { query: Query }) => ({ page: pageOf(query) }),
}

/** Where new organizations go. PURSER_ORGANIZATION_CREATORS says who may make them. */
const newOrganizationPlace = {
  ...sitePlace,
  load: async ({ deps }: Loading<unknown>): Promise<Loaded> =>
    deps.config.organizationCreators === 'everybody'
      ? { target: {} }
      : { target: {}, permission: 'organizations:administer' },
}

/** Empty if the caller may not read the project. */
async function defaultProjectOf(viewer: Viewer, organization: OrganizationRow): Promise<Fragment[]> {
  const loaded = await loadProject(viewer, organization.default_project_id)
  if (loaded === undefined) return []
  if (!isPermitted('project:read', viewer.actor, viewer.standing, loaded.target)) return []
  return [await projectFragment(viewer, organization, loaded.project)]
}

/** The platform offers both methods with one meaning: attributes that the request leaves out keep their value. */
function changingRoute(method: 'PATCH' | 'PUT'): Route {
  return write(organizationPlace, '', {
    method,
    status: 200,
    permission: 'organization:manage',
    summary: 'Update an organization',
    answers: 'organizations',
    accepts: organizationBody,
    body: (bytes, { address }) => readResource(bytes, organizationBody, address?.name),
    problems: ({ tx, resource, body, problems }) =>
      addProblemOfName(tx, problems, body.attributes.name, resource.organization),
    act: async ({ tx, resource: { organization }, body: { attributes }, now }) => {
      const settings = { ...parseStored<object>(organization.settings), ...echoedOf(attributes) }
      const updated = await updateOrganization(tx, organization.id, {
        name: attributes.name ?? organization.name,
        email: attributes.email ?? organization.email,
        ...rulingColumns(attributes),
        settings: JSON.stringify(settings),
        updated_at: now,
      })
      if (updated === undefined) throw invalidBy(NAME_IS_TAKEN)
      const details = { name: organization.name, changes: attributes }
      return done(updated, { action: 'organization.update', details })
    },
    document: (context) => document(organizationFragment(context.result, context, context.deps.config)),
  })
}

export const organizationRoutes: readonly Route[] = [
  read(listPlace, '/organizations', {
    permission: 'organizations:list',
    summary: 'List organizations',
    query: filters,
    answers: 'organizations',
    isList: true,
    document: async ({ tx, deps, actor, address: { page }, query, call, willLookAt }) => {
      // Administrators see all. No table has their number, so they are counted: a slow read.
      if (actor.isSiteAdmin) await willLookAt(() => Infinity)
      const filter = { q: query.q, email: query['q[email]'], name: query['q[name]'] }
      const asked = page ?? { number: 1, size: MAX_UNPAGED }
      const now = deps.clock.now()
      const { rows: organizations, total } = await listOrganizations(tx, actor, filter, asked, now)
      const fragments: Fragment[] = []
      for (const organization of organizations) {
        const standing = await deps.standings.in(tx, actor, organization)
        fragments.push(organizationFragment(organization, { actor, standing }, deps.config))
      }
      const links = linkParameters(call.query, filters)
      const paging =
        page === undefined
          ? pagingOfWhole(call.path, links, organizations.length, total)
          : pagingOf(call.path, links, page, total)
      return listDocument(fragments, paging)
    },
  }),

  write(newOrganizationPlace, '/organizations', {
    method: 'POST',
    status: 201,
    permission: 'organization:create',
    summary: 'Create an organization',
    answers: 'organizations',
    accepts: newOrganizationBody,
    body: readNewOrganization,
    problems: ({ tx, deps, actor, body, problems }) =>
      addProblemsOfNewOrganization(tx, deps.config, existing(actor.userId), body, problems),
    act: async ({ tx, deps, actor, body }) => {
      const ownerId = existing(actor.userId)
      const { organization, event } = await createRequestedOrganization(tx, deps, ownerId, body)
      return doneAll(organization, [event])
    },
    document: async ({ tx, deps, actor, result }) => {
      const standing = await deps.standings.in(tx, actor, result)
      return document(organizationFragment(result, { actor, standing }, deps.config))
    },
  }),

  read(organizationPlace, '', {
    permission: 'organization:read',
    summary: 'Show an organization',
    // Clients of the platform ask for the subscription. This server has none, so nothing is included for it.
    query: { include: includes('default-project', 'default_project', 'subscription') },
    answers: 'organizations',
    document: async (context) => {
      const { organization } = context.resource
      const { include } = context.query
      const withProject = include.has('default-project') || include.has('default_project')
      if (withProject && reachOf('workspace:read', context) !== 'everything') {
        await context.willLookAt(() => countWorkspaces(context.tx, organization.id))
      }
      const included = withProject ? await defaultProjectOf(context, organization) : []
      const fragment = organizationFragment(organization, context, context.deps.config)
      return document(fragment, include.size === 0 ? undefined : included)
    },
  }),

  changingRoute('PATCH'),
  changingRoute('PUT'),

  write(organizationPlace, '', {
    method: 'DELETE',
    status: 204,
    permission: 'organization:manage',
    summary: 'Delete an organization with everything in it',
    // markDeleted raises the version, too.
    keepsAccess: true,
    act: async ({ tx, resource: { organization }, now }) => {
      await markDeleted(tx, organization.id, now)
      return done(organization, { action: 'organization.delete', details: { name: organization.name } })
    },
  }),

  read(organizationPlace, '/entitlement-set', {
    permission: 'organization:read',
    summary: "Show an organization's entitlement set",
    answers: 'entitlement-sets',
    document: ({ resource }) => document(entitlementSetFragment(resource.organization)),
  }),
]
