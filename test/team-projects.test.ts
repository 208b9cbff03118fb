import { expect, test } from 'vitest'
import { NOT_FOUND, type Client, type Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  body,
  createProject,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantBody,
  grantProject,
  grantWorkspace,
  inProject,
  uniqueName,
} from './support/world.ts'

const pointers = (response: Response): string[] =>
  response.json.errors.map((error: { source: { pointer: string } }) => error.source.pointer).sort()

onEachEngine('team access to a project', (server) => {
  test('fixed levels take empty details and show what they stand for; custom access merges', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const project = await createProject(organization)
    const team = await createTeam(organization)
    const empty = { 'project-access': {}, 'workspace-access': {} }
    const made = await client.post(
      '/team-projects',
      grantBody(team, 'project', project, { access: 'maintain', ...empty }),
    )
    expect(made.status).toBe(201)
    expect(made.json.data.attributes).toEqual({
      access: 'maintain',
      'project-access': { settings: 'read', teams: 'none', 'variable-sets': 'none' },
      'workspace-access': {
        runs: 'apply',
        'sentinel-mocks': 'read',
        'state-versions': 'write',
        variables: 'write',
        create: true,
        locking: true,
        move: false,
        delete: true,
        'run-tasks': true,
        'policy-overrides': true,
      },
    })
    const { id } = made.json.data
    expect((await client.get(`/team-projects/${id}`)).json).toEqual(made.json)
    const change = (attributes: object) =>
      client.patch(`/team-projects/${id}`, body('team-projects', attributes))
    const refused = await change({
      'project-access': { teams: 'read' },
      'workspace-access': { runs: 'plan' },
    })
    expect(refused.status).toBe(422)
    expect(pointers(refused)).toEqual([
      '/data/attributes/project-access/teams',
      '/data/attributes/workspace-access/runs',
    ])
    const custom = await change({
      access: 'custom',
      'workspace-access': { 'state-versions': 'read-outputs' },
    })
    expect(custom.json.data.attributes['workspace-access']).toMatchObject({
      // Kept from the previous level.
      runs: 'apply',
      'state-versions': 'read-outputs',
      create: true,
    })
    const merged = await change({
      'workspace-access': { create: false, new: 7 },
      'project-access': { teams: 'read' },
    })
    expect(merged.json.data.attributes['workspace-access']).toMatchObject({
      'state-versions': 'read-outputs',
      create: false,
    })
    expect(merged.json.data.attributes['workspace-access']).not.toHaveProperty('new')
    expect(merged.json.data.attributes['project-access']).toMatchObject({ settings: 'read', teams: 'read' })
    const written = (await change({ access: 'write' })).json.data.attributes
    expect(written['workspace-access'].create).toBe(false)
    const again = await change({ access: 'custom', 'project-access': { teams: 'read' } })
    expect(again.json.data.attributes).toEqual({
      ...written,
      access: 'custom',
      'project-access': { ...written['project-access'], teams: 'read' },
    })
    const bad = await change({ access: 'plan', 'workspace-access': { runs: 'all' } })
    expect(pointers(bad)).toEqual(['/data/attributes/access', '/data/attributes/workspace-access/runs'])
    const unknown = await change({ 'workspace-access': { runs: 'none', create: 'yes' } })
    expect(unknown.json.errors.map(({ detail }: { detail: string }) => detail)).toEqual([
      'workspace-access.runs must be "read" or "plan" or "apply"',
      'workspace-access.create must be true or false',
    ])
    expect((await client.post('/team-projects', grantBody(team, 'project', project))).status).toBe(422)
    expect((await client.delete(`/team-projects/${id}`)).status).toBe(204)
    expect((await client.get(`/team-projects/${id}`)).text).toBe(NOT_FOUND)
    expect((await client.get('/team-projects')).status).toBe(400)
  })

  test.each([
    ['read', 'read none none', 'read none read read', ''],
    ['write', 'read none none', 'apply read write write', 'locking'],
    [
      'maintain',
      'read none none',
      'apply read write write',
      'create locking delete run-tasks policy-overrides',
    ],
    [
      'admin',
      'delete manage write',
      'apply read write write',
      'create locking move delete run-tasks policy-overrides',
    ],
    ['custom', 'read none none', 'read none none none', ''],
  ])('the level %s stands for what is documented', async (access, project, workspace, on) => {
    const organization = await createTestOrganization(server)
    const id = await grantProject(
      organization,
      await createTeam(organization),
      await createProject(organization),
      {
        access,
      },
    )
    const { attributes } = (await organization.owner.client.get(`/team-projects/${id}`)).json.data
    expect(Object.values(attributes['project-access']).join(' ')).toBe(project)
    const details = Object.entries(attributes['workspace-access'])
    expect(details.map(([, value]) => value).filter((value) => typeof value === 'string')).toEqual(
      workspace.split(' '),
    )
    expect(details.flatMap(([name, value]) => (value === true ? [name] : [])).join(' ')).toBe(on)
  })

  test('what a member may do in the project and its workspaces follows from the level', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const project = await createProject(organization)
    const workspace = await createWorkspace(organization, {}, inProject(project))
    const elsewhere = await createWorkspace(organization)
    const open = await createTeam(organization, { visibility: 'organization' })
    const statuses = async (client: Client) => {
      const found: Record<string, number> = {
        project: (await client.get(`/projects/${project}`)).status,
        show: (await client.get(`/workspaces/${workspace}`)).status,
        elsewhere: (await client.get(`/workspaces/${elsewhere}`)).status,
        lock: (await client.post(`/workspaces/${workspace}/actions/lock`)).status,
      }
      await owner.client.post(`/workspaces/${workspace}/actions/force-unlock`)
      const named = body('workspaces', { name: uniqueName('made') }, inProject(project))
      found.create = (await client.post(`/organizations/${name}/workspaces`, named)).status
      found.change = (await client.patch(`/workspaces/${workspace}`, body('workspaces', {}))).status
      found.update = (await client.patch(`/projects/${project}`, body('projects', {}))).status
      const shared = await client.post('/team-projects', grantBody(open, 'project', project))
      found.share = shared.status
      if (shared.status === 201) await owner.client.delete(`/team-projects/${shared.json.data.id}`)
      return found
    }
    const nothing = {
      project: 404,
      show: 404,
      elsewhere: 404,
      lock: 404,
      create: 404,
      change: 404,
      update: 404,
      share: 404,
    }
    const seen = { ...nothing, project: 200, show: 200 }
    const manages = { ...seen, lock: 200, create: 201, change: 200 }
    for (const [attributes, expected] of [
      [{ access: 'read' }, seen],
      [{ access: 'write' }, { ...seen, lock: 200 }],
      [{ access: 'maintain' }, manages],
      [{ access: 'admin' }, { ...manages, update: 200, share: 201 }],
      [{ access: 'custom' }, nothing],
      [{ access: 'custom', 'project-access': { settings: 'delete', teams: 'manage' } }, nothing],
      [{ access: 'custom', 'workspace-access': { 'state-versions': 'read-outputs' } }, seen],
      [
        { access: 'custom', 'workspace-access': { locking: true } },
        { ...seen, lock: 200 },
      ],
      [
        { access: 'custom', 'workspace-access': { create: true } },
        { ...seen, create: 201 },
      ],
    ] as const) {
      const team = await createTeam(organization)
      const { client } = await addMember(server, organization, [team])
      const grant = await grantProject(organization, team, project, attributes)
      expect({ ...attributes, found: await statuses(client) }).toEqual({ ...attributes, found: expected })
      await owner.client.delete(`/team-projects/${grant}`)
      expect(await statuses(client)).toEqual(nothing)
    }
  })

  test('moving a workspace takes it out of the reach of its old project', async () => {
    const organization = await createTestOrganization(server)
    const project = await createProject(organization)
    const workspace = await createWorkspace(organization, {}, inProject(project))
    const team = await createTeam(organization)
    await grantProject(organization, team, project, { access: 'read' })
    const { client } = await addMember(server, organization, [team])
    expect((await client.get(`/workspaces/${workspace}`)).status).toBe(200)
    const other = await createProject(organization)
    await organization.owner.client.patch(
      `/workspaces/${workspace}`,
      body('workspaces', {}, inProject(other)),
    )
    expect((await client.get(`/workspaces/${workspace}`)).text).toBe(NOT_FOUND)
    expect((await client.get(`/projects/${other}`)).text).toBe(NOT_FOUND)
    expect((await client.get(`/organizations/${organization.name}/workspaces`)).json.data).toEqual([])
  })

  test('whoever sees a workspace sees the project that it is in now', async () => {
    const organization = await createTestOrganization(server)
    const projects = [await createProject(organization), await createProject(organization)] as const
    const workspace = await createWorkspace(organization, {}, inProject(projects[0]))
    const team = await createTeam(organization)
    await grantWorkspace(organization, team, workspace, { access: 'read' })
    const { client } = await addMember(server, organization, [team])
    const seen = () => Promise.all(projects.map(async (id) => (await client.get(`/projects/${id}`)).status))
    expect(await seen()).toEqual([200, 404])
    const move = body('workspaces', {}, inProject(projects[1]))
    await organization.owner.client.patch(`/workspaces/${workspace}`, move)
    expect(await seen()).toEqual([404, 200])
    await organization.owner.client.delete(`/workspaces/${workspace}`)
    expect(await seen()).toEqual([404, 404])
    expect((await client.get(`/organizations/${organization.name}/workspaces`)).text).toBe(NOT_FOUND)
  })

  test('manage-workspaces sees who has a project and may not change it; manage-projects may', async () => {
    const organization = await createTestOrganization(server)
    const project = await createProject(organization)
    const open = await createTeam(organization, { visibility: 'organization' })
    const secret = await createTeam(organization)
    const grant = await grantProject(organization, open, project, { access: 'read' })
    const hidden = await grantProject(organization, secret, project, { access: 'read' })
    for (const [flag, status] of [
      ['manage-workspaces', 404],
      ['manage-projects', 200],
    ] as const) {
      const team = await createTeam(organization, { 'organization-access': { [flag]: true } })
      const { client } = await addMember(server, organization, [team])
      const list = await client.get(`/team-projects?filter[project][id]=${project}`)
      expect(list.json.data.map((item: { id: string }) => item.id)).toEqual([grant])
      expect(list.json.meta.pagination['total-count']).toBe(1)
      const change = body('team-projects', { access: 'write' })
      expect((await client.patch(`/team-projects/${grant}`, change)).status).toBe(status)
      expect((await client.patch(`/team-projects/${hidden}`, change)).text).toBe(NOT_FOUND)
      expect((await client.get(`/team-projects/${hidden}`)).text).toBe(NOT_FOUND)
    }
  })
})
