import { queryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { EffectiveAccess } from '../access/access-grants-query.ts'
import { inOrganization, pageOf, request, type Page } from '../api/client.ts'
import { accountQuery } from '../api/session.ts'
import { organizationQuery } from '../organizations/organizations-query.ts'
import { nameOf, type People } from '../people/people-query.ts'
import { placesFor } from '../places.ts'

const SHOWN = 5
const REQUEST_ID = /^[0-9a-f]{20}$/

/** Something that a name leads to. */
export type Found = {
  readonly kind: string
  readonly name: string
  /** Tells it from others of its kind. */
  readonly id: string
  readonly go: () => Promise<void>
}

/** The first of those that the server finds. Not tried again: what fails is left out. */
const findQuery = <Answer extends object>(
  path: string,
  parameters: Record<string, string>,
  isWanted: boolean,
) =>
  queryOptions({
    queryKey: ['find', path, parameters],
    queryFn: ({ signal }) => request<Answer>(pageOf(path, 1, SHOWN, parameters), { signal }),
    enabled: isWanted,
    staleTime: 10_000,
    retry: false,
  })

type Named = Page<{ readonly name: string }>

/**
 * What a text finds, by the rights of the caller: pages, and what the server lists. In an organization its teams,
 * workspaces, projects and people; elsewhere organizations. A request id leads to its refusal.
 */
export function useFound(
  organization: string | undefined,
  text: string,
): { readonly found: readonly Found[]; readonly isSearching: boolean } {
  const q = text.trim().toLowerCase()
  const isRequestId = REQUEST_ID.test(q)
  const inside = useFoundInside(organization ?? '', organization !== undefined && q !== '' && !isRequestId, q)
  const navigate = useNavigate()
  const organizations = useQuery(
    findQuery<Named>('/organizations', { q }, organization === undefined && q !== '' && !isRequestId),
  )
  const pages = usePages(organization).filter(({ name }) => name.toLowerCase().includes(q))
  const refusal = useRefusal(organization, q)
  const listed = (organizations.data?.data ?? []).map(({ id }): Found => ({
    kind: 'organization',
    name: id,
    id,
    go: () => navigate({ to: '/$organization/workspaces', params: { organization: id } }),
  }))
  const all = [...(isRequestId ? refusal : []), ...pages, ...inside.found, ...listed]
  const isExact = ({ name }: Found) => name.toLowerCase() === q
  return {
    // A whole name is what was meant.
    found: [...all.filter(isExact), ...all.filter((one) => !isExact(one))],
    isSearching: inside.isSearching || organizations.isFetching,
  }
}

function usePages(organization: string | undefined): readonly Found[] {
  const navigate = useNavigate()
  const account = useQuery(accountQuery)
  const place = useQuery({ ...organizationQuery(organization ?? ''), enabled: organization !== undefined })
  const page = (name: string, go: () => Promise<void>): Found => ({ kind: 'page', name, id: name, go })
  const inside =
    organization === undefined
      ? []
      : placesFor(place.data?.data.attributes.permissions ?? {}).map(({ to, name }) =>
          page(name, () => navigate({ to, params: { organization } })),
        )
  return [
    ...inside,
    page('Organizations', () => navigate({ to: '/' })),
    page('Your account', () => navigate({ to: '/~/account' })),
    page('Your tokens', () => navigate({ to: '/settings/tokens' })),
    ...(account.data?.data.attributes['is-site-admin'] === true
      ? [page('Administration', () => navigate({ to: '/~/admin/users' }))]
      : []),
  ]
}

/** The refusals with a request id, where the caller may read them. */
function useRefusal(organization: string | undefined, requestId: string): readonly Found[] {
  const navigate = useNavigate()
  const account = useQuery(accountQuery)
  const place = useQuery({ ...organizationQuery(organization ?? ''), enabled: organization !== undefined })
  const search = { q: requestId }
  const refusal = (name: string, go: () => Promise<void>): Found => ({ kind: 'refusal', name, id: name, go })
  return [
    ...(organization !== undefined && place.data?.data.attributes.permissions['can-read-refusals'] === true
      ? [
          refusal(`Refusal ${requestId}`, () =>
            navigate({ to: '/$organization/refusals', params: { organization }, search }),
          ),
        ]
      : []),
    ...(account.data?.data.attributes['is-site-admin'] === true
      ? [
          refusal(`Refusal ${requestId}, on the whole site`, () =>
            navigate({ to: '/~/admin/refusals', search }),
          ),
        ]
      : []),
  ]
}

function useFoundInside(organization: string, isWanted: boolean, q: string) {
  const navigate = useNavigate()
  const may = useQuery({ ...organizationQuery(organization), enabled: organization !== '' }).data?.data
    .attributes.permissions
  const own = useOwnAccess(organization, isWanted)
  const seesPlaces = own.data !== undefined && own.data.data.length > 0
  const path = (what: string) => inOrganization(organization, what)
  const teams = useQuery(findQuery<Named>(path('teams'), { q }, isWanted))
  const workspaces = useQuery(
    findQuery<Named>(path('workspaces'), { 'search[name]': q }, isWanted && seesPlaces),
  )
  const projects = useQuery(findQuery<Named>(path('projects'), { q }, isWanted && seesPlaces))
  const people = useQuery(
    findQuery<People>(
      path('organization-memberships'),
      { q, include: 'user' },
      isWanted && may?.['can-view-users'] === true,
    ),
  )
  const named = (
    kind: string,
    { data }: { data: Named | undefined },
    go: (id: string, name: string) => Promise<void>,
  ) =>
    (isWanted ? (data?.data ?? []) : []).map(({ id, attributes: { name } }): Found => ({
      kind,
      name,
      id,
      go: () => go(id, name),
    }))
  const found = [
    ...named('workspace', workspaces, (_, workspace) =>
      navigate({ to: '/$organization/workspaces/$workspace', params: { organization, workspace } }),
    ),
    ...named('team', teams, (team) =>
      navigate({ to: '/$organization/settings/teams/$team', params: { organization, team } }),
    ),
    ...named('project', projects, (project) =>
      navigate({ to: '/$organization/projects/$project', params: { organization, project } }),
    ),
    ...(isWanted ? (people.data?.data ?? []) : []).map((person): Found => {
      const name = people.data === undefined ? person.id : nameOf(people.data, person)
      return {
        kind: 'person',
        name,
        id: person.id,
        go: () =>
          navigate({ to: '/$organization/people/$person', params: { organization, person: person.id } }),
      }
    }),
  ]
  const isSearching = [own, teams, workspaces, projects, people].some(({ isFetching }) => isFetching)
  return { found, isSearching }
}

/**
 * A workspace that the caller sees, if there is one. Who sees none is refused the lists, and each refusal is a row among
 * the refusals. One's own access is never refused.
 */
function useOwnAccess(organization: string, isWanted: boolean) {
  const user = useQuery(accountQuery).data?.data.id
  return useQuery({
    queryKey: ['find', 'own-access', organization, user],
    queryFn: ({ signal }) => {
      const path = pageOf(inOrganization(organization, 'effective-access'), 1, 1, { user })
      return request<Page<EffectiveAccess>>(path, { signal })
    },
    enabled: isWanted && user !== undefined,
    staleTime: 60_000,
    retry: false,
  })
}
