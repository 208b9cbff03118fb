import { expect, test } from 'vitest'
import type { Client, Json } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import type { TestServer } from './support/server.ts'
import {
  addMember,
  body,
  createProject,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantProject,
  grantWorkspace,
  inProject,
  uniqueName,
  type TestOrganization,
} from './support/world.ts'

const named = (ids: readonly string[]) => ({ data: ids.map((id) => ({ type: 'workspaces', id })) })

/** A project's number of workspaces, which every answer that has it must agree on. */
async function countOf(client: Client, { name }: TestOrganization, project: string): Promise<number> {
  const list = `/organizations/${name}/workspaces`
  const ofProject = `${list}?filter[project][id]=${project}`
  const shown = (await client.get(`/projects/${project}`)).json.data
  const projects = (await client.get(`/organizations/${name}/projects?page[size]=100`)).json.data
  expect(projects.find(({ id }: Json) => id === project)).toEqual(shown)
  const all = (await client.get(`${ofProject}&page[size]=100&include=project`)).json
  const count = all.data.length
  expect(shown.attributes['workspace-count']).toBe(count)
  expect(all.included ?? []).toEqual(count === 0 ? [] : [shown])
  const sorted = (await client.get(`${ofProject}&sort=-name&page[size]=1`)).json
  // Every name contains this, and only a search counts the rows.
  const searched = (await client.get(`${ofProject}&search[name]=-`)).json
  for (const { meta } of [all, sorted, searched]) expect(meta.pagination['total-count']).toBe(count)
  return count
}

/** Writes another count for the project beside the server. Who reads it counts no workspaces. */
const keep = (server: TestServer, project: string, count: number) =>
  server.app.deps.database.write(({ db }) =>
    db.updateTable('workspace_counts').set({ count }).where('project_id', '=', project).execute(),
  )

const keptRows = (server: TestServer, project: string) =>
  server.app.deps.database.read(({ db }) =>
    db.selectFrom('workspace_counts').where('project_id', '=', project).selectAll().execute(),
  )

