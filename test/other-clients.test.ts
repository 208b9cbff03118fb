import { expect, test } from 'vitest'
import type { Client, Json } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { base64, lock, postState, stateText } from './support/states.ts'
import {
  addMember,
  grantProject,
  grantWorkspace,
  body,
  createProject,
  createTeam,
  createTestOrganization,
  createWorkspace,
  inProject,
} from './support/world.ts'

/** Requests of existing clients. conformance/ runs some of these clients against the server. */
onEachEngine('what other clients send', (server) => {
  test('an empty vcs-repo is none, and another one is refused', async () => {
    const { name, owner } = await createTestOrganization(server)
    const path = `/organizations/${name}/workspaces`
    const made = await owner.client.post(path, body('workspaces', { name: 'a', 'vcs-repo': {} }))
    expect(made.status).toBe(201)
    expect(made.json.data.attributes['vcs-repo']).toBeNull()
    const changed = await owner.client.patch(`${path}/a`, body('workspaces', { 'vcs-repo': {} }))
    expect(changed.status).toBe(200)
    const connected = body('workspaces', { name: 'b', 'vcs-repo': { identifier: 'example/network' } })
    const refused = await owner.client.post(path, connected)
    expect(refused.status).toBe(422)
    expect(refused.json.errors[0].source.pointer).toBe('/data/attributes/vcs-repo')
  })

  test('types that pytfe writes in its own way are taken, and no others', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const team = await createTeam(organization)
    const project = await createProject(organization)
    const token = (type: string) => body(type, { description: type })
    for (const path of [
      `/teams/${team}/authentication-token`,
      `/organizations/${name}/authentication-token`,
      `/users/${owner.id}/authentication-tokens`,
    ]) {
      expect((await owner.client.post(path, token('authentication-token'))).status, path).toBe(201)
      expect((await owner.client.post(path, token('authentication'))).status, path).toBe(422)
    }
    const relationships = {
      team: { data: { type: 'teams', id: team } },
      project: { data: { type: 'projects', id: project } },
    }
    const grant = (type: string) => body(type, { access: 'read' }, relationships)
    expect((await owner.client.post('/team-projects', grant('team-access'))).status).toBe(422)
    const made = await owner.client.post('/team-projects', grant('team-project-access'))
    expect(made.status).toBe(201)
    const change = body('team-project-access', { access: 'write' })
    const changed = await owner.client.patch(`/team-projects/${made.json.data.id}`, change)
    expect(changed.json.data).toMatchObject({ type: 'team-projects', attributes: { access: 'write' } })
  })

  test('a time without a zone is in UTC', async () => {
    const { name, owner } = await createTestOrganization(server)
    const expiryOf = async (given: string) => {
      const request = body('authentication-tokens', { 'expired-at': given })
      const made = await server.admin.post(`/users/${owner.id}/authentication-tokens`, request)
      return made.status === 201 ? made.json.data.attributes['expired-at'] : made.status
    }
    expect(await expiryOf('2099-01-31T12:00:00')).toBe('2099-01-31T12:00:00.000Z')
    expect(await expiryOf('2099-01-31T12:00:00.123456')).toBe('2099-01-31T12:00:00.123Z')
    expect(await expiryOf('2099-01-31T12:00:00+02:00')).toBe('2099-01-31T10:00:00.000Z')
    expect(await expiryOf('2099-02-30T12:00:00')).toBe(422)
    const events = `/organizations/${name}/audit-events?filter[since]=`
    expect((await owner.client.get(`${events}2099-01-31T12:00:00`)).json.data).toEqual([])
    expect((await owner.client.get(`${events}2000-01-31T12:00:00`)).json.data).not.toEqual([])
  })

  test('the body null counts as none where there may be none, and nowhere else', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const workspace = await createWorkspace(organization)
    const team = await createTeam(organization)
    for (const path of [
      `/workspaces/${workspace}/actions/lock`,
      `/workspaces/${workspace}/actions/unlock`,
      `/workspaces/${workspace}/actions/lock`,
      `/workspaces/${workspace}/actions/force-unlock`,
      `/teams/${team}/authentication-token`,
      `/teams/${team}/authentication-tokens`,
      `/users/${owner.id}/authentication-tokens`,
      `/organizations/${name}/authentication-token`,
    ]) {
      expect((await owner.client.post(path, 'null')).status, path).toBeLessThan(300)
    }
    expect((await owner.client.post(`/organizations/${name}/teams`, 'null')).status).toBe(422)
    expect((await owner.client.post(`/workspaces/${workspace}/actions/lock`, '[]')).status).toBe(422)
  })

  test('state versions may have null for content that is not sent', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspace = await createWorkspace(organization)
    await lock(client, workspace)
    const text = stateText('{}')
    const none = { 'json-state': null, 'json-state-outputs': null }
    const whole = await postState(client, workspace, text, { state: base64(text), ...none })
    expect(whole.json.data.attributes.status).toBe('finalized')
    const next = stateText('{}', 2)
    const pending = await postState(client, workspace, next, { serial: 2, state: null, ...none })
    expect(pending.json.data.attributes.status).toBe('pending')
    for (const wrong of [0, false, {}, []]) {
      expect((await postState(client, workspace, next, { serial: 2, state: wrong })).status).toBe(422)
    }
  })

  test('a description is that of one token of a team, in the words that go-tfe looks for', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const [team, other] = [await createTeam(organization), await createTeam(organization)]
    const create = (id: string, description: string | null, path = 'authentication-tokens') =>
      client.post(`/teams/${id}/${path}`, body('authentication-tokens', { description }))
    const first = await create(team, 'ci')
    expect(first.status).toBe(201)
    const second = await create(team, 'ci')
    expect(second.status).toBe(422)
    expect(second.json.errors).toEqual([
      {
        status: '422',
        title: 'invalid attributes',
        detail: 'Validation failed: Description has already been taken',
        source: { pointer: '/data/attributes/description' },
      },
    ])
    expect((await create(team, 'ci', 'authentication-token')).status).toBe(422)
    expect((await create(team, 'CI')).status).toBe(201)
    expect((await create(other, 'ci')).status).toBe(201)
    // Tokens with no or an empty description may be repeated. A single token replaces the earlier one.
    for (const description of ['', '', null, null]) {
      expect((await create(team, description)).status).toBe(201)
    }
    for (const _ of [1, 2]) expect((await create(team, 'single', 'authentication-token')).status).toBe(201)
    await client.delete(`/authentication-tokens/${first.json.data.id}`)
    expect((await create(team, 'ci')).status).toBe(201)
    const both = await Promise.all([create(team, 'race'), create(team, 'race')])
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422])
  })

  test('a terraform-version is a version, a constraint or latest', async () => {
    const { name, owner } = await createTestOrganization(server)
    const path = `/organizations/${name}/workspaces`
    await owner.client.post(path, body('workspaces', { name: 'a' }))
    const change = (version: unknown) =>
      owner.client.patch(`${path}/a`, body('workspaces', { 'terraform-version': version }))
    for (const good of ['0.11.0', '1.10', 'v1.6.0-alpha20230802', '1.0.0-rc1+build.5', '0.12.0beta1']) {
      expect((await change(good)).json.data.attributes['terraform-version']).toBe(good)
    }
    for (const good of ['~> 1.10.0', '>= 1.5, < 2.0', '>=1.2.0,!= 1.3.0', '= 1.0.0', 'latest']) {
      expect((await change(good)).json.data.attributes['terraform-version']).toBe(good)
    }
    for (const any of ['', null]) {
      expect((await change(any)).json.data.attributes['terraform-version']).toBe('latest')
    }
    for (const bad of ['nonexisting', '1.10.x', '>', '~>', '1.0.0,', ',', '1 2', 'latest, 1.0', '=> 1', 7]) {
      const refused = await change(bad)
      expect(refused.status, String(bad)).toBe(422)
      expect(refused.json.errors[0].source.pointer).toBe('/data/attributes/terraform-version')
    }
  })

  test('what would destroy a workspace by itself is kept and echoed', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const sandboxes = body('projects', { name: 'Sandboxes', 'auto-destroy-activity-duration': '3d' })
    const project = (await client.post(`/organizations/${organization.name}/projects`, sandboxes)).json.data
    expect(project.attributes['auto-destroy-activity-duration']).toBe('3d')
    const relationships = inProject(project.id)
    const id = await createWorkspace(organization, {}, relationships)
    const seen = (attributes: Record<string, unknown>) => [
      attributes['auto-destroy-at'],
      attributes['auto-destroy-activity-duration'],
      attributes['inherits-project-auto-destroy'],
    ]
    const shown = async () => seen((await client.get(`/workspaces/${id}`)).json.data.attributes)
    const listed = async () => {
      const list = await client.get(`/organizations/${organization.name}/workspaces`)
      return seen(list.json.data.find((one: { id: string }) => one.id === id).attributes)
    }
    const change = async (attributes: object) => {
      const changed = await client.patch(`/workspaces/${id}`, body('workspaces', attributes))
      return changed.status === 200 ? seen(changed.json.data.attributes) : changed.json.errors
    }
    expect(await shown()).toEqual([null, '3d', true])
    expect(await listed()).toEqual([null, '3d', true])
    await client.patch(
      `/projects/${project.id}`,
      body('projects', { 'auto-destroy-activity-duration': '12h' }),
    )
    expect(await shown()).toEqual([null, '12h', true])
    expect(await listed()).toEqual([null, '12h', true])
    expect(await change({ 'auto-destroy-activity-duration': '14d' })).toEqual([null, '14d', false])
    const own = await change({
      'auto-destroy-at': '2025-01-02T00:00:00Z',
      'auto-destroy-activity-duration': null,
    })
    expect(own).toEqual(['2025-01-02T00:00:00.000Z', null, false])
    expect(await change({ description: 'kept' })).toEqual(own)
    expect(await change({ 'inherits-project-auto-destroy': true })).toEqual([null, '12h', true])
    expect(await change({ 'auto-destroy-at': '2030-01-01T00:00:00' })).toEqual([
      '2030-01-01T00:00:00.000Z',
      null,
      false,
    ])
    expect(await change({ 'auto-destroy-at': null })).toEqual([null, null, false])
  })

  test('a broken time or duration of it is refused, in the words that go-tfe looks for', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspace = `/workspaces/${await createWorkspace(organization)}`
    const project = `/projects/${await createProject(organization)}`
    for (const [path, type] of [
      [workspace, 'workspaces'],
      [project, 'projects'],
    ] as const) {
      for (const duration of ['20m', '12345d', 'd', '1 d', '-1d', 14]) {
        const request = body(type, { 'auto-destroy-activity-duration': duration })
        const refused = await client.patch(path, request)
        expect(refused.status, String(duration)).toBe(422)
        expect(refused.json.errors[0].detail).toBe(
          "Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')",
        )
      }
    }
    for (const at of ['2030-01-01', '2030-02-30T00:00:00Z', 'tomorrow', '', 7]) {
      const refused = await client.patch(workspace, body('workspaces', { 'auto-destroy-at': at }))
      expect(refused.status, String(at)).toBe(422)
      expect(refused.json.errors[0].source.pointer).toBe('/data/attributes/auto-destroy-at')
    }
    const both = { 'auto-destroy-activity-duration': '1d', 'inherits-project-auto-destroy': true }
    expect((await client.patch(workspace, body('workspaces', both))).json.errors).toMatchObject([
      { source: { pointer: '/data/attributes/inherits-project-auto-destroy' } },
    ])
  })
})

