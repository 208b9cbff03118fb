import { isPermitted } from '../access/decide.ts'
import { existing } from '../core/existing.ts'
import { rowsBefore } from '../database/window.ts'
import { cachedPage } from '../http/cached-page.ts'
import { list } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { listDocument, type Fragment } from '../jsonapi/document.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { includes } from '../jsonapi/parameters.ts'
import { organizationFragment } from '../organizations/organization-document.ts'
import { organizationPlace } from '../organizations/organization-place.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { ownAccountPlace } from '../users/user-place.ts'
import { includedWithMemberships, membershipFragments } from './membership-includes.ts'
import { membershipFilter } from './membership-filter.ts'
import { listMemberships, listMembershipsOfCaller } from './membership-list-store.ts'
import { countMemberships } from './membership-store.ts'

export const membershipListRoutes: readonly Route[] = [
  list(organizationPlace, '/organization-memberships', {
    permission: 'memberships:list',
    summary: 'List the memberships of an organization',
    query: { ...membershipFilter, include: includes('user', 'teams') },
    answers: 'organization-memberships',
    isPolled: true,
    document: (reader) => {
      const { tx, resource, query, page, links, paging } = reader
      const { organization } = resource
      const name = links.length === 0 ? 'memberships' : undefined
      return cachedPage(reader, organization, name, page, async () => {
        const context = { ...reader, later: new LaterParts() }
        const filter = { q: query.q, emailKeys: query['filter[email]'], status: query['filter[status]'] }
        await context.willLookAt(async () => {
          const count = await countMemberships(tx, organization.id)
          return links.length === 0 ? rowsBefore(page, count) : count
        })
        const { memberships, total } = await listMemberships(tx, organization.id, filter, page)
        const fragments = await membershipFragments(context, memberships)
        const included = await includedWithMemberships(context, memberships, query.include)
        return context.later.bodyOf(listDocument(fragments, paging(total), included))
      })
    },
  }),

  list(ownAccountPlace, '/organization-memberships', {
    permission: 'account:read',
    summary: "List one's own memberships",
    query: { include: includes('user', 'teams', 'organization') },
    answers: 'organization-memberships',
    document: async (context) => {
      const { tx, deps, actor, query, page, paging, reveal } = context
      const { include } = query
      const later = new LaterParts()
      // A team token may not read its service account's membership. An organization token has no membership.
      const { memberships, total } =
        actor.kind === 'user'
          ? await listMembershipsOfCaller(tx, actor, page, deps.clock.now())
          : { memberships: [], total: 0 }
      const fragments: Fragment[] = []
      const included = new Set<Fragment>()
      for (const membership of memberships) {
        const organization = existing(await findOrganization(tx, membership.organization_id))
        const standing = await deps.standings.in(tx, actor, organization)
        const viewer = { tx, deps, actor, standing, later, reveal }
        fragments.push(...(await membershipFragments(viewer, [membership])))
        const parts = await includedWithMemberships(viewer, [membership], include)
        for (const part of parts ?? []) included.add(part)
        const isReadable = isPermitted('organization:read', actor, viewer.standing, {})
        if (include.has('organization') && isReadable) {
          included.add(organizationFragment(organization, viewer, deps.config))
        }
      }
      const all = include.size === 0 ? undefined : [...included]
      return later.bodyOf(listDocument(fragments, paging(total), all))
    },
  }),
]
