import { existing } from '../core/existing.ts'
import { ttlKinds } from '../access/token-policy.ts'
import { timestamp } from '../core/clock.ts'
import { ok, type Answer, type Call } from '../http/call.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { pagingOf, type Page } from '../jsonapi/paging.ts'
import { loadOrganization, organizationOfPath } from './organization-of-path.ts'
import {
  bumpVersion,
  findOrganization,
  updateOrganization,
  type OrganizationRow,
} from './organization-store.ts'
import { parseTtlPolicies, ttlPolicyBody, ttlPolicyFragments } from './token-ttl-policies.ts'

const PATH = '/organizations/:organization_name/token-ttl-policies'

const address = (call: Call) => {
  const page = call.query.page()
  const name = organizationOfPath(call)
  return name === undefined ? undefined : { name, page }
}

function answer(organization: OrganizationRow, { path }: Call, page: Page): Answer {
  const all = ttlPolicyFragments(organization)
  const from = (page.number - 1) * page.size
  return ok(listDocument(all.slice(from, from + page.size), pagingOf(path, [], page, all.length)))
}

const list = readRoute({
  path: PATH,
  permission: 'organization:manage',
  summary: 'List how long the tokens of an organization may live (while max-ttl-enabled is true)',
  answers: 'organization-token-ttl-policies',
  isList: true,
  address,
  load: ({ tx, address: { name } }) => loadOrganization(tx, name),
  document: async ({ resource, call, address: { page } }) => answer(resource.organization, call, page),
})

const change = writeRoute({
  method: 'PATCH',
  path: PATH,
  permission: 'organization:manage',
  summary: 'Say how long the tokens of an organization may live',
  answers: 'organization-token-ttl-policies',
  isList: true,
  status: 200,
  accepts: ttlPolicyBody,
  address,
  load: ({ tx, address: { name } }) => loadOrganization(tx, name),
  body: parseTtlPolicies,
  act: async ({ tx, deps, resource, body, audit, call, address: { page } }) => {
    const { organization } = resource
    await updateOrganization(tx, organization.id, {
      ...Object.fromEntries(ttlKinds.map((kind) => [`max_ttl_${kind}_ms`, body[kind]])),
      updated_at: timestamp(deps.clock.now()),
    })
    await bumpVersion(tx, organization.id)
    audit({
      action: 'organization.update-token-ttl-policies',
      organizationId: organization.id,
      resourceType: 'organizations',
      resourceId: organization.id,
      details: { name: organization.name, 'max-ttl-ms': body },
    })
    const updated = existing(await findOrganization(tx, organization.id))
    return answer(updated, call, page)
  },
})

export const tokenTtlPolicyRoutes: readonly Route[] = [list, change]
