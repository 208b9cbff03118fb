// A create like one that was accepted lately is decided in its transaction alone. It must end as if it were the first.
import { expect, test, vi } from 'vitest'
import type { Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  made,
  uniqueName,
  type TestOrganization,
} from './support/world.ts'

const BESIDE = 6

onEachEngine('creates after an accepted one', (server) => {
  const workspacesOf = (organization: string) => `/organizations/${organization}/workspaces`

  function create(client: Client, organization: string, name = uniqueName('again')) {
    return client.post(workspacesOf(organization), body('workspaces', { name }))
  }

  /** A member who may create workspaces until their team is deleted, and has done so. */
  async function creatorOf(organization: TestOrganization) {
    const teamId = await createTeam(organization, { 'organization-access': { 'manage-workspaces': true } })
    const creator = await addMember(server, organization, [teamId])
    made(await create(creator.client, organization.name), 201)
    const loseRight = async () => made(await organization.owner.client.delete(`/teams/${teamId}`), 204)
    return { ...creator, loseRight }
  }

  async function namesIn(client: Client, organization: string): Promise<string[]> {
    const { json } = await client.get(`${workspacesOf(organization)}?page[size]=100`)
    return json.data.map((one: { attributes: { name: string } }) => one.attributes.name)
  }

  test('are refused once the right is lost, also several at once, and with any body', async () => {
    const organization = await createTestOrganization(server)
    const creator = await creatorOf(organization)
    await creator.loseRight()
    const before = await namesIn(organization.owner.client, organization.name)
    const beside = Array.from({ length: BESIDE }, () => create(creator.client, organization.name))
    const own = create(organization.owner.client, organization.name, 'own')
    const bodies = [body('workspaces', { name: 7 }), body('workspaces', { name: before[1] }), { data: [] }]
    const wrong = bodies.map((sent) => creator.client.post(workspacesOf(organization.name), sent))
    const missing = await create(creator.client, uniqueName('missing'))
    expect(missing.status).toBe(404)
    for (const { status, text } of await Promise.all([...beside, ...wrong])) {
      expect({ status, text }).toEqual({ status: 404, text: missing.text })
    }
    made(await own, 201)
    expect(await namesIn(organization.owner.client, organization.name)).toEqual([...before, 'own'].toSorted())
  })

  test('are recorded once as refusals', async () => {
    const organization = await createTestOrganization(server)
    const creator = await creatorOf(organization)
    await creator.loseRight()
    const refused = Array.from({ length: BESIDE }, () => create(creator.client, organization.name))
    await Promise.all([...refused, create(organization.owner.client, organization.name)])
    await server.app.deps.refusals.flush()
    const { json } = await organization.owner.client.get(`/organizations/${organization.name}/refusals`)
    expect(json.data.map((one: { attributes: { count: number } }) => one.attributes.count)).toEqual([BESIDE])
  })

  test('are refused once the token is revoked', async () => {
    const organization = await createTestOrganization(server)
    const path = `/users/${organization.owner.id}/authentication-tokens`
    const { id, attributes } = made(await organization.owner.client.post(path), 201).json.data
    const other = server.client(attributes.token)
    made(await create(other, organization.name), 201)
    made(await organization.owner.client.delete(`/authentication-tokens/${id}`), 204)
    const before = await namesIn(organization.owner.client, organization.name)
    for (const sent of [body('workspaces', { name: uniqueName('late') }), body('workspaces', { name: 7 })]) {
      expect((await other.post(workspacesOf(organization.name), sent)).status).toBe(401)
    }
    expect(await namesIn(organization.owner.client, organization.name)).toEqual(before)
  })

  /** Gives the name of an organization to another one. */
  async function passName(from: TestOrganization, to: TestOrganization) {
    const rename = async ({ owner, name }: TestOrganization, newName: string) =>
      made(await owner.client.patch(`/organizations/${name}`, body('organizations', { name: newName })), 200)
    await rename(from, uniqueName('renamed'))
    await rename(to, from.name)
  }

  test('go to the organization that has the name now', async () => {
    const one = await createTestOrganization(server)
    const other = await createTestOrganization(server)
    const creator = await creatorOf(one)
    made(await create(server.admin, one.name), 201)
    await passName(one, other)
    made(await create(server.admin, one.name, 'of-the-other'), 201)
    expect((await create(creator.client, one.name)).status).toBe(404)
    expect(await namesIn(other.owner.client, one.name)).toEqual(['of-the-other'])
    const { json } = await other.owner.client.get(
      `/organizations/${one.name}/audit-events?filter[action]=workspace.create`,
    )
    expect(
      json.data.map((event: { attributes: { details: { name: string } } }) => event.attributes.details.name),
    ).toEqual(['of-the-other'])
  })

  test('are 503 if the name came to mean another organization after the first decision', async () => {
    const one = await createTestOrganization(server)
    const other = await createTestOrganization(server)
    const { database } = server.app.deps
    const write = database.write.bind(database)
    vi.spyOn(database, 'write').mockImplementationOnce(async (work, options) => {
      await passName(one, other)
      return write(work, options)
    })
    const refused = await create(server.admin, one.name)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.any(String)])
    expect(refused.json.errors[0].detail).toBe('the organization was renamed meanwhile; try again')
    expect(await namesIn(other.owner.client, one.name)).toEqual([])
    made(await create(server.admin, one.name), 201)
  })

  test('name the problems of their bodies, and the next one is accepted', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    made(await create(client, organization.name, 'first'), 201)
    expect((await create(client, organization.name, 'first')).status).toBe(422)
    made(await create(client, organization.name), 201)
    const problems = await client.post(
      workspacesOf(organization.name),
      body('workspaces', { name: 7, 'execution-mode': 7 }),
    )
    expect(problems.status).toBe(422)
    expect(problems.json.errors).toHaveLength(2)
    const tried = await client.post(
      `${workspacesOf(organization.name)}?dry-run=true`,
      body('workspaces', { name: 'no' }),
    )
    expect(tried.status).not.toBe(200)
    expect(await namesIn(client, organization.name)).toHaveLength(2)
  })
})
