import { expect, test } from 'vitest'
import type { Client, Json } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  body,
  createProject,
  createTeam,
  createTestOrganization,
  createWorkspace,
  invitePerson,
  uniqueName,
} from './support/world.ts'

const LIMITS = {
  maxTeams: '3',
  maxWorkspaces: '2',
  maxProjects: '3',
  maxWorkspaceTags: '2',
  maxTags: '3',
  maxTagBindings: '1',
  maxMembers: '3',
  maxTeamMembers: '1',
}

const tags = (...items: object[]) => ({ data: items.map((item) => ({ type: 'tags', ...item })) })
const bindings = (...keys: string[]) => ({
  data: keys.map((key) => ({ type: 'tag-bindings', attributes: { key, value: 'v' } })),
})
const project = (id: string) => ({ data: { type: 'projects', id } })

async function pointersOf(client: Client, method: string, path: string, sent: object): Promise<string[]> {
  const answer = await client.request(method, path, sent)
  expect(answer.status).toBe(422)
  return answer.json.errors.map(({ source }: Json) => source.pointer).toSorted()
}

onEachEngine('a body with many problems', LIMITS, (server) => {
  const name = '/data/attributes/name'
  const description = '/data/attributes/description'

  test('of a workspace is refused with all of them, those that only the database shows too', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const path = `/organizations/${organization.name}/workspaces`
    await createWorkspace(organization, { name: 'taken' })
    const second = await createWorkspace(organization, { name: 'second' })
    const bad = body(
      'workspaces',
      { name: 'taken', description: 7 },
      {
        project: project('prj-1111111111111111'),
        tags: tags({ attributes: { name: 'a' } }, { id: 'tag-1111111111111111' }, {}),
        'tag-bindings': bindings('k', 'k', 'l'),
      },
    )
    expect(await pointersOf(client, 'POST', path, bad)).toEqual(
      [
        '/data', // one workspace too many
        '/data/relationships/tag-bindings/data', // one binding too many
        name,
        description,
        '/data/relationships/project',
        '/data/relationships/tag-bindings/data/1/attributes/key',
        '/data/relationships/tags/data/1/id',
        '/data/relationships/tags/data/2',
      ].toSorted(),
    )
    for (const at of [`/workspaces/${second}`, `${path}/second`]) {
      expect(await pointersOf(client, 'PATCH', at, bad)).toEqual(
        [
          '/data/relationships/tag-bindings/data',
          name,
          description,
          '/data/relationships/project',
          '/data/relationships/tag-bindings/data/1/attributes/key',
          '/data/relationships/tags/data/2',
        ].toSorted(),
      )
    }
    expect(
      await pointersOf(client, 'PATCH', `/workspaces/${second}`, body('workspaces', { name: 'taken' })),
    ).toEqual([name])
    const kept = await client.patch(
      `/workspaces/${second}`,
      body('workspaces', { name: 'second', description: 7 }),
    )
    expect(kept.json.errors).toHaveLength(1)
  })

  test('of a workspace with too many tags leaves none of them behind', async () => {
    const { name: organization, owner } = await createTestOrganization(server)
    const path = `/organizations/${organization}/workspaces`
    const many = ['a', 'b', 'c', 'd'].map((tag) => ({ attributes: { name: tag } }))
    const sent = body('workspaces', { name: uniqueName('workspace') }, { tags: tags(...many) })
    const answer = await owner.client.post(path, sent)
    const pointer = '/data/relationships/tags/data'
    expect(answer.json.errors).toMatchObject([
      {
        detail: 'an organization may have at most 3 tags (PURSER_MAX_TAGS): delete some first',
        source: { pointer },
      },
    ])
    const fewer = body('workspaces', { name: uniqueName('workspace') }, { tags: tags(...many.slice(1)) })
    expect((await owner.client.post(path, fewer)).json.errors[0]).toMatchObject({
      detail: 'a workspace may have at most 2 tags (PURSER_MAX_WORKSPACE_TAGS)',
      source: { pointer },
    })
    expect((await owner.client.get(`/organizations/${organization}/tags`)).json.data).toEqual([])
    expect((await owner.client.get(path)).json.data).toEqual([])
  })

  test.each([
    ['teams', 3],
    ['projects', 3],
    ['workspaces', 2],
  ])('names the setting that limits the %s of an organization', async (type, most) => {
    const { name: organization, owner } = await createTestOrganization(server)
    const path = `/organizations/${organization}/${type}`
    const create = () => owner.client.post(path, body(type, { name: uniqueName('thing') }))
    const had = (await owner.client.get(path)).json.data.length as number
    for (let count = had; count < most; count++) expect((await create()).status).toBeLessThan(300)
    const answer = await create()
    expect([answer.status, answer.json.errors.map(({ detail }: Json) => detail)]).toEqual([
      422,
      [`an organization may have at most ${most} ${type} (PURSER_MAX_${type.toUpperCase()})`],
    ])
  })

  test('of a project is refused with all of them', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const path = `/organizations/${organization.name}/projects`
    await createProject(organization, { name: 'taken' })
    const second = await createProject(organization, { name: 'second' })
    const bad = body(
      'projects',
      { name: 'taken', description: 7, 'default-execution-mode': 'x' },
      { 'tag-bindings': bindings('k', 'l', 'k') },
    )
    const both = [
      name,
      description,
      '/data/attributes/default-execution-mode',
      '/data/relationships/tag-bindings/data', // one binding too many
      '/data/relationships/tag-bindings/data/2/attributes/key',
    ]
    // The third project, with the default one: one project too many.
    expect(await pointersOf(client, 'POST', path, bad)).toEqual(['/data', ...both].toSorted())
    expect(await pointersOf(client, 'PATCH', `/projects/${second}`, bad)).toEqual(both.toSorted())
    expect(
      await pointersOf(client, 'PATCH', `/projects/${second}`, body('projects', { name: 'taken' })),
    ).toEqual([name])
  })

  test('of an invitation is refused with all of them', async () => {
    const organization = await createTestOrganization(server)
    const { name: organizationName, owner } = organization
    const path = `/organizations/${organizationName}/organization-memberships`
    const full = await createTeam(organization)
    const member = await addMember(server, organization, [full])
    const teams = (...ids: string[]) => ({ teams: { data: ids.map((id) => ({ type: 'teams', id })) } })
    const unknown = teams(full, 'team-1111111111111111')
    const ofTeams = ['/data', '/data/relationships/teams/data/1/id']
    const email = '/data/attributes/email'
    for (const given of [7, 'no address', member.email.toUpperCase()]) {
      const bad = body('organization-memberships', { email: given }, unknown)
      expect(await pointersOf(owner.client, 'POST', path, bad)).toEqual([...ofTeams, email].toSorted())
    }
    const free = { email: `${uniqueName('someone')}@example.com` }
    expect(
      await pointersOf(owner.client, 'POST', path, body('organization-memberships', free, unknown)),
    ).toEqual(ofTeams)
    // One member too many, too.
    await invitePerson(organization, free)
    const bad = body('organization-memberships', { email: free.email }, unknown)
    expect(await pointersOf(owner.client, 'POST', path, bad)).toEqual(['/data', ...ofTeams, email].toSorted())
  })
})

