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
  list: teamsOf,
  pathOf: async (requests, name, flags) => {
    const id = idOf(await teamsOf(requests, flags), name, 'name')
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
      const id = idOf(await teamsOf(requests, flags), flags.team, 'name')
      if (id === undefined) throw new OperatorError(`there is no team ${flags.team} in ${flags.organization}`)
      return all(await requests.list(`/teams/${id}/authentication-tokens`))
    }
    const path = `/organizations/${encodeURIComponent(flags.organization as string)}`
    const ofTeams = await requests.list(`${path}/team-tokens`)
    if (ofTeams === undefined) throw new OperatorError(`there is no organization ${flags.organization}`)
    const own = await requests.find(`${path}/authentication-token`)
    return own === undefined ? ofTeams : [own, ...ofTeams]
  },
  pathOf: async (_, id) => `/authentication-tokens/${encodeURIComponent(id)}`,
}

export const kinds = { users, organizations, teams, tokens }

async function teamsOf(requests: OwnRequests, { organization = '' }: ResourceFlags): Promise<Resource[]> {
  const found = await requests.list(`/organizations/${encodeURIComponent(organization)}/teams`)
  if (found === undefined) throw new OperatorError(`there is no organization ${organization}`)
  return found
}

async function userId(requests: OwnRequests, name: string): Promise<string | undefined> {
  const named = all(await requests.list('/admin/users', { q: name }))
  const byName = idOf(named, name.toLowerCase(), 'username')
  // An invited user has no name yet.
  return byName ?? (await requests.find(`/users/${encodeURIComponent(name)}`))?.id
}

/** Names go before ids, as users choose them. */
function idOf(resources: readonly Resource[], name: string, attribute: string): string | undefined {
  const isNamed = ({ attributes }: Resource) => {
    const value = attributes[attribute]
    if (typeof value !== 'string') return false
    return (attribute === 'username' ? value.toLowerCase() : value) === name
  }
  return (resources.find(isNamed) ?? resources.find(({ id }) => id === name))?.id
}

function all(resources: Resource[] | undefined): Resource[] {
  if (resources === undefined) throw new OperatorError('the server has no such list')
  return resources
}
