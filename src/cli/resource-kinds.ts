import { OperatorError } from '../core/operator-error.ts'
import type { OwnClient } from '../import/own-client.ts'
import { relatedId, type Resource } from '../import/source-lists.ts'

export type ResourceFlags = {
  organization?: string
  user?: string
  team?: string
  yes?: true
  endTokens?: true
}

/** What `list`, `show` and `delete` of a command need to know. */
export type Kind = {
  name: string
  /** Columns of a list: heading and attribute; `id` is the resource's own. */
  columns: readonly (readonly [heading: string, attribute: string])[]
  /** Throws if the flags name nothing to list. */
  list: (client: OwnClient, flags: ResourceFlags) => Promise<Resource[]>
  /** The path of an object, by its name or id; undefined if it does not exist. */
  pathOf: (client: OwnClient, name: string, flags: ResourceFlags) => Promise<string | undefined>
  /** What is deleted with an object, for the question whether to delete it. */
  deletesToo?: string
  /** The path for deleting it, if it is another one than for showing it. */
  deletedAt?: (path: string) => string
  /** The tokens that stay valid after a deletion. With `--end-tokens` the deletion ends them. */
  keptTokens?: (client: OwnClient, path: string) => Promise<string[]>
}

type KeptToken = { id: string; organization: string; team: string | null }

const users: Kind = {
  name: 'user',
  columns: [
    ['name', 'username'],
    ['email', 'email'],
    ['administrator', 'is-site-admin'],
    ['suspended', 'is-suspended'],
    ['id', 'id'],
  ],
  list: async (client) => (await client.list('/admin/users')).data,
  pathOf: async (client, name) => {
    const id = await userId(client, name)
    return id === undefined ? undefined : `/users/${id}`
  },
  deletedAt: (path) => `/admin${path}`,
  deletesToo: ' with their tokens and memberships',
  keptTokens: async (client, path) => {
    const found = await client.tryDeletion(path)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an answer of this server
    const tokens = (found?.attributes['tokens'] ?? []) as KeptToken[]
    return tokens.map(
      ({ id, organization, team }) =>
        `${id} (of ${team === null ? organization : `the team ${team} of ${organization}`})`,
    )
  },
}

const organizations: Kind = {
  name: 'organization',
  columns: [
    ['name', 'name'],
    ['email', 'email'],
    ['created', 'created-at'],
    ['owners', 'owners'],
    ['workspaces', 'workspaces-count'],
    ['state bytes', 'state-bytes'],
    ['id', 'external-id'],
  ],
  list: async (client) => {
    const usages = (await client.list('/admin/organizations')).data
    const usageOf = new Map(usages.map(({ id, attributes }) => [id, attributes]))
    const { data } = await client.list('/organizations')
    return data.map((one) => ({ ...one, attributes: { ...one.attributes, ...usageOf.get(one.id) } }))
  },
  pathOf: async (_, name) => `/organizations/${encodeURIComponent(name)}`,
  deletesToo: ' with all of its workspaces and states',
}

const teams: Kind = {
  name: 'team',
  columns: [
    ['name', 'name'],
    ['members', 'users-count'],
    ['visibility', 'visibility'],
    ['id', 'id'],
  ],
  list: (client, flags) => teamsOf(client, flags),
  pathOf: async (client, name, flags) => {
    const id = await teamId(client, name, flags)
    return id === undefined ? undefined : `/teams/${id}`
  },
  deletesToo: ' with its tokens and grants',
}

const workspaces: Kind = {
  name: 'workspace',
  columns: [
    ['name', 'name'],
    ['locked', 'locked'],
    ['resources', 'resource-count'],
    ['updated', 'updated-at'],
    ['id', 'id'],
  ],
  list: async (client, flags) =>
    (await client.list(`${await organizationPath(client, flags)}/workspaces`)).data,
  pathOf: async (client, name, flags) => {
    const id = await workspaceId(client, name, flags)
    return id === undefined ? undefined : `/workspaces/${id}`
  },
  deletesToo: ' with all of its states',
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
  list: async (client, flags) => {
    if (flags.user !== undefined) {
      const id = await userId(client, flags.user)
      if (id === undefined) throw new OperatorError(`there is no user ${flags.user}`)
      return (await client.list(`/users/${id}/authentication-tokens`)).data
    }
    if (flags.team !== undefined) {
      const id = await teamId(client, flags.team, flags)
      if (id === undefined) throw new OperatorError(`there is no team ${flags.team} in ${flags.organization}`)
      return (await client.list(`/teams/${id}/authentication-tokens`)).data
    }
    const path = await organizationPath(client, flags)
    const ofTeams = await client.list(`${path}/team-tokens`)
    const own = await client.show(`${path}/authentication-token`)
    const ofAudit = await client.show(`${path}/authentication-token?token=audit-trails`)
    return [own, ofAudit, ...ofTeams.data].filter((token) => token !== undefined)
  },
  pathOf: async (_, id) => `/authentication-tokens/${encodeURIComponent(id)}`,
}

export const kinds = { users, organizations, teams, workspaces, tokens }

async function teamsOf(
  client: OwnClient,
  flags: ResourceFlags,
  filter: Record<string, string> = {},
): Promise<Resource[]> {
  return (await client.list(`${await organizationPath(client, flags)}/teams`, filter)).data
}

/** Throws if there is no such organization. */
export async function organizationPath(
  client: OwnClient,
  { organization = '' }: ResourceFlags,
): Promise<string> {
  const path = `/organizations/${encodeURIComponent(organization)}`
  if (await client.show(path)) return path
  throw new OperatorError(`there is no organization ${organization}`)
}

/** An id comes before a name: users choose their names, and one may look like the id of another. */
export async function userId(client: OwnClient, name: string): Promise<string | undefined> {
  const byId = await client.show(`/users/${encodeURIComponent(name)}`)
  if (byId !== undefined) return byId.id
  const found = await client.list('/admin/users', { q: name })
  const wanted = name.toLowerCase()
  const isNamed = ({ attributes: { username } }: Resource) =>
    typeof username === 'string' && username.toLowerCase() === wanted
  return found.data.find(isNamed)?.id
}

export async function teamId(
  client: OwnClient,
  name: string,
  flags: ResourceFlags,
): Promise<string | undefined> {
  const named = await teamsOf(client, flags, { 'filter[names]': name })
  const byId = await client.show(`/teams/${encodeURIComponent(name)}`)
  if (byId !== undefined && relatedId(byId, 'organization') === flags.organization) return byId.id
  return named.find(({ attributes }) => attributes.name === name)?.id
}

/** A name comes before an id, because the name of a workspace may look like the id of another one. */
export async function workspaceId(
  client: OwnClient,
  name: string,
  flags: ResourceFlags,
): Promise<string | undefined> {
  const path = await organizationPath(client, flags)
  const byName = await client.show(`${path}/workspaces/${encodeURIComponent(name)}`)
  if (byName !== undefined) return byName.id
  const byId = await client.show(`/workspaces/${encodeURIComponent(name)}`)
  return byId !== undefined && relatedId(byId, 'organization') === flags.organization ? byId.id : undefined
}

export async function projectId(
  client: OwnClient,
  name: string,
  flags: ResourceFlags,
): Promise<string | undefined> {
  const { data } = await client.list(`${await organizationPath(client, flags)}/projects`)
  return (data.find(({ attributes }) => attributes.name === name) ?? data.find(({ id }) => id === name))?.id
}
