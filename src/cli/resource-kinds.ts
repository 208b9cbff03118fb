import { existing } from '../core/existing.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { OwnRequests, Resource } from './own-requests.ts'

export type ResourceFlags = { organization?: string; user?: string; team?: string; yes?: true }

/** What `list`, `show` and `delete` of a command need to know. */
export type Kind = {
  name: string
  /** Columns of a list: heading and attribute; `id` is the resource's own. */
  columns: readonly (readonly [heading: string, attribute: string])[]
  /** Throws where the flags name nothing to list. */
  list: (requests: OwnRequests, flags: ResourceFlags) => Promise<Resource[]>
  /** The path of one, by its name or id; undefined where there is none. */
  pathOf: (requests: OwnRequests, name: string, flags: ResourceFlags) => Promise<string | undefined>
  /** Where it is deleted, if not where it is shown. */
  deletedAt?: (path: string) => string
}

const users: Kind = {
  name: 'user',
  columns: [
    ['name', 'username'],
    ['email', 'email'],
    ['administrator', 'is-site-admin'],
    ['suspended', 'is-suspended'],
    ['id', 'id'],
  ],
  list: async (requests) => all(await requests.list('/admin/users')),
  pathOf: async (requests, name) => {
    const id = await userId(requests, name)
    return id === undefined ? undefined : `/users/${id}`
  },
  deletedAt: (path) => `/admin${path}`,
}

const organizations: Kind = {
  name: 'organization',
  columns: [
    ['name', 'name'],
    ['email', 'email'],
    ['created', 'created-at'],
    ['id', 'external-id'],
  ],
  list: async (requests) => all(await requests.list('/organizations')),
  pathOf: async (_, name) => `/organizations/${encodeURIComponent(name)}`,
}

const teams: Kind = {
  name: 'team',
  columns: [
    ['name', 'name'],
    ['members', 'users-count'],
    ['visibility', 'visibility'],
    ['id', 'id'],
  ],
  list: (requests, flags) => teamsOf(requests, flags),
  pathOf: async (requests, name, flags) => {
    const id = await teamId(requests, name, flags)
    return id === undefined ? undefined : `/teams/${id}`
  },
}

const tokens: Kind = {
  name: 'token',
  columns: [
    ['id', 'id'],
    ['created', 'created-at'],
    ['expires', 'expired-at'],
    ['last used', 'last-used-at'],
    ['description', 'description'],
  ],
  list: async (requests, flags) => {
    if (flags.user !== undefined) {
      const id = await userId(requests, flags.user)
      if (id === undefined) throw new OperatorError(`there is no user ${flags.user}`)
      return all(await requests.list(`/users/${id}/authentication-tokens`))
    }
    if (flags.team !== undefined) {
      const id = await teamId(requests, flags.team, flags)
      if (id === undefined) throw new OperatorError(`there is no team ${flags.team} in ${flags.organization}`)
      return all(await requests.list(`/teams/${id}/authentication-tokens`))
    }
    const path = `/organizations/${encodeURIComponent(existing(flags.organization))}`
    const ofTeams = await requests.list(`${path}/team-tokens`)
    if (ofTeams === undefined) throw new OperatorError(`there is no organization ${flags.organization}`)
    const own = await requests.find(`${path}/authentication-token`)
    const ofAudit = await requests.find(`${path}/authentication-token?token=audit-trails`)
    return [own, ofAudit, ...ofTeams].filter((token) => token !== undefined)
  },
  pathOf: async (_, id) => `/authentication-tokens/${encodeURIComponent(id)}`,
}

export const kinds = { users, organizations, teams, tokens }

async function teamsOf(
  requests: OwnRequests,
  { organization = '' }: ResourceFlags,
  filter: Record<string, string> = {},
): Promise<Resource[]> {
  const found = await requests.list(`/organizations/${encodeURIComponent(organization)}/teams`, filter)
  if (found === undefined) throw new OperatorError(`there is no organization ${organization}`)
  return found
}

/** An id comes before a name: users choose their names, and one may look like the id of another. */
async function userId(requests: OwnRequests, name: string): Promise<string | undefined> {
  const byId = await requests.find(`/users/${encodeURIComponent(name)}`)
  if (byId !== undefined) return byId.id
  const found = all(await requests.list('/admin/users', { q: name }))
  const wanted = name.toLowerCase()
  const isNamed = ({ attributes: { username } }: Resource) =>
    typeof username === 'string' && username.toLowerCase() === wanted
  return found.find(isNamed)?.id
}

async function teamId(
  requests: OwnRequests,
  name: string,
  { organization = '' }: ResourceFlags,
): Promise<string | undefined> {
  const named = await teamsOf(requests, { organization }, { 'filter[names]': name })
  const byId = await requests.find(`/teams/${encodeURIComponent(name)}`)
  const place = byId?.relationships?.organization?.data
  const isHere = place !== null && place !== undefined && 'id' in place && place.id === organization
  return isHere ? byId?.id : named.find(({ attributes }) => attributes.name === name)?.id
}

function all(resources: Resource[] | undefined): Resource[] {
  if (resources === undefined) throw new OperatorError('the server has no such list')
  return resources
}
