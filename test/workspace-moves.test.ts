import { NOT_FOUND } from './support/client.ts'
import { expect, test } from 'vitest'
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

const ids = (...all: string[]) => ({ data: all.map((id) => ({ type: 'workspaces', id })) })
onEachEngine('moving workspaces', (server) => {
  test('many move at once, or none; who sees them changes with the next request', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const [from, to] = [await createProject(organization), await createProject(organization)]
    const a = await createWorkspace(organization, { name: 'a' }, inProject(from))
    const b = await createWorkspace(organization, { name: 'b' }, inProject(to))
    const team = await createTeam(organization)
    await grantProject(organization, team, to, { access: 'read' })
    const member = (await addMember(server, organization, [team])).client
    expect((await member.get(`/workspaces/${a}`)).text).toBe(NOT_FOUND)
    const projectOf = async (id: string) =>
      (await client.get(`/workspaces/${id}`)).json.data.relationships.project.data.id

    const path = `/projects/${to}/relationships/workspaces`
    const foreign = await createWorkspace(await createTestOrganization(server))
    for (const unknown of [foreign, 'ws-1111111111111111', 'x']) {
      const refused = await client.post(path, ids(a, unknown))
      expect(refused.status).toBe(422)
      expect(refused.json.errors).toMatchObject([
        {
          detail: 'id does not name a workspace of the organization that you can manage',
          source: { pointer: '/data/1/id' },
        },
      ])
    }
    expect((await client.post(path, { data: [] })).status).toBe(422)
    expect(await projectOf(a)).toBe(from)
    const moved = await client.post(path, ids(a, b, a))
    expect([moved.status, moved.text]).toEqual([204, ''])
    expect([await projectOf(a), await projectOf(b)]).toEqual([to, to])
    expect((await member.get(`/workspaces/${a}`)).status).toBe(200)
    expect((await client.delete(`/projects/${from}`)).status).toBe(204)
    expect((await client.post(`/projects/${from}/relationships/workspaces`, ids(a))).text).toBe(NOT_FOUND)
    const kept = await client.delete(`/projects/${to}`)
    expect(kept.status).toBe(409)
    expect(kept.json.errors[0].detail).toContain('holds workspaces')
  })

  test('it takes the right to create workspaces there and to manage each that moves', async () => {
    const organization = await createTestOrganization(server)
    const [from, to] = [await createProject(organization), await createProject(organization)]
    const mine = await createWorkspace(organization, {}, inProject(from))
    const readable = await createWorkspace(organization, {}, inProject(from))
    const hidden = await createWorkspace(organization, {}, inProject(from))
    const team = await createTeam(organization)
    await grantProject(organization, team, to, {
      access: 'custom',
      'workspace-access': { create: true },
    })
    await grantWorkspace(organization, team, mine, { access: 'admin' })
    await grantWorkspace(organization, team, readable, { access: 'write' })
    const { client } = await addMember(server, organization, [team])
    const path = `/projects/${to}/relationships/workspaces`
    const texts = new Set<string>()
    for (const other of [readable, hidden, 'ws-1111111111111111']) {
      const refused = await client.post(path, ids(mine, other))
      expect(refused.status).toBe(422)
      texts.add(refused.text)
    }
    expect(texts.size).toBe(1)
    // A caller who may only see a project may not move workspaces into it.
    expect((await client.post(`/projects/${from}/relationships/workspaces`, ids(mine))).text).toBe(NOT_FOUND)
    expect((await client.post(path, ids(mine))).status).toBe(204)
    const readers = await createTeam(organization)
    await grantProject(organization, readers, to, { access: 'write' })
    const reader = (await addMember(server, organization, [readers])).client
    expect((await reader.post(path, ids(mine))).text).toBe(NOT_FOUND)
  })

  test("a workspace takes its project's execution mode, unless it has its own", async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const agents = await createProject(organization, { 'default-execution-mode': 'agent' })
    const plain = await createProject(organization)
    const id = await createWorkspace(organization, { name: 'a' }, inProject(plain))
    const mode = async () => {
      const shown = (await client.get(`/workspaces/${id}`)).json.data
      const list = await client.get(`/organizations/${organization.name}/workspaces`)
      expect(list.json.data).toEqual([shown])
      const { attributes } = shown
      expect(attributes.operations).toBe(attributes['execution-mode'] !== 'local')
      return [attributes['execution-mode'], attributes['setting-overwrites']['execution-mode']]
    }
    expect(await mode()).toEqual(['local', false])
    await client.post(`/projects/${agents}/relationships/workspaces`, ids(id))
    expect(await mode()).toEqual(['agent', false])
    await client.patch(`/projects/${agents}`, body('projects', { 'default-execution-mode': 'remote' }))
    expect(await mode()).toEqual(['remote', false])
    await client.patch(`/workspaces/${id}`, body('workspaces', { 'execution-mode': 'local' }))
    expect(await mode()).toEqual(['local', true])
    await client.patch(
      `/workspaces/${id}`,
      body('workspaces', { 'setting-overwrites': { 'execution-mode': false } }),
    )
    expect(await mode()).toEqual(['remote', false])
    await client.patch(
      `/projects/${agents}`,
      body('projects', { 'setting-overwrites': { 'default-execution-mode': false } }),
    )
    await client.request(
      'PUT',
      `/organizations/${organization.name}`,
      body('organizations', { 'default-execution-mode': 'agent' }),
    )
    expect(await mode()).toEqual(['agent', false])
    expect((await client.get(`/projects/${plain}`)).json.data.attributes).toMatchObject({
      'default-execution-mode': 'agent',
      'setting-overwrites': { 'default-execution-mode': false },
    })
  })
})
