import type { Json, Response } from './client.ts'
import type { TestServer } from './server.ts'
import { base64, lock, postState, stateText } from './states.ts'
import { body, createWorkspace, uniqueName, type TestOrganization } from './world.ts'

/** A resource: how to create it, where to read it, alone or in a list, and how to change it. */
export type Kind = {
  what: string
  type: string
  make: (server: TestServer, organization: TestOrganization) => Promise<Response>
  /** The first path shows it alone. */
  places: (item: Json, organization: TestOrganization) => readonly string[] | Promise<readonly string[]>
  update?: (item: Json) => { path: string; body: object }
  /** The dialect in which a list shows less of it. */
  isShorterInListOf?: 'documented'
}

const relation = (type: string, id: string) => ({ data: { type, id } })
const made = async (answer: Promise<Response>): Promise<string> => (await answer).json.data.id
const team = ({ owner, name }: TestOrganization) =>
  owner.client.post(
    `/organizations/${name}/teams`,
    body('teams', {
      name: uniqueName('team'),
      visibility: 'organization',
      'sso-team-id': 'sso',
      'organization-access': { 'manage-workspaces': true },
    }),
  )
const workspace = ({ owner, name }: TestOrganization) =>
  owner.client.post(
    `/organizations/${name}/workspaces`,
    body(
      'workspaces',
      { name: uniqueName('workspace'), description: 'd', 'auto-apply': true, 'trigger-prefixes': ['a'] },
      { tags: { data: [{ type: 'tags', attributes: { name: 'a' } }] } },
    ),
  )
const project = ({ owner, name }: TestOrganization) =>
  owner.client.post(
    `/organizations/${name}/projects`,
    body('projects', { name: uniqueName('project'), 'default-execution-mode': 'agent' }),
  )

const IN_A_YEAR = new Date(Date.now() + 365 * 86_400_000).toISOString()
const token = { description: 'd', 'expired-at': IN_A_YEAR }
/** An organization has one token of each kind, created by POST. */
const organizationToken = (what: string, query: string): Kind => ({
  what,
  type: 'authentication-tokens',
  make: (_, { name, owner }) =>
    owner.client.post(
      `/organizations/${name}/authentication-token${query}`,
      body('authentication-tokens', { 'expired-at': token['expired-at'] }),
    ),
  places: ({ id }, { name }) => [
    `/authentication-tokens/${id}`,
    `/organizations/${name}/authentication-token${query}`,
  ],
})
/** A state version in a new workspace. */
const state = async (organization: TestOrganization, isSentAlong: boolean): Promise<Response> => {
  const id = await createWorkspace(organization)
  await lock(organization.owner.client, id)
  const text = stateText('{"a": {"value": "1"}, "b": {"value": [1], "sensitive": true}}')
  return postState(organization.owner.client, id, text, isSentAlong ? { state: base64(text) } : {})
}
const statesOf = async ({ owner, name }: TestOrganization, { relationships }: Json): Promise<string> => {
  const shown = await owner.client.get(`/workspaces/${relationships.workspace.data.id}`)
  return `/state-versions?filter[organization][name]=${name}&filter[workspace][name]=${shown.json.data.attributes.name}`
}
/** The first matching resource of a list, in the form of an answer to its creation. */
const first = async (answer: Promise<Response>, type: string): Promise<Response> => {
  const { json, ...rest } = await answer
  return { ...rest, json: { data: json.data.find((item: Json) => item.type === type) } }
}

