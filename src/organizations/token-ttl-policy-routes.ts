import { ttlKinds } from '../access/token-policy.ts'
import { existing } from '../core/existing.ts'
import type { Call } from '../http/call.ts'
import { done } from '../http/outcome.ts'
import { list } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { listDocument, type Fragment } from '../jsonapi/document.ts'
import { pagingOf, type Page, type Paging } from '../jsonapi/paging.ts'
import { organizationPlace } from './organization-place.ts'
import { updateOrganization } from './organization-store.ts'
import { parseTtlPolicies, ttlPolicyBody, ttlPolicyFragments } from './token-ttl-policies.ts'

function pageOf(all: readonly Fragment[], page: Page, paging: (total: number) => Paging): string {
  const from = (page.number - 1) * page.size
  return listDocument(all.slice(from, from + page.size), paging(all.length))
}

/** The answer to a change is a page of the list, so a wrong page is refused before the change. */
const pagedPlace = {
  ...organizationPlace,
  address: (call: Call) => {
    call.query.page()
    return organizationPlace.address(call)
  },
}

export const tokenTtlPolicyRoutes: readonly Route[] = [
  list(organizationPlace, '/token-ttl-policies', {
    permission: 'organization:manage',
    summary: 'List how long the tokens of an organization may live (while max-ttl-enabled is true)',
    answers: 'organization-token-ttl-policies',
    document: ({ resource, page, paging }) => pageOf(ttlPolicyFragments(resource.organization), page, paging),
  }),

  write(pagedPlace, '/token-ttl-policies', {
    method: 'PATCH',
    status: 200,
    permission: 'organization:manage',
    summary: 'Set how long the tokens of an organization may live',
    answers: 'organization-token-ttl-policies',
    isList: true,
    accepts: ttlPolicyBody,
    body: parseTtlPolicies,
    act: async ({ tx, resource: { organization }, body, now }) => {
      const changes = Object.fromEntries(ttlKinds.map((kind) => [`max_ttl_${kind}_ms`, body[kind]]))
      const updated = await updateOrganization(tx, organization.id, { ...changes, updated_at: now })
      return done(existing(updated), {
        action: 'organization.update-token-ttl-policies',
        resourceType: 'organizations',
        details: { name: organization.name, 'max-ttl-ms': body },
      })
    },
    document: ({ call, result }) => {
      const page = call.query.page()
      return pageOf(ttlPolicyFragments(result), page, (total) => pagingOf(call.path, [], page, total))
    },
  }),
]
