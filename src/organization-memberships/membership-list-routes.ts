import { existing } from '../core/existing.ts'
import { ok } from '../http/call.ts'
import { keptPage } from '../http/kept-page.ts'
import { readRoute, type Route } from '../http/route.ts'
import { listDocument, type Fragment } from '../jsonapi/document.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { organizationFragment } from '../organizations/organization-document.ts'
import { loadOrganization, organizationOfPath } from '../organizations/organization-of-path.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { isPermitted } from '../access/decide.ts'
import { includedWithMemberships, membershipFragments } from './membership-document.ts'
import { membershipFilterOf } from './membership-filter.ts'
import { listMemberships, listMembershipsOfCaller } from './membership-list-store.ts'
import { choice, commaSeparated, includes } from '../jsonapi/parameters.ts'

const filters = ['q', 'filter[email]', 'filter[status]', 'include'] as const

const list = readRoute({
  path: '/organizations/:organization_name/organization-memberships',
  permission: 'memberships:list',
  summary: 'List the memberships of an organization',
  query: {
    q: "Part of the email, or of an active member's user name, without case",
    'filter[email]': commaSeparated('Whole emails, separated by commas'),
    'filter[status]': choice('Memberships with this status', 'active', 'invited'),
    include: includes('user', 'teams'),
  },
  answers: 'organization-memberships',
  isList: true,
  address: (call) => {
    const { query } = call
    const include = query.include(['user', 'teams'])
    const page = query.page()
    const filter = membershipFilterOf(query)
    const name = organizationOfPath(call)
    return name === undefined ? undefined : { name, include, page, filter, links: query.withoutPage(filters) }
  },
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  document: async (reader) => {
    const { tx, address, resource, call } = reader
    const context = { ...reader, later: new LaterParts() }
    const { page, filter, include, links } = address
    const { organization } = resource
    const name = links.length === 0 ? 'memberships' : undefined
    return keptPage(context, organization, name, page, async () => {
      const { memberships, total } = await listMemberships(tx, organization.id, filter, page)
      const fragments = await membershipFragments(tx, memberships, context)
      const included = await includedWithMemberships(context, memberships, include)
      return context.later.bodyOf(listDocument(fragments, pagingOf(call.path, links, page, total), included))
    })
  },
})

const listOwn = readRoute({
  path: '/organization-memberships',
  permission: 'account:read',
  summary: "List one's own memberships",
  query: { include: includes('user', 'teams', 'organization') },
  answers: 'organization-memberships',
  isList: true,
  address: ({ query }) => {
    const include = query.include(['user', 'teams', 'organization'])
    return { include, page: query.page(), links: query.withoutPage(['include']) }
  },
  load: async () => ({ target: { isCallers: true } }),
  document: async (context) => {
    const { tx, deps, actor, address, call, reveal } = context
    const later = new LaterParts()
    const { page, include, links } = address
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
      fragments.push(...(await membershipFragments(tx, [membership], viewer)))
      const parts = await includedWithMemberships(viewer, [membership], include)
      for (const part of parts ?? []) included.add(part)
      const isReadable = isPermitted('organization:read', actor, viewer.standing, {})
      if (include.has('organization') && isReadable) {
        included.add(organizationFragment(organization, viewer, deps.config))
      }
    }
    const paging = pagingOf(call.path, links, page, total)
    return ok(later.bodyOf(listDocument(fragments, paging, include.size === 0 ? undefined : [...included])))
  },
})

export const membershipListRoutes: readonly Route[] = [list, listOwn]
