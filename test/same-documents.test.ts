import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client, Json, Response } from './support/client.ts'
import { engines } from './support/engines.ts'
import { startServer, type TestServer } from './support/server.ts'
import {
  addMember,
  body,
  createTestOrganization,
  uniqueName,
  type TestOrganization,
} from './support/world.ts'

/** A resource: how it is made, where it is read, changed and listed. */
type Kind = {
  what: string
  make: (client: Client, organization: TestOrganization) => Promise<Response>
  show: (item: Json, organization: TestOrganization) => string
  list?: (item: Json, organization: TestOrganization) => string
  update?: (item: Json) => { path: string; body: object }
  /** A list of the documented dialect has less. */
  isShorterInList?: boolean
  /** What is shown once. */
  isSecretLater?: string
}

const relation = (type: string, id: string) => ({ data: { type, id } })
const made = async (answer: Promise<Response>): Promise<string> => (await answer).json.data.id
const team = (client: Client, { name }: TestOrganization) =>
  client.post(
    `/organizations/${name}/teams`,
    body('teams', {
      name: uniqueName('team'),
      visibility: 'organization',
      'sso-team-id': 'sso',
      'organization-access': { 'manage-workspaces': true },
    }),
  )
const workspace = (client: Client, { name }: TestOrganization) =>
  client.post(
    `/organizations/${name}/workspaces`,
    body(
      'workspaces',
      { name: uniqueName('workspace'), description: 'd', 'auto-apply': true, 'trigger-prefixes': ['a'] },
      { tags: { data: [{ type: 'tags', attributes: { name: 'a' } }] } },
    ),
  )
const project = (client: Client, { name }: TestOrganization) =>
  client.post(
    `/organizations/${name}/projects`,
    body('projects', { name: uniqueName('project'), 'default-execution-mode': 'agent' }),
  )

const kinds: readonly Kind[] = [
  {
    what: 'organizations',
    make: (client) =>
      client.post(
        '/organizations',
        body('organizations', { name: uniqueName('made'), email: 'o@example.com', 'session-timeout': 10 }),
      ),
    show: ({ id }) => `/organizations/${id}`,
    list: () => '/organizations',
    update: ({ id }) => ({ path: `/organizations/${id}`, body: body('organizations', { email: 'p@x.org' }) }),
  },
  {
    what: 'projects',
    make: project,
    show: ({ id }) => `/projects/${id}`,
    list: (_, { name }) => `/organizations/${name}/projects`,
    update: ({ id }) => ({ path: `/projects/${id}`, body: body('projects', { description: 'new' }) }),
  },
  {
    what: 'workspaces',
    make: workspace,
    show: ({ id }) => `/workspaces/${id}`,
    list: (_, { name }) => `/organizations/${name}/workspaces`,
    update: ({ id }) => ({
      path: `/workspaces/${id}`,
      body: body('workspaces', { 'execution-mode': 'remote', 'setting-overwrites': { 'agent-pool': true } }),
    }),
  },
  {
    what: 'teams',
    make: team,
    show: ({ id }) => `/teams/${id}`,
    list: (_, { name }) => `/organizations/${name}/teams`,
    update: ({ id }) => ({ path: `/teams/${id}`, body: body('teams', { 'sso-team-id': 'other' }) }),
    isShorterInList: true,
  },
  {
    what: 'team-workspaces',
    make: async (client, organization) =>
      client.post(
        '/team-workspaces',
        body(
          'team-workspaces',
          { access: 'custom', 'state-versions': 'read' },
          {
            team: relation('teams', await made(team(client, organization))),
            workspace: relation('workspaces', await made(workspace(client, organization))),
          },
        ),
      ),
    show: ({ id }) => `/team-workspaces/${id}`,
    list: (item) => `/team-workspaces?filter[workspace][id]=${item.relationships.workspace.data.id}`,
    update: ({ id }) => ({
      path: `/team-workspaces/${id}`,
      body: body('team-workspaces', { 'workspace-locking': true }),
    }),
  },
  {
    what: 'team-projects',
    make: async (client, organization) =>
      client.post(
        '/team-projects',
        body(
          'team-projects',
          { access: 'custom', 'workspace-access': { create: true } },
          {
            team: relation('teams', await made(team(client, organization))),
            project: relation('projects', await made(project(client, organization))),
          },
        ),
      ),
    show: ({ id }) => `/team-projects/${id}`,
    list: (item) => `/team-projects?filter[project][id]=${item.relationships.project.data.id}`,
    update: ({ id }) => ({
      path: `/team-projects/${id}`,
      body: body('team-projects', { 'workspace-access': { locking: true } }),
    }),
  },
  {
    what: 'organization-memberships',
    make: (client, { name }) =>
      client.post(
        `/organizations/${name}/organization-memberships`,
        body('organization-memberships', { email: `${uniqueName('new')}@example.com` }),
      ),
    show: ({ id }) => `/organization-memberships/${id}`,
    list: (_, { name }) => `/organizations/${name}/organization-memberships`,
  },
  {
    what: "a user's tokens",
    make: (client, { owner }) =>
      client.post(
        `/users/${owner.id}/authentication-tokens`,
        body('authentication-tokens', { description: 'd', 'expired-at': '2100-01-02T03:04:05.678Z' }),
      ),
    show: ({ id }) => `/authentication-tokens/${id}`,
    list: (_, { owner }) => `/users/${owner.id}/authentication-tokens`,
    isSecretLater: 'token',
  },
  {
    what: "a team's tokens",
    make: async (client, organization) =>
      client.post(
        `/teams/${await made(team(client, organization))}/authentication-tokens`,
        body('authentication-tokens', { description: 'd' }),
      ),
    show: ({ id }) => `/authentication-tokens/${id}`,
    list: (item) => `/teams/${item.relationships.team.data.id}/authentication-tokens`,
    isSecretLater: 'token',
  },
  {
    what: 'tag bindings',
    make: async (client, organization) => {
      const id = await made(workspace(client, organization))
      const answer = await client.patch(`/workspaces/${id}/tag-bindings`, {
        data: [{ type: 'tag-bindings', attributes: { key: 'k', value: 'v' } }],
      })
      return { ...answer, json: { data: { ...answer.json.data[0], workspace: id } } }
    },
    show: (item) => `/workspaces/${item.workspace}/tag-bindings`,
  },
]

