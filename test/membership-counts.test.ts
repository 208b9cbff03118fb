import { expect, test } from 'vitest'
import { onEachEngine } from './support/on-each-engine.ts'
import type { TestServer } from './support/server.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createUser,
  invitePerson,
  uniqueName,
  type TestOrganization,
} from './support/world.ts'

const listOf = ({ name }: TestOrganization) => `/organizations/${name}/organization-memberships`
const invitation = (email: string) => body('organization-memberships', { email })
const totalOf = async (organization: TestOrganization, query = '') =>
  (await organization.owner.client.get(listOf(organization) + query)).json.meta.pagination['total-count']

/** The number of people, which the list reads where it is kept, and a search counts. */
async function countOf(organization: TestOrganization): Promise<number> {
  const kept = await totalOf(organization)
  // Every address contains this.
  expect(await totalOf(organization, '?q=@')).toBe(kept)
  return kept
}

/** Writes another count beside the server. Who reads it counts no memberships. */
const keep = (server: TestServer, { id }: TestOrganization, count: number) =>
  server.app.deps.database.write(({ db }) =>
    db.updateTable('membership_counts').set({ count }).where('organization_id', '=', id).execute(),
  )

onEachEngine('the number of people', { maxMembers: '6' }, (server) => {
  test('of an organization is exact after each change, without service accounts', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const path = listOf(organization)
    expect(await countOf(organization)).toBe(1)
    const team = await createTeam(organization)
    const member = await addMember(server, organization, [team])
    const invited = await invitePerson(organization, await createUser(server))
    const nobody = await client.post(path, invitation(`${uniqueName('nobody')}@example.com`))
    expect(nobody.status).toBe(201)
    expect(await countOf(organization)).toBe(4)

    expect((await client.post(`/teams/${team}/authentication-token`)).status).toBe(201)
    expect((await client.post(path, invitation(member.email))).status).toBe(422)
    expect(await countOf(organization)).toBe(4)

    expect((await client.delete(`/organization-memberships/${invited}`)).status).toBe(204)
    expect(await countOf(organization)).toBe(3)
    expect((await client.delete(`/organization-memberships/${nobody.json.data.id}`)).status).toBe(204)
    expect((await client.delete(`/teams/${team}`)).status).toBe(204)
    expect((await server.admin.delete(`/admin/users/${member.id}`)).status).toBe(204)
    expect(await countOf(organization)).toBe(1)
  })

  test('of many organizations is exact when several of their people are deleted at once', async () => {
    const organizations: TestOrganization[] = []
    for (let made = 0; made < 4; made++) organizations.push(await createTestOrganization(server))
    for (let round = 0; round < 3; round++) {
      const people = [await createUser(server), await createUser(server), await createUser(server)]
      for (const [place, person] of people.entries()) {
        const inOrder = place % 2 === 0 ? organizations : organizations.toReversed()
        for (const organization of inOrder) await invitePerson(organization, person)
      }
      for (const organization of organizations) expect(await countOf(organization)).toBe(4)
      const deletions = people.map(({ id }) => server.admin.delete(`/admin/users/${id}`))
      for (const { status, text } of await Promise.all(deletions)) expect(status, text).toBe(204)
      for (const organization of organizations) expect(await countOf(organization)).toBe(1)
    }
  })

  test('of an organization is limited, however many are invited at once', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const invite = () => client.post(listOf(organization), invitation(`${uniqueName('new')}@example.com`))
    const answers = await Promise.all(Array.from({ length: 8 }, invite))
    const made = answers.filter(({ status }) => status === 201)
    expect([made.length, answers.filter(({ status }) => status === 422).length]).toEqual([5, 3])
    expect(await countOf(organization)).toBe(6)
    const path = `/organization-memberships/${made[0]?.json.data.id}`
    expect((await client.delete(path)).status).toBe(204)
    expect((await invite()).status).toBe(201)
    expect((await invite()).status).toBe(422)
  })

  test('of an organization is read where it is kept', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    await keep(server, organization, 6)
    expect(await totalOf(organization)).toBe(6)
    expect(await totalOf(organization, '?q=@')).toBe(1)
    const invite = () => client.post(listOf(organization), invitation(`${uniqueName('new')}@example.com`))
    expect((await invite()).status).toBe(422)
    await keep(server, organization, 5)
    expect((await invite()).status).toBe(201)
  })
})
