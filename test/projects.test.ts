import { expect, onTestFinished, test, vi } from 'vitest'
import { NOT_FOUND, type Client, type Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
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
} from './support/world.ts'

const names = (list: Response): string[] =>
  list.json.data.map((item: { attributes: { name: string } }) => item.attributes.name)

onEachEngine('projects', (server, engine) => {
  test('an owner creates, finds, changes and deletes one', async () => {
    const { name, owner } = await createTestOrganization(server)
    const path = `/organizations/${name}/projects`
    const made = await owner.client.post(
      path,
      body('projects', { name: 'Data Platform', description: 'all of it' }),
    )
    expect(made.status).toBe(201)
    const { id, attributes, relationships } = made.json.data
    expect(attributes).toMatchObject({
      name: 'Data Platform',
      description: 'all of it',
      'default-execution-mode': 'local',
      'is-unified': false,
      'setting-overwrites': { 'default-execution-mode': false, 'default-agent-pool': false },
      permissions: {
        'can-update': true,
        'can-destroy': true,
        'can-create-workspace': true,
        'can-manage-teams': true,
      },
    })
    expect(relationships.organization.data).toEqual({ id: name, type: 'organizations' })
    expect((await owner.client.get(`/projects/${id}`)).json).toEqual(made.json)
    expect(names(await owner.client.get(path))).toEqual(['Data Platform', 'Default Project'])
    expect(names(await owner.client.get(`${path}?q=A%20PLAT`))).toEqual(['Data Platform'])
    expect(names(await owner.client.get(`${path}?filter[names]=Default%20Project,None`))).toEqual([
      'Default Project',
    ])
    expect(names(await owner.client.get(`${path}?filter[names]=%00`))).toEqual([])
    const far = await owner.client.get(`${path}?page[number]=999999999999999&page[size]=100`)
    expect(far.status).toBe(200)
    // go-tfe v2 expects the page numbers of projects directly in meta.
    expect(far.json.meta).toEqual({ ...far.json.meta.pagination, pagination: far.json.meta.pagination })
    expect(far.json.meta.pagination).toMatchObject({ 'total-count': 2, 'prev-page': 1, 'next-page': null })
    expect((await owner.client.get(`/projects/${id}?include=workspaces`)).status).toBe(400)

    const changed = await owner.client.patch(
      `/projects/${id}`,
      body('projects', { name: 'Data', 'default-execution-mode': 'agent' }),
    )
    expect(changed.json.data.attributes).toMatchObject({
      name: 'Data',
      description: 'all of it',
      'default-execution-mode': 'agent',
      'setting-overwrites': { 'default-execution-mode': true },
    })
    // Each setting is stored separately: the tfe provider sends both, and fails if it reads back another value.
    for (const overwrites of [
      { 'default-execution-mode': true, 'default-agent-pool': true },
      { 'default-execution-mode': false, 'default-agent-pool': true },
      { 'default-execution-mode': false, 'default-agent-pool': false },
    ]) {
      const written = await owner.client.patch(
        `/projects/${id}`,
        body('projects', { 'setting-overwrites': overwrites }),
      )
      expect(written.json.data.attributes['setting-overwrites']).toEqual(overwrites)
      const read = await owner.client.get(`/projects/${id}`)
      expect(read.json.data.attributes['setting-overwrites']).toEqual(overwrites)
    }
    expect((await owner.client.delete(`/projects/${id}`)).status).toBe(204)
    expect((await owner.client.get(`/projects/${id}`)).text).toBe(NOT_FOUND)
  })

  test('names have 3 to 40 characters and are unique; the default project and one with workspaces stay', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const path = `/organizations/${name}/projects`
    for (const bad of ['ab', 'x'.repeat(41), ' ab', 'ab ', 'a/b', 'Default Project', undefined]) {
      const answer = await owner.client.post(path, body('projects', { name: bad }))
      expect(answer.status).toBe(422)
      expect(answer.json.errors[0].source.pointer).toBe('/data/attributes/name')
    }
    const list = await owner.client.get(path)
    const main = list.json.data[0]
    expect(main.attributes.permissions['can-destroy']).toBe(false)
    expect((await owner.client.delete(`/projects/${main.id}`)).status).toBe(422)

    const id = await createProject(organization, { name: 'x'.repeat(40) })
    const taken = await owner.client.patch(`/projects/${id}`, body('projects', { name: 'Default Project' }))
    expect(taken.status).toBe(422)
    const workspace = await createWorkspace(organization, {}, inProject(id))
    expect((await owner.client.delete(`/projects/${id}`)).status).toBe(409)
    const moved = await owner.client.patch(
      `/workspaces/${workspace}`,
      body('workspaces', {}, inProject(main.id)),
    )
    expect(moved.json.data.relationships.project.data.id).toBe(main.id)
    expect((await owner.client.delete(`/projects/${id}`)).status).toBe(204)
  })

  test('a member sees the projects of the workspaces that their teams see, and may change none', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const seen = await createProject(organization, { name: 'seen' })
    const hidden = await createProject(organization, { name: 'hidden' })
    const workspace = await createWorkspace(organization, {}, inProject(seen))
    const team = await createTeam(organization)
    await grantWorkspace(organization, team, workspace, { access: 'admin' })
    const { client } = await addMember(server, organization, [team])
    const list = await client.get(`/organizations/${name}/projects`)
    expect(names(list)).toEqual(['seen'])
    expect(list.json.data[0]).toEqual((await client.get(`/projects/${seen}`)).json.data)
    expect(list.json.data[0].attributes.permissions).toMatchObject({
      'can-update': false,
      'can-destroy': false,
      'can-create-workspace': false,
      'can-manage-teams': false,
    })
    for (const answer of [
      await client.get(`/projects/${hidden}`),
      await client.patch(`/projects/${seen}`, body('projects', { name: 'mine' })),
      await client.delete(`/projects/${seen}`),
      await client.post(`/organizations/${name}/projects`, body('projects', { name: 'mine' })),
      await client.post(
        `/organizations/${name}/workspaces`,
        body('workspaces', { name: 'mine' }, inProject(seen)),
      ),
      await (await addMember(server, organization)).client.get(`/organizations/${name}/projects`),
    ]) {
      expect(answer.text).toBe(NOT_FOUND)
    }
    // The administrator of a workspace may not move it to a project where they may not create workspaces.
    for (const id of [hidden, 'prj-1111111111111111']) {
      const answer = await client.patch(`/workspaces/${workspace}`, body('workspaces', {}, inProject(id)))
      expect(answer.status).toBe(422)
      expect(answer.json.errors[0].source.pointer).toBe('/data/relationships/project')
    }
    expect((await owner.client.get(`/workspaces/${workspace}`)).json.data.relationships.project.data.id).toBe(
      seen,
    )
  })

  test('a list for someone with grants is a slow read on SQLite if there are very many workspaces', async () => {
    const organization = await createTestOrganization(server)
    const { database } = server.app.deps
    const [team, project] = [await createTeam(organization), await createProject(organization)]
    await grantProject(organization, team, project, { access: 'read' })
    const member = await addMember(server, organization, [team])
    await createWorkspace(organization)
    // Triggers keep this number, and a read goes by it.
    await database.write(({ db }) =>
      db
        .updateTable('workspace_versions')
        .set({ count: 501 })
        .where('organization_id', '=', organization.id)
        .execute(),
    )
    const reads = vi.spyOn(database, 'read')
    onTestFinished(() => reads.mockRestore())
    const slowReadsOf = async (client: Client): Promise<number> => {
      reads.mockClear()
      expect((await client.get(`/organizations/${organization.name}/projects`)).status).toBe(200)
      return reads.mock.calls.filter(([, options]) => options?.isSlow === true).length
    }
    expect(await slowReadsOf(member.client)).toBe(engine === 'sqlite' ? 1 : 0)
    expect(await slowReadsOf(organization.owner.client)).toBe(0)
  })
})