/** Everything that can be created and read again. */
export const kinds: readonly Kind[] = [
  {
    what: 'organizations',
    type: 'organizations',
    make: (_, { owner }) =>
      owner.client.post(
        '/organizations',
        body('organizations', { name: uniqueName('made'), email: 'o@example.com', 'session-timeout': 10 }),
      ),
    places: ({ id }) => [`/organizations/${id}`, '/organizations', '/organizations?page[number]=1'],
    update: ({ id }) => ({ path: `/organizations/${id}`, body: body('organizations', { email: 'p@x.org' }) }),
  },
  {
    what: 'projects',
    type: 'projects',
    make: (_, organization) => project(organization),
    places: ({ id }, { name }) => [`/projects/${id}`, `/organizations/${name}/projects`],
    update: ({ id }) => ({ path: `/projects/${id}`, body: body('projects', { description: 'new' }) }),
  },
  {
    what: 'workspaces',
    type: 'workspaces',
    make: (_, organization) => workspace(organization),
    places: ({ id, attributes }, { name }) => [
      `/workspaces/${id}`,
      `/organizations/${name}/workspaces/${attributes.name}`,
      `/organizations/${name}/workspaces`,
    ],
    update: ({ id }) => ({
      path: `/workspaces/${id}`,
      body: body('workspaces', { 'execution-mode': 'remote', 'setting-overwrites': { 'agent-pool': true } }),
    }),
  },
  {
    what: 'teams',
    type: 'teams',
    make: (_, organization) => team(organization),
    places: ({ id, attributes }, { name }) => [
      `/teams/${id}`,
      `/organizations/${name}/teams`,
      `/organizations/${name}/teams?q=${attributes.name}`,
    ],
    update: ({ id }) => ({ path: `/teams/${id}`, body: body('teams', { 'sso-team-id': 'other' }) }),
    isShorterInListOf: 'documented',
  },
  {
    what: 'team-workspaces',
    type: 'team-workspaces',
    make: async (_, organization) =>
      organization.owner.client.post(
        '/team-workspaces',
        body(
          'team-workspaces',
          { access: 'custom', 'state-versions': 'read' },
          {
            team: relation('teams', await made(team(organization))),
            workspace: relation('workspaces', await made(workspace(organization))),
          },
        ),
      ),
    places: ({ id, relationships }) => [
      `/team-workspaces/${id}`,
      `/team-workspaces?filter[workspace][id]=${relationships.workspace.data.id}`,
    ],
    update: ({ id }) => ({
      path: `/team-workspaces/${id}`,
      body: body('team-workspaces', { 'workspace-locking': true }),
    }),
  },
  {
    what: 'team-projects',
    type: 'team-projects',
    make: async (_, organization) =>
      organization.owner.client.post(
        '/team-projects',
        body(
          'team-projects',
          { access: 'custom', 'workspace-access': { create: true } },
          {
            team: relation('teams', await made(team(organization))),
            project: relation('projects', await made(project(organization))),
          },
        ),
      ),
    places: ({ id, relationships }) => [
      `/team-projects/${id}`,
      `/team-projects?filter[project][id]=${relationships.project.data.id}`,
    ],
    update: ({ id }) => ({
      path: `/team-projects/${id}`,
      body: body('team-projects', { 'workspace-access': { locking: true } }),
    }),
  },
  {
    what: 'organization-memberships',
    type: 'organization-memberships',
    make: (_, { owner, name }) =>
      owner.client.post(
        `/organizations/${name}/organization-memberships`,
        body('organization-memberships', { email: `${uniqueName('new')}@example.com` }),
      ),
    places: ({ id }, { name }) => [
      `/organization-memberships/${id}`,
      `/organizations/${name}/organization-memberships`,
    ],
  },
  {
    what: 'users',
    type: 'users',
    make: ({ admin }) => {
      const username = uniqueName('made')
      return admin.post('/admin/users', body('users', { username, email: `${username}@example.com` }))
    },
    places: ({ id, attributes }) => [`/users/${id}`, `/admin/users?q=${attributes.username}`],
  },
  {
    what: "a user's tokens",
    type: 'authentication-tokens',
    make: (_, { owner }) =>
      owner.client.post(`/users/${owner.id}/authentication-tokens`, body('authentication-tokens', token)),
    places: ({ id }, { owner }) => [
      `/authentication-tokens/${id}`,
      `/users/${owner.id}/authentication-tokens`,
    ],
  },
  {
    what: "a team's single token",
    type: 'authentication-tokens',
    make: async (_, organization) =>
      organization.owner.client.post(`/teams/${await made(team(organization))}/authentication-token`),
    places: ({ id, relationships }, { name }) => [
      `/authentication-tokens/${id}`,
      `/teams/${relationships.team.data.id}/authentication-token`,
      `/teams/${relationships.team.data.id}/authentication-tokens`,
      `/organizations/${name}/team-tokens`,
    ],
  },
  {
    what: "a team's other tokens",
    type: 'authentication-tokens',
    make: async (_, organization) =>
      organization.owner.client.post(
        `/teams/${await made(team(organization))}/authentication-tokens`,
        body('authentication-tokens', token),
      ),
    places: ({ id, relationships }, { name }) => [
      `/authentication-tokens/${id}`,
      `/teams/${relationships.team.data.id}/authentication-tokens`,
      `/organizations/${name}/team-tokens?sort=expired-at`,
    ],
  },
  organizationToken("an organization's token", ''),
  organizationToken("an organization's token for audit trails", '?token=audit-trails'),
  {
    what: 'time-to-live policies',
    type: 'organization-token-ttl-policies',
    make: (_, { owner, name }) =>
      first(
        owner.client.patch(
          `/organizations/${name}/token-ttl-policies`,
          body('organization-token-ttl-policies', {
            'token-ttl-policies': [{ 'token-type': 'organization', 'max-ttl-ms': 86_400_000 }],
          }),
        ),
        'organization-token-ttl-policies',
      ),
    places: (_, { name }) => [`/organizations/${name}/token-ttl-policies`],
  },
  {
    what: 'entitlement sets',
    type: 'entitlement-sets',
    make: (_, { owner, name }) => owner.client.get(`/organizations/${name}/entitlement-set`),
    places: (_, { name }) => [`/organizations/${name}/entitlement-set`],
  },
  {
    what: 'tags',
    type: 'tags',
    make: async (_, organization) =>
      first(
        organization.owner.client.get(
          `/workspaces/${await made(workspace(organization))}/relationships/tags`,
        ),
        'tags',
      ),
    places: (_, { name }) => [`/organizations/${name}/tags`],
  },
  {
    what: 'tag bindings',
    type: 'tag-bindings',
    make: async (_, organization) => {
      const id = await made(workspace(organization))
      const path = `/workspaces/${id}/tag-bindings`
      const answer = await organization.owner.client.patch(path, {
        data: [{ type: 'tag-bindings', attributes: { key: 'k', value: 'v' } }],
      })
      return { ...answer, json: { data: { ...answer.json.data[0], '(workspace)': id } } }
    },
    places: (item) => [
      `/workspaces/${item['(workspace)']}/tag-bindings`,
      `/workspaces/${item['(workspace)']}/relationships/tag-bindings`,
    ],
  },
  {
    what: 'state versions',
    type: 'state-versions',
    make: (_, organization) => state(organization, true),
    places: async (item, organization) => [
      `/state-versions/${item.id}`,
      `/workspaces/${item.relationships.workspace.data.id}/current-state-version`,
      await statesOf(organization, item),
    ],
  },
  {
    what: 'state versions that wait for their upload',
    type: 'state-versions',
    make: (_, organization) => state(organization, false),
    places: async (item, organization) => [`/state-versions/${item.id}`, await statesOf(organization, item)],
  },
]
