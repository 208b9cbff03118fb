import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines } from './support/engines.ts'
import { startServer, type TestServer } from './support/server.ts'
import { addMember, createTestOrganization } from './support/world.ts'

describe.each(engines)('teams on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(engine)
  })
  afterAll(() => server.stop())

  const team = (attributes: object) => ({ data: { type: 'teams', attributes } })

  test('an owner creates a team, secret and without flags unless told otherwise, and finds it in the list', async () => {
    const { name, owner } = await createTestOrganization(server)
    const made = await owner.client.post(`/organizations/${name}/teams`, team({ name: 'platform' }))
    expect(made.status).toBe(200)
    expect(made.json.data.attributes).toMatchObject({
      name: 'platform',
      visibility: 'secret',
      'users-count': 0,
    })
    expect(Object.keys(made.json.data.attributes['organization-access'])).toHaveLength(14)
    const list = await owner.client.get(`/organizations/${name}/teams`)
    expect(list.status).toBe(200)
    expect(list.json.data.map((item: never) => item['attributes']['name'])).toEqual(['owners', 'platform'])
    expect(list.json.meta.pagination['total-count']).toBe(2)
    const shown = await owner.client.get(`/teams/${made.json.data.id}`)
    expect(shown.json.data).toEqual(made.json.data)
  })

  test('a member sees open teams and not secret ones', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const member = await addMember(server, organization)
    await owner.client.post(
      `/organizations/${name}/teams`,
      team({ name: 'open', visibility: 'organization' }),
    )
    const secret = await owner.client.post(`/organizations/${name}/teams`, team({ name: 'hidden' }))
    const list = await member.client.get(`/organizations/${name}/teams`)
    expect(list.json.data.map((item: never) => item['attributes']['name'])).toEqual(['open'])
    const hidden = await member.client.get(`/teams/${secret.json.data.id}`)
    const missing = await member.client.get('/teams/team-1111111111111111')
    expect(hidden.status).toBe(404)
    expect(hidden.text).toBe(missing.text)
    expect(hidden.text).toBe('{"errors":[{"status":"404","title":"not found"}]}')
  })

  test('update merges, delete answers 204, q finds parts of names', async () => {
    const { name, owner } = await createTestOrganization(server)
    const made = await owner.client.post(`/organizations/${name}/teams`, team({ name: 'alpha-team' }))
    const id = made.json.data.id
    const changed = await owner.client.patch(
      `/teams/${id}`,
      team({ 'organization-access': { 'manage-projects': true } }),
    )
    expect(changed.json.data.attributes['organization-access']).toMatchObject({
      'manage-projects': true,
      'manage-workspaces': true,
      'read-workspaces': true,
    })
    const refused = await owner.client.patch(
      `/teams/${id}`,
      team({ 'organization-access': { 'manage-workspaces': false } }),
    )
    expect(refused.status).toBe(422)
    expect(refused.json.errors[0].source.pointer).toBe(
      '/data/attributes/organization-access/manage-workspaces',
    )
    const found = await owner.client.get(`/organizations/${name}/teams?q=PHA-T`)
    expect(found.json.data).toHaveLength(1)
    expect((await owner.client.get(`/organizations/${name}/teams?q=ph`)).json.data).toHaveLength(1)
    expect((await owner.client.delete(`/teams/${id}`)).status).toBe(204)
    expect((await owner.client.get(`/teams/${id}`)).status).toBe(404)
  })
})
