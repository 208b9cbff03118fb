import { expect, test, vi } from 'vitest'
import { onEachEngine } from './support/on-each-engine.ts'
import type { TestServer } from './support/server.ts'
import { body, createTestOrganization, uniqueName, type TestOrganization } from './support/world.ts'

const listOf = ({ name }: TestOrganization) => `/organizations/${name}/projects`
const totalOf = async (organization: TestOrganization, query = '') =>
  (await organization.owner.client.get(listOf(organization) + query)).json.meta.pagination['total-count']

function create(organization: TestOrganization) {
  return organization.owner.client.post(
    listOf(organization),
    body('projects', { name: uniqueName('project') }),
  )
}

/** The number of projects, which the list reads where it is kept, and a search counts. */
async function countOf(organization: TestOrganization): Promise<number> {
  const kept = await totalOf(organization)
  // All names contain this.
  expect(await totalOf(organization, '?q=project')).toBe(kept)
  return kept
}

/** Writes another count beside the server. Who reads it counts no projects. */
const keep = (server: TestServer, { id }: TestOrganization, count: number) =>
  server.app.deps.database.write(({ db }) =>
    db.updateTable('project_counts').set({ count }).where('organization_id', '=', id).execute(),
  )

onEachEngine('the number of projects', { maxProjects: '6' }, (server) => {
  test('of an organization is exact after each change', async () => {
    const organization = await createTestOrganization(server)
    // The default project.
    expect(await countOf(organization)).toBe(1)
    const made = [await create(organization), await create(organization)]
    for (const { status, text } of made) expect(status, text).toBe(201)
    expect(await countOf(organization)).toBe(3)
    const path = `/projects/${made[0]?.json.data.id}`
    const renamed = body('projects', { name: uniqueName('project') })
    expect((await organization.owner.client.patch(path, renamed)).status).toBe(200)
    expect(await countOf(organization)).toBe(3)
    expect((await organization.owner.client.delete(path)).status).toBe(204)
    expect(await countOf(organization)).toBe(2)
  })

  test('is gone when the organization is deleted', async () => {
    const organization = await createTestOrganization(server)
    const kept = () =>
      server.app.deps.database.read(({ db }) =>
        db.selectFrom('project_counts').where('organization_id', '=', organization.id).selectAll().execute(),
      )
    expect(await kept()).toHaveLength(1)
    expect((await organization.owner.client.delete(`/organizations/${organization.name}`)).status).toBe(204)
    // Its rows are deleted in the background.
    await vi.waitUntil(async () => (await kept()).length === 0, { timeout: 20_000, interval: 100 })
  })

  test('of an organization is limited, however many are created at once', async () => {
    const organization = await createTestOrganization(server)
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(organization)))
    const made = answers.filter(({ status }) => status === 201)
    expect([made.length, answers.filter(({ status }) => status === 422).length]).toEqual([5, 3])
    expect(await countOf(organization)).toBe(6)
    const { client } = organization.owner
    expect((await client.delete(`/projects/${made[0]?.json.data.id}`)).status).toBe(204)
    expect((await create(organization)).status).toBe(201)
    expect((await create(organization)).status).toBe(422)
  })

  test('of an organization is read where it is kept', async () => {
    const organization = await createTestOrganization(server)
    await keep(server, organization, 6)
    expect(await totalOf(organization)).toBe(6)
    expect(await totalOf(organization, '?q=project')).toBe(1)
    expect((await create(organization)).status).toBe(422)
    await keep(server, organization, 5)
    expect((await create(organization)).status).toBe(201)
  })
})

onEachEngine('pages of projects', {}, (server) => {
  test('are the same from both ends of the list', async () => {
    const organization = await createTestOrganization(server)
    for (let made = 0; made < 6; made++) expect((await create(organization)).status).toBe(201)
    const { client } = organization.owner
    const namesOf = async (query: string): Promise<string[]> =>
      (await client.get(`${listOf(organization)}?${query}`)).json.data.map(
        ({ attributes }: { attributes: { name: string } }) => attributes.name,
      )
    for (const sort of ['name', '-name']) {
      const all = await namesOf(`sort=${sort}`)
      expect(all).toHaveLength(7)
      for (const number of [1, 2, 3, 4, 5]) {
        const page = await namesOf(`sort=${sort}&page[number]=${number}&page[size]=2`)
        expect(page).toEqual(all.slice((number - 1) * 2, number * 2))
      }
    }
    expect(await namesOf('sort=-name')).toEqual((await namesOf('sort=name')).toReversed())
  })
})
