import { expect } from 'vitest'
import { runImport, type ImportOptions } from '../../src/import/import.ts'
import { Progress } from '../../src/import/progress.ts'
import type { Report } from '../../src/import/report.ts'
import type { Source } from '../../src/import/source.ts'
import type { Client, Json } from './client.ts'
import type { TestServer } from './server.ts'
import { base64, lock, md5Of, postState, stateText } from './states.ts'
import {
  addMember,
  body,
  createProject,
  createTeam,
  createTestOrganization,
  createUser,
  createWorkspace,
  grantProject,
  grantWorkspace,
  invitePerson,
  type TestOrganization,
} from './world.ts'

export const silent = () => new Progress({ write: () => {} })

/** Imports into a running server. */
export function importInto(
  target: TestServer,
  source: Source,
  options: Partial<ImportOptions> = {},
): Promise<Report> {
  return runImport(target.app.deps.config, source, {
    organizations: [],
    states: 'all',
    isDryRun: false,
    isMerging: false,
    progress: silent(),
    signal: new AbortController().signal,
    ...options,
  })
}

/** States that would change if JavaScript parsed and printed them: large numbers, order of keys, escapes, spaces. */
export const states = [1, 2, 5].map((serial) =>
  stateText(
    `{"big": {"value": 12345678901234567890.10, "type": "number"}, "secret": {"value": "s3cret-${serial}", "type": "string", "sensitive": true}}`,
    serial,
  ),
)
export const jsonState = '{"format_version": "1.0", "values": {"big": 1.0}}'

/** An organization with objects of every kind. */
export async function createSourceWorld(server: TestServer): Promise<TestOrganization> {
  const organization = await createTestOrganization(server, {
    'session-timeout': 77,
    'delegated-team-management': true,
    'max-ttl-enabled': true,
  })
  const { client } = organization.owner
  const policies = [{ 'token-type': 'team', 'max-ttl-ms': 30 * 86_400_000 }]
  const lifetimes = await client.patch(
    `/organizations/${organization.name}/token-ttl-policies`,
    body('organization-token-ttl-policies', { 'token-ttl-policies': policies }),
  )
  expect(lifetimes.status).toBe(200)
  const project = await createProject(organization, {
    name: 'network',
    description: 'cables',
    'auto-destroy-activity-duration': '3d',
  })
  const defaultProject = (await client.get(`/organizations/${organization.name}`)).json.data.relationships[
    'default-project'
  ].data.id
  await bindTags(client, `/projects/${project}`, { cost: '12', 'only-there': '' })
  await bindTags(client, `/projects/${defaultProject}`, { default: 'yes' })
  const readers = await createTeam(organization, { name: 'readers' })
  const ops = await createTeam(organization, {
    name: 'ops',
    visibility: 'organization',
    'sso-team-id': 'sso-ops',
    'allow-member-token-management': false,
    'organization-access': { 'manage-workspaces': true, 'manage-modules': true, 'read-projects': true },
  })
  await client.patch(`/teams/${await ownersOf(client, organization.name)}`, {
    data: { type: 'teams', attributes: { 'sso-team-id': 'sso-owners' } },
  })
  await addMember(server, organization, [readers, ops])
  await addMember(server, organization)
  await invitePerson(organization, await createUser(server, 'waiting'), [readers])
  await invitePerson(organization, { email: `nobody-${organization.name}@example.com` })
  const workspace = await createWorkspace(
    organization,
    {
      name: 'prod',
      description: 'the real one',
      'execution-mode': 'agent',
      'auto-apply': true,
      'trigger-prefixes': ['a', 'b'],
      'terraform-version': '1.9.8',
    },
    {
      project: { data: { type: 'projects', id: project } },
      tags: { data: ['blue', 'net:core'].map((name) => ({ type: 'tags', attributes: { name } })) },
    },
  )
  const plain = await createWorkspace(organization, {
    name: 'plain',
    'auto-destroy-at': '2099-01-01T00:00:00.000Z',
  })
  await grantWorkspace(organization, readers, workspace, {
    access: 'custom',
    'state-versions': 'read-outputs',
  })
  await grantWorkspace(organization, ops, plain, { access: 'write' })
  await grantProject(organization, ops, project, {
    access: 'custom',
    'project-access': { settings: 'update' },
    'workspace-access': { 'state-versions': 'read', create: true },
  })
  await bindTags(client, `/workspaces/${workspace}`, { cost: '13', 'mode of life': 'ä ☃' })
  const consumers = { data: [{ type: 'workspaces', id: plain }] }
  expect(
    (await client.post(`/workspaces/${workspace}/relationships/remote-state-consumers`, consumers)).status,
  ).toBe(204)
  await lock(client, workspace)
  for (const state of states) {
    const json = state === states.at(-1) ? { 'json-state': base64(jsonState) } : {}
    const made = await postState(client, workspace, state, { state: base64(state), ...json })
    expect(made.status).toBe(201)
  }
  await client.post(`/workspaces/${workspace}/actions/unlock`)
  await lock(client, plain)
  await client.post(
    `/teams/${readers}/authentication-tokens`,
    body('authentication-tokens', { description: 'ci' }),
  )
  return organization
}