onEachEngine('what other clients read', (server) => {
  test('how many workspaces and teams a project has, of those that the reader may see', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const [project, other] = [await createProject(organization), await createProject(organization)]
    const inside = inProject(project)
    const workspace = await createWorkspace(organization, {}, inside)
    await createWorkspace(organization, {}, inside)
    const own = await createTeam(organization)
    const open = await createTeam(organization, { visibility: 'organization' })
    const secret = await createTeam(organization)
    const admins = await createTeam(organization)
    const people = {
      'of a workspace': await addMember(server, organization, [own]),
      'of the project': await addMember(server, organization, [open]),
      'an administrator of the project': await addMember(server, organization, [admins]),
    }
    await grantWorkspace(organization, own, workspace, { access: 'read' })
    for (const team of [open, secret]) await grantProject(organization, team, project, { access: 'read' })
    await grantProject(organization, admins, project, { access: 'admin' })
    const counts = async (client: Client) => {
      const shown = (await client.get(`/projects/${project}`)).json.data
      const list = await client.get(`/organizations/${name}/projects?page[size]=100`)
      expect(list.json.data.find(({ id }: Json) => id === project)).toEqual(shown)
      const teams = await client.get(`/team-projects?filter[project][id]=${project}`)
      expect(shown.attributes['team-count']).toBe(teams.json.meta.pagination['total-count'])
      return [shown.attributes['workspace-count'], shown.attributes['team-count']]
    }
    expect(await counts(owner.client)).toEqual([2, 3])
    expect(await counts(people['of a workspace'].client)).toEqual([1, 0])
    expect(await counts(people['of the project'].client)).toEqual([2, 1])
    expect(await counts(people['an administrator of the project'].client)).toEqual([2, 2])
    const { attributes } = (await owner.client.get(`/projects/${other}`)).json.data
    expect([attributes['workspace-count'], attributes['team-count']]).toEqual([0, 0])
    const past = await owner.client.get(`/organizations/${name}/projects?page[number]=9`)
    expect(past.json.data).toEqual([])
  })

  test('the organization of a team, by its present name', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const id = await createTeam(organization)
    const membership = await addMember(server, organization, [id])
    const check = async (name: string) => {
      const relation = { data: { id: name, type: 'organizations' } }
      const teams = [
        (await client.get(`/teams/${id}`)).json.data,
        ...(await client.get(`/organizations/${name}/teams`)).json.data,
        ...(await client.get(`/organization-memberships/${membership.membershipId}?include=teams`)).json
          .included,
      ]
      expect(teams).toHaveLength(4)
      for (const team of teams) expect(team.relationships.organization).toEqual(relation)
    }
    // Documents are cached when they are requested again.
    for (const _ of [1, 2, 3]) await check(organization.name)
    const name = `${organization.name}-renamed`
    const renamed = await client.patch(`/organizations/${organization.name}`, body('organizations', { name }))
    expect(renamed.status).toBe(200)
    await check(name)
  })

  test('the state versions before and after one, without those that never came to be', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspace = await createWorkspace(organization)
    await lock(client, workspace)
    const versions = `/workspaces/${workspace}/state-versions`
    const make = async (serial: number) => {
      const text = stateText('{}', serial)
      return (await postState(client, workspace, text, { state: base64(text) })).json.data.id as string
    }
    const first = await make(1)
    const pending = await client.post(
      versions,
      body('state-versions', { serial: 2, md5: '0'.repeat(32), lineage: 'lineage-of-the-tests' }),
    )
    const discarded = pending.json.data.id as string
    const second = await make(3)
    const third = await make(4)
    const relations = ({ relationships }: Json) => [
      relationships['previous-state-version'].data?.id,
      relationships['next-state-version'].data?.id,
    ]
    const expected = {
      [first]: [undefined, second],
      [discarded]: [first, second],
      [second]: [first, third],
      [third]: [second, undefined],
    }
    for (const [id, neighbours] of Object.entries(expected)) {
      expect(relations((await client.get(`/state-versions/${id}`)).json.data), id).toEqual(neighbours)
    }
    expect(relations((await client.get(`/workspaces/${workspace}/current-state-version`)).json.data)).toEqual(
      [second, undefined],
    )
    const search = `filter[organization][name]=${organization.name}&filter[workspace][name]=`
    const { name } = (await client.get(`/workspaces/${workspace}`)).json.data.attributes
    const list = await client.get(`/state-versions?${search}${name}`)
    expect(Object.fromEntries(list.json.data.map((one: Json) => [one.id, relations(one)]))).toEqual(expected)
  })

  test('the latest run of a workspace: there is none', async () => {
    const organization = await createTestOrganization(server)
    const id = await createWorkspace(organization)
    const { relationships } = (await organization.owner.client.get(`/workspaces/${id}`)).json.data
    expect(relationships['latest-run']).toEqual({ data: null })
  })
})