onEachEngine('the number of workspaces', { maxWorkspaces: '5' }, (server) => {
  test('of a project is exact after each change, for each who sees some', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const [from, to] = [await createProject(organization), await createProject(organization)]
    const [ofProject, ofWorkspace] = [await createTeam(organization), await createTeam(organization)]
    const inBoth = (await addMember(server, organization, [ofProject, ofWorkspace])).client
    const inOne = (await addMember(server, organization, [ofWorkspace])).client
    await grantProject(organization, ofProject, from, { access: 'read' })
    const counts = async (project: string, who: readonly Client[]) => {
      const seen: number[] = []
      for (const each of who) seen.push(await countOf(each, organization, project))
      return seen
    }
    expect(await counts(from, [client, inBoth])).toEqual([0, 0])
    const ids: string[] = []
    for (let made = 0; made < 4; made++) ids.push(await createWorkspace(organization, {}, inProject(from)))
    const [first, second, third] = ids as [string, string, string, string]
    await grantWorkspace(organization, ofWorkspace, first, { access: 'read' })
    expect(await counts(from, [client, inBoth, inOne])).toEqual([4, 4, 1])

    const path = `/projects/${to}/relationships/workspaces`
    expect((await client.post(`${path}?dry-run=true`, named([first, second]))).status).toBe(200)
    expect((await client.delete(`/workspaces/${first}?dry-run=true`)).status).toBe(200)
    const refused = body('workspaces', { name: 'a b' }, inProject(from))
    expect((await client.post(`/organizations/${organization.name}/workspaces`, refused)).status).toBe(422)
    expect((await client.post(path, named([second, 'ws-1111111111111111']))).status).toBe(422)
    expect(await counts(from, [client, inBoth, inOne])).toEqual([4, 4, 1])

    expect((await client.post(path, named([first, second, first]))).status).toBe(204)
    expect(await counts(from, [client, inBoth])).toEqual([2, 2])
    expect(await counts(to, [client, inBoth, inOne])).toEqual([2, 1, 1])
    const back = body('workspaces', { description: 'back' }, inProject(from))
    expect((await client.patch(`/workspaces/${second}`, back)).status).toBe(200)
    expect((await client.patch(`/workspaces/${second}`, back)).status).toBe(200)
    expect((await client.delete(`/workspaces/${third}`)).status).toBe(204)
    expect(await counts(from, [client, inBoth])).toEqual([2, 2])
    expect(await counts(to, [client, inBoth, inOne])).toEqual([1, 1, 1])
    expect((await client.delete(`/workspaces/${first}`)).status).toBe(204)
    expect(await counts(to, [client])).toEqual([0])
    expect(await keptRows(server, to)).toHaveLength(1)
    expect((await client.delete(`/projects/${to}`)).status).toBe(204)
    expect(await keptRows(server, to)).toEqual([])
  })

  test('is exact after changes at the same time, in both directions', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const projects = [await createProject(organization), await createProject(organization)] as const
    const ids: string[] = []
    for (const project of [...projects, ...projects])
      ids.push(await createWorkspace(organization, {}, inProject(project)))
    for (let round = 0; round < 5; round++) {
      const moves = ids.map((id, place) => {
        const project = projects[(round + place + (place >> 1)) % 2] as string
        return place < 2
          ? client.patch(`/workspaces/${id}`, body('workspaces', {}, inProject(project)))
          : client.post(`/projects/${project}/relationships/workspaces`, named([id]))
      })
      const name = uniqueName('brief')
      const path = `/organizations/${organization.name}/workspaces`
      const create = client.post(path, body('workspaces', { name }, inProject(projects[0])))
      for (const { status } of await Promise.all([...moves, create])) expect(status).toBeLessThan(300)
      const counts = [
        await countOf(client, organization, projects[0]),
        await countOf(client, organization, projects[1]),
      ]
      expect(counts[0] as number).toBeGreaterThan(0)
      expect((counts[0] as number) + (counts[1] as number)).toBe(5)
      expect((await client.delete(`${path}/${name}`)).status).toBe(204)
    }
  })

  test('of a project is read where it is kept, by all who see all of them', async () => {
    const organization = await createTestOrganization(server)
    const project = await createProject(organization)
    const workspace = await createWorkspace(organization, {}, inProject(project))
    await createWorkspace(organization, {}, inProject(project))
    const [ofProject, ofWorkspace] = [await createTeam(organization), await createTeam(organization)]
    await grantProject(organization, ofProject, project, { access: 'read' })
    await grantWorkspace(organization, ofWorkspace, workspace, { access: 'read' })
    const reader = (await addMember(server, organization, [ofProject, ofWorkspace])).client
    const other = (await addMember(server, organization, [ofWorkspace])).client
    await keep(server, project, 100_000)
    const list = `/organizations/${organization.name}/workspaces`
    for (const [client, count] of [
      [organization.owner.client, 100_000],
      [reader, 100_000],
      [other, 1],
    ] as const) {
      const shown = await client.get(`/projects/${project}`)
      expect(shown.json.data.attributes['workspace-count']).toBe(count)
      const included = await client.get(`${list}?include=project`)
      expect(included.json.included).toEqual([shown.json.data])
      const filtered = await client.get(`${list}?filter[project][id]=${project}`)
      expect(filtered.json.meta.pagination['total-count']).toBe(count)
    }
    // A project of another organization has no workspaces here.
    const { owner, name } = await createTestOrganization(server)
    const none = await owner.client.get(`/organizations/${name}/workspaces?filter[project][id]=${project}`)
    expect([none.json.data, none.json.meta.pagination['total-count']]).toEqual([[], 0])
  })

  test('of an organization is limited by the number that is kept', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const path = `/organizations/${organization.name}/workspaces`
    const create = () => client.post(path, body('workspaces', { name: uniqueName('workspace') }))
    const answers = await Promise.all(Array.from({ length: 8 }, create))
    const made = answers.filter(({ status }) => status === 201)
    const refused = answers.filter(({ status }) => status === 422)
    expect([made.length, refused.length]).toEqual([5, 3])
    expect(
      (await client.delete(`${path}/${(await client.get(path)).json.data[0].attributes.name}`)).status,
    ).toBe(204)
    expect((await create()).status).toBe(201)
    expect((await create()).status).toBe(422)
    await server.app.deps.database.write(({ db }) =>
      db
        .updateTable('workspace_versions')
        .set({ count: 4 })
        .where('organization_id', '=', organization.id)
        .execute(),
    )
    expect((await create()).status).toBe(201)
  })
})
