import { timestamp } from '../core/clock.ts'
import { invalid } from '../core/errors.ts'
import { created, ok, type Call } from '../http/call.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { parseResource } from '../jsonapi/body.ts'
import { document } from '../jsonapi/document.ts'
import { lockUser } from '../users/user-store.ts'
import { echoedOf, newOrganizationBody } from './organization-attributes.ts'
import { entitlementSetFragment, organizationFragment } from './organization-document.ts'
import { loadOrganization, organizationOfPath } from './organization-of-path.ts'
import { countOrganizationsOf, findOrganization, type OrganizationRow } from './organization-store.ts'
import { createOrganization } from './organizations.ts'

const NAME_IS_TAKEN = 'name is that of another organization'

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
  body: (bytes) => parseResource(bytes, newOrganizationBody).attributes,
  act: async ({ tx, deps, actor, body, audit }) => {
    const ownerId = actor.userId as string
    await lockUser(tx, ownerId)
    const { maxOrganizations } = deps.config
    if ((await countOrganizationsOf(tx, ownerId)) >= maxOrganizations) {
      throw invalid(
        `whoever is in ${maxOrganizations} organizations cannot make another (PURSER_MAX_ORGANIZATIONS)`,
        '/data',
      )
    }
    const made = await createOrganization(tx, deps.newId, {
      name: body.name as string,
      email: body.email as string,
      delegatedTeamManagement: body['delegated-team-management'] === true,
      settings: echoedOf(body),
      ownerId,
      at: timestamp(deps.clock.now()),
    })
    if (made === undefined) throw invalid(NAME_IS_TAKEN, '/data/attributes/name')
    audit({
      action: 'organization.create',
      organizationId: made.id,
      resourceType: 'organizations',
      resourceId: made.id,
      details: { name: body.name },
    })
    const organization = (await findOrganization(tx, made.id)) as OrganizationRow
    const standing = await deps.standings.in(tx, actor, organization)
    return created(document(organizationFragment(organization, { actor, standing }, deps.config)))
  },
})

const show = readRoute({
  path: '/organizations/:organization_name',
  permission: 'organization:read',
  summary: 'Show an organization',
  answers: 'organizations',
  address: organizationAddress,
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  document: async (context) => {
    const { organization } = context.resource
    return ok(document(organizationFragment(organization, context, context.deps.config)))
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

export const organizationRoutes: readonly Route[] = [create, show, showEntitlementSet]