onEachEngine('a list with many problems', { maxTeamMembers: '5' }, (server) => {
  test('is refused with all of them', async () => {
    const organization = await createTestOrganization(server)
    const { name: organizationName, owner } = organization
    const { client } = owner
    const workspace = await createWorkspace(organization)
    const project = await createProject(organization)
    const team = await createTeam(organization)
    const tagged = await client.post(
      `/workspaces/${workspace}/relationships/tags`,
      tags({ attributes: { name: 'a' } }),
    )
    expect(tagged.status).toBe(204)
    const listed = await client.get(`/organizations/${organizationName}/tags`)
    const lists: readonly (readonly [method: string, path: string, type: string, id: string])[] = [
      ['POST', `/teams/${team}/relationships/users`, 'users', 'nobody'],
      ['DELETE', `/teams/${team}/relationships/users`, 'users', 'nobody'],
      ['POST', `/teams/${team}/relationships/organization-memberships`, 'organization-memberships', 'ou-x'],
      ['POST', `/projects/${project}/relationships/workspaces`, 'workspaces', 'ws-x'],
      ['POST', `/workspaces/${workspace}/relationships/remote-state-consumers`, 'workspaces', 'ws-x'],
      ['POST', `/tags/${listed.json.data[0].id}/relationships/workspaces`, 'workspaces', 'ws-x'],
      ['DELETE', `/organizations/${organizationName}/team-tokens`, 'authentication-tokens', 'at-x'],
    ]
    for (const [method, path, type, id] of lists) {
      const sent = { data: [{ type, id }, { type }, { type: 'moons', id }, 7, { type, id }] }
      // To remove somebody who is gone is no problem.
      const unknown = method === 'DELETE' && type === 'users' ? [] : ['/data/0/id', '/data/4/id']
      const malformed = ['/data/1/id', '/data/2/type', '/data/3/id', '/data/3/type']
      expect([path, await pointersOf(client, method, path, sent)]).toEqual([
        path,
        [...malformed, ...unknown].toSorted(),
      ])
    }
    // A full team, and somebody unknown.
    for (let place = 0; place < 5; place += 1) await addMember(server, organization, [team])
    const sent = { data: [owner.username, 'nobody'].map((id) => ({ type: 'users', id })) }
    expect(await pointersOf(client, 'POST', `/teams/${team}/relationships/users`, sent)).toEqual([
      '/data',
      '/data/1/id',
    ])
  })
})

onEachEngine('a token with many problems', { maxTokens: '2' }, (server) => {
  test('is refused with all of them', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const ofTeam = `/teams/${team}/authentication-tokens`
    const ofUser = `/users/${organization.owner.id}/authentication-tokens`
    const ofOrganization = `/organizations/${organization.name}/authentication-token`
    const token = (attributes: object) => body('authentication-tokens', attributes)
    for (const description of ['taken', 'other']) {
      expect((await client.post(ofTeam, token({ description }))).status).toBe(201)
    }
    // The user has one token already.
    expect((await client.post(ofUser, token({ description: 'second' }))).status).toBe(201)
    const expiry = '/data/attributes/expired-at'
    const description = '/data/attributes/description'
    for (const when of ['tomorrow', '2000-01-01T00:00:00Z', '9999-01-01T00:00:00Z']) {
      const taken = token({ description: 'taken', 'expired-at': when })
      const wrong = token({ description: 7, 'expired-at': when })
      expect(await pointersOf(client, 'POST', ofTeam, taken)).toEqual(['/data', description, expiry])
      expect(await pointersOf(client, 'POST', ofUser, wrong)).toEqual(['/data', description, expiry])
      expect(await pointersOf(client, 'POST', ofOrganization, wrong)).toEqual([description, expiry])
    }
  })

  test('may have the description of the one that it replaces', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const path = `/teams/${await createTeam(organization)}/authentication-token`
    for (let time = 0; time < 3; time += 1) {
      const made = await client.post(path, body('authentication-tokens', { description: 'the one' }))
      expect(made.status).toBe(201)
    }
  })
})