async function bindTags(client: Client, path: string, bindings: Record<string, string>): Promise<void> {
  const data = Object.entries(bindings).map(([key, value]) => ({
    type: 'tag-bindings',
    attributes: { key, value },
  }))
  expect((await client.patch(`${path}/tag-bindings`, { data })).status).toBe(200)
}

async function ownersOf(client: Client, organization: string): Promise<string> {
  const list = await client.get(`/organizations/${organization}/teams?filter%5Bnames%5D=owners`)
  return list.json.data[0].id
}

const changing = [
  'created-at',
  'updated-at',
  'latest-change-at',
  'external-id',
  'permissions',
  'locked',
  'locked-reason',
  'users-count',
  'hosted-state-download-url',
  'hosted-json-state-download-url',
  'hosted-json-state-upload-url',
]

/** All documents of an organization, without ids and times, and with names instead of ids in relationships. */
export async function documentsOf(client: Client, name: string): Promise<Json> {
  const all = async (path: string): Promise<Json[]> => {
    const found: Json[] = []
    for (let page = 1; ; page += 1) {
      const { json } = await client.get(
        `${path}${path.includes('?') ? '&' : '?'}page%5Bnumber%5D=${page}&page%5Bsize%5D=100`,
      )
      found.push(...json.data)
      if (json.meta.pagination['next-page'] === null) return found
    }
  }
  const attributes = (resource: Json) =>
    Object.fromEntries(Object.entries(resource.attributes).filter(([key]) => !changing.includes(key)))
  const organization = (await client.get(`/organizations/${name}`)).json.data
  const projects = await all(`/organizations/${name}/projects`)
  const teams = await all(`/organizations/${name}/teams`)
  const workspaces = await all(`/organizations/${name}/workspaces`)
  const members = await all(`/organizations/${name}/organization-memberships`)
  const names = new Map(
    [...projects, ...teams, ...workspaces].map(({ id, attributes }) => [id, attributes.name]),
  )
  const named = (relation: Json) => names.get(relation.data.id)
  const bindings = []
  for (const [type, things] of Object.entries({ projects, workspaces })) {
    for (const thing of things) {
      const own = await all(`/${type}/${thing.id}/tag-bindings`)
      bindings.push([type, thing.attributes.name, own.map(attributes)])
    }
  }
  const consumers = []
  for (const { id, attributes } of workspaces) {
    const found = await all(`/workspaces/${id}/relationships/remote-state-consumers`)
    consumers.push([attributes.name, found.map((consumer) => consumer.attributes.name)])
  }
  const lifetimes = (await all(`/organizations/${name}/token-ttl-policies`)).map(attributes)
  const whole = []
  for (const { id } of teams) whole.push(attributes((await client.get(`/teams/${id}`)).json.data))
  const access = []
  for (const { id } of workspaces)
    access.push(...(await all(`/team-workspaces?filter%5Bworkspace%5D%5Bid%5D=${id}`)))
  for (const { id } of projects)
    access.push(...(await all(`/team-projects?filter%5Bproject%5D%5Bid%5D=${id}`)))
  const versions = []
  for (const workspace of workspaces) {
    const query = `filter%5Borganization%5D%5Bname%5D=${name}&filter%5Bworkspace%5D%5Bname%5D=${workspace.attributes.name}`
    for (const version of await all(`/state-versions?${query}`)) {
      const { id } = version
      const json = await client.get(`/state-versions/${id}/json-download`)
      versions.push({
        workspace: workspace.attributes.name,
        attributes: attributes(version),
        md5: md5Of((await client.get(`/state-versions/${id}/download`)).text),
        json: json.status === 200 ? json.text : null,
      })
    }
  }
  return {
    organization: { ...attributes(organization), name: undefined },
    lifetimes,
    bindings,
    consumers,
    projects: projects.map(attributes),
    teams: whole,
    workspaces: workspaces.map((one) => ({
      ...attributes(one),
      'current-state': one.relationships['current-state-version'].data !== null,
      project: named(one.relationships.project),
    })),
    members: members
      .filter(({ attributes }) => attributes.email !== 'admin@localhost')
      .map(({ attributes, relationships }) => ({
        email: attributes.email,
        status: attributes.status,
        teams: relationships.teams.data.map(({ id }: Json) => names.get(id)).sort(),
      }))
      .sort((a, b) => (a.email < b.email ? -1 : 1)),
    access: access.map(({ attributes, relationships }) => ({
      ...attributes,
      team: named(relationships.team),
      place: named(relationships.workspace ?? relationships.project),
    })),
    versions,
  }
}
