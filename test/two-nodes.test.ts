import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines } from './support/engines.ts'
import { startNode, startServer, type TestServer } from './support/server.ts'
import { createState } from './support/states.ts'
import { addMember, body, createTeam, createTestOrganization, grantWorkspace } from './support/world.ts'
import type { Client } from './support/client.ts'

// On SQLite the nodes are two workers of one server.
describe.each(engines)('two nodes on one %s database', (engine) => {
  let first: TestServer
  let second: TestServer
  beforeAll(async () => {
    first = await startServer(engine)
    second = await startNode(first)
  })
  afterAll(async () => {
    await second.stop()
    await first.stop()
  })

  const onSecond = (client: Client) => second.client(client.token)

  /** A member and the token of a team, who may read the states of a workspace. */
  async function shared() {
    const organization = await createTestOrganization(first)
    const owner = organization.owner.client
    const team = await createTeam(organization)
    const member = await addMember(first, organization, [team])
    const { workspaceId } = await createState(organization, '{"a": {"value": 1, "type": "number"}}')
    const workspaceGrant = await grantWorkspace(organization, team, workspaceId, { access: 'read' })
    const { json } = await owner.post(`/teams/${team}/authentication-token`)
    const teamToken: string = json.data.attributes.token
    return { organization: organization.name, owner, team, member, workspaceId, workspaceGrant, teamToken }
  }
  type Shared = Awaited<ReturnType<typeof shared>>

  test('what one writes, the other answers with on the next request', async () => {
    const organization = await createTestOrganization(first)
    const { client } = organization.owner
    const path = `/organizations/${organization.name}/teams`
    expect((await onSecond(client).get(path)).json.data).toHaveLength(1)
    const id = await createTeam(organization, { name: 'alpha' })
    expect((await onSecond(client).get(path)).json.data).toHaveLength(2)
    expect((await onSecond(client).get(`/teams/${id}`)).json.data.attributes.visibility).toBe('secret')
    await client.patch(`/teams/${id}`, body('teams', { visibility: 'organization' }))
    expect((await onSecond(client).get(`/teams/${id}`)).json.data.attributes.visibility).toBe('organization')
    const { workspaceId } = await createState(organization, '{"a": {"value": 1, "type": "number"}}')
    const outputs = await onSecond(client).get(`/workspaces/${workspaceId}/current-state-version-outputs`)
    expect(outputs.json.data[0].attributes.value).toBe(1)
  })

  test('what one takes away, the other refuses on the next request', async () => {
    const organization = await createTestOrganization(first)
    const id = await createTeam(organization)
    const member = await addMember(first, organization, [id])
    const there = onSecond(member.client)
    expect((await there.get(`/teams/${id}`)).status).toBe(200)
    const members = { data: [{ type: 'users', id: member.username }] }
    expect((await organization.owner.client.delete(`/teams/${id}/relationships/users`, members)).status).toBe(
      204,
    )
    expect((await there.get(`/teams/${id}`)).status).toBe(404)
    expect((await there.get(`/organizations/${organization.name}`)).status).toBe(200)
    expect((await first.admin.post(`/admin/users/${member.id}/actions/suspend`)).status).toBe(200)
    expect((await there.get(`/organizations/${organization.name}`)).status).toBe(401)
  })

  test.each<{ what: string; take: (world: Shared) => ReturnType<Client['get']>; after: number }>([
    {
      what: 'a grant of a team on a workspace',
      take: ({ owner, workspaceGrant }) => owner.delete(`/team-workspaces/${workspaceGrant}`),
      after: 404,
    },
    {
      what: 'the level of a grant',
      take: ({ owner, workspaceGrant }) =>
        owner.patch(
          `/team-workspaces/${workspaceGrant}`,
          body('team-workspaces', { access: 'custom', 'state-versions': 'none' }),
        ),
      after: 404,
    },
    {
      what: 'a team of a member',
      take: ({ owner, team }) => owner.delete(`/teams/${team}`),
      after: 404,
    },
    {
      what: 'a membership',
      take: ({ owner, member }) => owner.delete(`/organization-memberships/${member.membershipId}`),
      after: 404,
    },
    {
      what: 'a token',
      take: ({ owner, team }) => owner.delete(`/teams/${team}/authentication-token`),
      after: 401,
    },
    {
      what: 'the tokens of an organization',
      take: ({ owner, organization }) => owner.delete(`/organizations/${organization}`),
      after: 401,
    },
  ])('the second refuses at once what the first took away: $what', async ({ take, after }) => {
    const world = await shared()
    const there = second.client(after === 401 ? world.teamToken : world.member.client.token)
    const path = `/workspaces/${world.workspaceId}/current-state-version`
    for (let n = 0; n < 4; n++) expect((await there.get(path)).status).toBe(200)
    expect((await take(world)).status).toBeLessThan(300)
    expect((await there.get(path)).status).toBe(after)
  })

  test('the second refuses at once a lowered permission of a team, and shows no team that became secret', async () => {
    const organization = await createTestOrganization(first)
    const { client } = organization.owner
    const id = await createTeam(organization, {
      visibility: 'organization',
      'organization-access': { 'read-workspaces': true },
    })
    const there = onSecond((await addMember(first, organization, [id])).client)
    const other = onSecond((await addMember(first, organization)).client)
    const { workspaceId } = await createState(organization, '{}')
    const path = `/workspaces/${workspaceId}/current-state-version`
    for (let n = 0; n < 4; n++) {
      expect((await there.get(path)).status).toBe(200)
      expect((await other.get(`/teams/${id}`)).status).toBe(200)
    }
    const lowered = { visibility: 'secret', 'organization-access': { 'read-workspaces': false } }
    expect((await client.patch(`/teams/${id}`, body('teams', lowered))).status).toBe(200)
    expect((await there.get(path)).status).toBe(404)
    expect((await other.get(`/teams/${id}`)).status).toBe(404)
  })

  test('writes of both to one organization follow each other: none is lost', async () => {
    const organization = await createTestOrganization(first)
    const path = `/organizations/${organization.name}/teams`
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        (n % 2 === 0 ? organization.owner.client : onSecond(organization.owner.client)).post(
          path,
          body('teams', { name: `team-${Math.floor(n / 2)}` }),
        ),
      ),
    )
    expect(made.filter(({ status }) => status === 200)).toHaveLength(20)
    expect(made.filter(({ status }) => status === 422)).toHaveLength(20)
    const list = await onSecond(organization.owner.client).get(`${path}?page[size]=100`)
    expect(list.json.meta.pagination['total-count']).toBe(21)
    expect(list.json.data).toHaveLength(21)
  })
})