describe.each(engines)('documents on %s', (engine) => {
  describe.each(['documented', 'current'] as const)('in the dialect %s', (dialect) => {
    let server: TestServer
    let organization: TestOrganization
    beforeAll(async () => {
      server = await startServer(engine, { dialect })
      organization = await createTestOrganization(server)
      await addMember(server, organization)
    })
    afterAll(() => server.stop())

    test.each(kinds)('of $what are the same when made, shown, changed and listed', async (kind) => {
      const { client } = organization.owner
      const listed = async (item: Json): Promise<Json> => {
        const path = kind.list?.(item, organization)
        if (path === undefined) return undefined
        const list = await client.get(`${path}${path.includes('?') ? '&' : '?'}page[size]=100`)
        return list.json.data.find(({ id }: Json) => id === item.id)
      }
      const check = async (item: Json) => {
        server.clock.advance(1_234)
        const shown = (await client.get(kind.show(item, organization))).json.data
        const { workspace: _, ...whole } = item
        const expected = kind.isSecretLater === undefined ? whole : withoutSecret(whole, kind.isSecretLater)
        expect(Array.isArray(shown) ? shown[0] : withoutUse(shown)).toEqual(withoutUse(expected))
        if (kind.list === undefined) return
        const inList = await listed(item)
        if (kind.isShorterInList !== true) expect(inList).toEqual(shown)
        else expect(shown).toMatchObject(inList)
      }
      const answer = await kind.make(client, organization)
      expect(answer.status).toBeLessThan(300)
      await check(answer.json.data)
      const update = kind.update?.(answer.json.data)
      if (update === undefined) return
      const changed = await client.patch(update.path, update.body)
      expect(changed.status).toBe(200)
      await check(changed.json.data)
      const before = answer.json.data.attributes['created-at']
      expect(changed.json.data.attributes['created-at']).toBe(before)
    })
  })
})

function withoutSecret(item: Json, name: string): Json {
  expect(item.attributes[name]).toBeTypeOf('string')
  return { ...item, attributes: { ...item.attributes, [name]: null } }
}

/** When a token was last used changes with its use. */
function withoutUse(item: Json): Json {
  const { 'last-used-at': _, ...attributes } = item.attributes
  return { ...item, attributes }
}
