import { list } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { sitePlace } from '../http/site-place.ts'
import { listDocument } from '../jsonapi/document.ts'
import { text } from '../jsonapi/parameters.ts'
import { organizationUsage } from './organization-usage-document.ts'
import { listOrganizationUsages } from './organization-usage-store.ts'

export const organizationUsageRoutes: readonly Route[] = [
  list(sitePlace, '/admin/organizations', {
    permission: 'organizations:administer',
    summary: 'List how much each organization of the site takes, the largest first',
    query: { q: text('Part of the name or email, ignoring case') },
    answers: 'organization-usages',
    document: async ({ tx, query, page, paging, willLookAt }) => {
      // All are sorted by their bytes: a slow read.
      await willLookAt(() => Infinity)
      const { usages, total } = await listOrganizationUsages(tx, query.q, page)
      return listDocument(usages.map(organizationUsage.fragment), paging(total))
    },
  }),
]
