import { existing } from '../core/existing.ts'
import { isPermitted } from '../access/decide.ts'
import { timestamp } from '../core/clock.ts'
import { created, noContent, ok, type Call } from '../http/call.ts'
import { readRoute, writeRoute, type Route, type Viewer } from '../http/route.ts'
import { readResource, refuse } from '../jsonapi/body.ts'
import { document, listDocument, type Fragment } from '../jsonapi/document.ts'
import { pagingOf, pagingOfWhole } from '../jsonapi/paging.ts'
import { projectFragment } from '../projects/project-document.ts'
import { loadProject } from '../projects/projects.ts'
import {
  makeOrganization,
  NAME_IS_TAKEN,
  readNewOrganization,
  refuseOrganization,
} from './new-organization.ts'
import { echoedOf, newOrganizationBody, organizationBody, rulingColumns } from './organization-attributes.ts'
import { markDeleted } from './organization-deletion-store.ts'
import { entitlementSetFragment, organizationFragment } from './organization-document.ts'
import { loadOrganization, organizationOfPath } from './organization-of-path.ts'
import { listOrganizations } from './organization-list-store.ts'
import {
  bumpVersion,
  findOrganization,
  updateOrganization,
  type OrganizationRow,
} from './organization-store.ts'
import { includes } from '../jsonapi/parameters.ts'

/** The page size when the request asks for no page: clients expect all organizations of the caller. */
const MAX_UNPAGED = 1_000

const organizationAddress = (call: Call) => {
  const name = organizationOfPath(call)
  return name === undefined ? undefined : { name }
}

const create = writeRoute({
  method: 'POST',
  path: '/organizations',
  permission: 'organization:create',
  summary: 'Create an organization',
  answers: 'organizations',
  status: 201,
  accepts: newOrganizationBody,
  address: () => ({}),
  load: async () => ({ target: {} }),
  body: readNewOrganization,
  act: async ({ tx, deps, actor, body, audit }) => {
    const made = await makeOrganization(tx, deps, actor.userId as string, body)
    audit(made.event)
    const organization = existing(await findOrganization(tx, made.id))
    const standing = await deps.standings.in(tx, actor, organization)
    return created(document(organizationFragment(organization, { actor, standing }, deps.config)))
  },
})

const filters = ['q', 'q[email]', 'q[name]'] as const

const list = readRoute({
  path: '/organizations',
  permission: 'organizations:list',
  summary: 'List organizations',
  query: {
    q: 'Part of the name or of the email, without case',
    'q[email]': 'Part of the email, without case',
    'q[name]': 'Part of the name, without case',
  },
  answers: 'organizations',
  isList: true,
  address: ({ query }) => {
    const isPaged = query.has('page[number]') || query.has('page[size]')
    const filter = { q: query.text('q'), email: query.text('q[email]'), name: query.text('q[name]') }
    return { page: isPaged ? query.page() : undefined, filter, links: query.withoutPage(filters) }
  },
  load: async () => ({ target: { isCallers: true } }),
  document: async ({ tx, deps, actor, address, call }) => {
    const { page, filter, links } = address
    const { organizations, total } = await listOrganizations(
      tx,
      actor,
      filter,
      page ?? { number: 1, size: MAX_UNPAGED },
      deps.clock.now(),
    )
    const fragments: Fragment[] = []
    for (const organization of organizations) {
      const standing = await deps.standings.in(tx, actor, organization)
      fragments.push(organizationFragment(organization, { actor, standing }, deps.config))
    }
    const paging =
      page === undefined
        ? pagingOfWhole(call.path, links, organizations.length, total)
        : pagingOf(call.path, links, page, total)
    return ok(listDocument(fragments, paging))
  },
})

/** Clients of the platform ask for the subscription. This server has none, so nothing is included for it. */
const includable = ['default-project', 'default_project', 'subscription'] as const

const show = readRoute({
  path: '/organizations/:organization_name',
  permission: 'organization:read',
  summary: 'Show an organization',
  query: { include: includes(...includable) },
  answers: 'organizations',
  address: (call) => {
    const include = call.query.include(includable)
    const address = organizationAddress(call)
    return address === undefined ? undefined : { ...address, include }
  },
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  document: async (context) => {
    const { organization } = context.resource
    const { include } = context.address
    const withProject = include.has('default-project') || include.has('default_project')
    const included = withProject ? await defaultProjectOf(context, organization) : []
    const text = organizationFragment(organization, context, context.deps.config)
    return ok(document(text, include.size === 0 ? undefined : included))
  },
})

/** Empty if the caller may not read the project. */
async function defaultProjectOf(viewer: Viewer, organization: OrganizationRow): Promise<Fragment[]> {
  const loaded = await loadProject(viewer, organization.default_project_id)
  if (loaded === undefined) return []
  if (!isPermitted('project:read', viewer.actor, viewer.standing, loaded.target)) return []
  return [await projectFragment(viewer, organization, loaded.project)]
}

/** The platform offers both methods with one meaning: attributes that the request leaves out keep their value. */
const changes = (['PATCH', 'PUT'] as const).map((method) =>
  writeRoute({
    method,
    path: '/organizations/:organization_name',
    permission: 'organization:manage',
    summary: 'Update an organization',
    answers: 'organizations',
    status: 200,
    accepts: organizationBody,
    address: organizationAddress,
    load: ({ tx, address }) => loadOrganization(tx, address.name),
    body: (bytes, { name }) => readResource(bytes, organizationBody, name),
    act: async (context) => {
      const { tx, deps, actor, standing, resource, body, audit } = context
      const { organization } = resource
      const { attributes, problems } = body
      await refuseOrganization(tx, attributes.name, problems, organization.id)
      const settings = { ...(JSON.parse(organization.settings) as object), ...echoedOf(attributes) }
      const isNew = await updateOrganization(tx, organization.id, {
        name: attributes.name ?? organization.name,
        email: attributes.email ?? organization.email,
        ...rulingColumns(attributes),
        settings: JSON.stringify(settings),
        updated_at: timestamp(deps.clock.now()),
      })
      if (!isNew) refuse([NAME_IS_TAKEN])
      // Cached pages of teams contain the organization's name in their links.
      await bumpVersion(tx, organization.id)
      audit({
        action: 'organization.update',
        organizationId: organization.id,
        resourceType: 'organizations',
        resourceId: organization.id,
        details: { name: organization.name, changes: attributes },
      })
      const updated = existing(await findOrganization(tx, organization.id))
      return ok(document(organizationFragment(updated, { actor, standing }, deps.config)))
    },
  }),
)

const remove = writeRoute({
  method: 'DELETE',
  path: '/organizations/:organization_name',
  permission: 'organization:manage',
  summary: 'Delete an organization with everything in it',
  status: 204,
  address: organizationAddress,
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  act: async ({ tx, deps, resource, audit }) => {
    const { id, name } = resource.organization
    await markDeleted(tx, id, timestamp(deps.clock.now()))
    audit({
      action: 'organization.delete',
      organizationId: id,
      resourceType: 'organizations',
      resourceId: id,
      details: { name },
    })
    return noContent
  },
})

const showEntitlementSet = readRoute({
  path: '/organizations/:organization_name/entitlement-set',
  permission: 'organization:read',
  summary: "Show an organization's entitlement set",
  answers: 'entitlement-sets',
  address: organizationAddress,
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  document: async ({ resource }) => ok(document(entitlementSetFragment(resource.organization))),
})

export const organizationRoutes: readonly Route[] = [
  list,
  create,
  show,
  ...changes,
  remove,
  showEntitlementSet,
]
