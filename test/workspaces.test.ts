import { expect, test } from 'vitest'
import { onEachEngine } from './support/on-each-engine.ts'
import { base64, lock, postState, stateText } from './support/states.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantWorkspace,
} from './support/world.ts'
import { NOT_FOUND, type Client } from './support/client.ts'

onEachEngine('workspaces', (server) => {
  const workspace = (attributes: object, relationships: object = {}) => ({
    data: { type: 'workspaces', attributes, relationships },
  })
  const named = (list: { json: { data: { attributes: { name: string } }[] } }) =>
    list.json.data.map((item) => item.attributes.name)

  test('an owner creates one, and it is the same by id, by name and in the list', async () => {
    const { name, owner } = await createTestOrganization(server)
    const made = await owner.client.post(`/organizations/${name}/workspaces`, workspace({ name: 'network' }))
    expect(made.status).toBe(201)
    const { id, attributes, relationships, links } = made.json.data
    expect(attributes).toMatchObject({
      name: 'network',
      'execution-mode': 'local',
      'terraform-version': 'latest',
      locked: false,
      operations: false,
      'tag-names': [],
      'working-directory': '',
      'vcs-repo': null,
      'setting-overwrites': { 'execution-mode': false, 'agent-pool': false },
    })
    expect(attributes.permissions).toMatchObject({
      'can-update': true,
      'can-lock': true,
      'can-force-delete': true,
    })
    expect(relationships.organization.data).toEqual({ id: name, type: 'organizations' })
    expect(relationships['locked-by'].data).toBeNull()
    expect(links).toEqual({
      self: `/api/v2/organizations/${name}/workspaces/network`,
      'self-html': `/app/${name}/workspaces/network`,
    })
    const byId = await owner.client.get(`/workspaces/${id}`)
    expect(byId.json.data).toEqual(made.json.data)
    expect((await owner.client.get(`/organizations/${name}/workspaces/network`)).json.data).toEqual(
      byId.json.data,
    )
    const list = await owner.client.get(`/organizations/${name}/workspaces`)
    expect(list.json.data).toEqual([byId.json.data])
  })

  test('an agent pool is refused wherever clients name one: they would not read it back', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const project = (await owner.client.get(`/organizations/${name}/projects`)).json.data[0].id
    const id = await createWorkspace(organization)
    const pool = { data: { type: 'agent-pools', id: 'apool-hmAyP66qk2AMVdbJ' } }
    const refused = [
      [`/workspaces/${id}`, workspace({ 'agent-pool-id': 'apool-1' }), 'agent-pool-id must be null: '],
      [
        `/projects/${project}`,
        body('projects', { 'default-agent-pool-id': 'apool-1' }),
        'default-agent-pool-id must be null: ',
      ],
      [
        `/organizations/${name}`,
        { data: { type: 'organizations', relationships: { 'default-agent-pool': pool } } },
        'default-agent-pool must be {"data": null}: ',
      ],
    ] as const
    for (const [path, sent, words] of refused) {
      const answer = await owner.client.patch(path, sent)
      expect(answer.status).toBe(422)
      expect(answer.json.errors[0].detail).toBe(`${words}this server has no agent pools`)
    }
    expect((await owner.client.patch(`/workspaces/${id}`, workspace({ 'agent-pool-id': '' }))).status).toBe(
      200,
    )
  })

  test('trigger patterns and prefixes take the place of each other', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const id = await createWorkspace(organization, { 'trigger-prefixes': ['modules'] })
    const patched = async (attributes: object) => {
      const answer = await owner.client.patch(`/workspaces/${id}`, workspace(attributes))
      return answer.json.data?.attributes ?? answer.json.errors
    }
    expect(await patched({ 'trigger-patterns': ['**/*.tf'] })).toMatchObject({
      'trigger-patterns': ['**/*.tf'],
      'trigger-prefixes': [],
    })
    expect(await patched({ 'auto-apply': true })).toMatchObject({ 'trigger-patterns': ['**/*.tf'] })
    expect(await patched({ 'trigger-prefixes': [] })).toMatchObject({
      'trigger-patterns': [],
      'trigger-prefixes': [],
    })
    expect(await patched({ 'trigger-prefixes': ['lib'], 'trigger-patterns': [] })).toMatchObject({
      'trigger-patterns': [],
      'trigger-prefixes': ['lib'],
    })
    expect(await patched({ 'trigger-prefixes': ['lib'], 'trigger-patterns': ['*'] })).toEqual([
      {
        status: '422',
        title: 'invalid attribute',
        detail: 'trigger-patterns cannot be set together with trigger-prefixes',
        source: { pointer: '/data/attributes/trigger-patterns' },
      },
    ])
  })

  test('tags are given, added and removed, and workspaces found by them', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const path = `/organizations/${name}/workspaces`
    const tags = (...names: string[]) => ({
      data: names.map((each) => ({ type: 'tags', attributes: { name: each } })),
    })
    const make = async (each: string, ...given: string[]) =>
      (await owner.client.post(path, workspace({ name: each }, { tags: tags(...given) }))).json.data
    const a = await make('a', 'network', 'core', 'core')
    expect(a.attributes['tag-names']).toEqual(['core', 'network'])
    const b = await make('b', 'network')
    await make('c')
    const found = async (query: string) => named(await owner.client.get(`${path}?${query}`))
    expect(await found('search[tags]=network,core')).toEqual(['a'])
    expect(await found('search[tags]=network')).toEqual(['a', 'b'])
    expect(await found('search[tags]=Network')).toEqual([])
    expect(await found('search[exclude-tags]=core,other')).toEqual(['b', 'c'])
    expect(await found('search[tags]=network&search[exclude-tags]=core')).toEqual(['b'])

    const ofB = `/workspaces/${b.id}/relationships/tags`
    for (let time = 0; time < 2; time++) {
      expect((await owner.client.post(ofB, tags('core', 'x:y'))).status).toBe(204)
    }
    const shown = async () =>
      (await owner.client.get(`/workspaces/${b.id}`)).json.data.attributes['tag-names']
    expect(await shown()).toEqual(['core', 'network', 'x:y'])
    expect((await owner.client.delete(ofB, tags('network', 'never-there'))).status).toBe(204)
    expect(await shown()).toEqual(['core', 'x:y'])

    const many = Array.from({ length: 101 }, (_, place) => `tag-${place}`)
    for (const refused of [
      {},
      null,
      { data: {} },
      { data: [null] },
      tags(''),
      tags('-a'),
      tags('a b'),
      tags(...many),
    ]) {
      const { status, json } = await owner.client.post(ofB, refused)
      expect(status).toBe(422)
      expect(json.errors[0].source.pointer).toMatch(/^\/data/)
    }
    expect(await shown()).toEqual(['core', 'x:y'])
    const tooMany = await owner.client.post(path, workspace({ name: 'd' }, { tags: tags(...many) }))
    expect(tooMany.status).toBe(422)
    expect(await found('search[name]=d')).toEqual([])
    const member = await addMember(server, organization)
    const hidden = await member.client.post(ofB, tags('mine'))
    expect([hidden.status, hidden.text]).toEqual([404, NOT_FOUND])
  })

  test('search[name] finds parts of names, pages are sorted by name, the project filters', async () => {
    const { name, owner } = await createTestOrganization(server)
    const path = `/organizations/${name}/workspaces`
    for (const each of ['prod-b', 'Prod-a', 'test_a'])
      await owner.client.post(path, workspace({ name: each }))
    expect(named(await owner.client.get(`${path}?search%5Bname%5D=PROD`))).toEqual(['Prod-a', 'prod-b'])
    expect(named(await owner.client.get(`${path}?search[name]=_`))).toEqual(['test_a'])
    expect(named(await owner.client.get(`${path}?search[name]=%25`))).toEqual([])
    for (const [pattern, found] of [
      ['prod-*', ['Prod-a', 'prod-b']],
      ['te*', ['test_a']],
      ['*-A', ['Prod-a']],
      ['*rod*', ['Prod-a', 'prod-b']],
      ['test_a', ['test_a']],
      ['*', ['Prod-a', 'prod-b', 'test_a']],
      ['prod', []],
      ['*aaaaaaaaaaaa-prod-b', []],
      ['p*b', []],
      ['%00*', []],
    ] as const) {
      expect(named(await owner.client.get(`${path}?search[wildcard-name]=${pattern}`))).toEqual(found)
    }
    const page = await owner.client.get(`${path}?page[size]=2&page[number]=2`)
    expect(named(page)).toEqual(['test_a'])
    expect(page.json.meta.pagination).toMatchObject({ 'total-count': 3, 'total-pages': 2, 'next-page': null })
    const project = (await owner.client.get(path)).json.data[0].relationships.project.data.id
    expect(named(await owner.client.get(`${path}?filter[project][id]=${project}`))).toHaveLength(3)
    expect(named(await owner.client.get(`${path}?filter[project][id]=prj-1111111111111111`))).toEqual([])
    const included = await owner.client.get(`${path}?include=project,organization`)
    expect(included.json.included).toMatchObject([
      { id: name, type: 'organizations' },
      { id: project, attributes: { name: 'Default Project' } },
    ])
    const unknown = await owner.client.get(`${path}?include=project,runs`)
    expect(unknown.status).toBe(400)
    expect(unknown.json.errors[0].title).toBe('Invalid include parameter')
  })

  test('source is tfe-api, whatever a client sends', async () => {
    const { name, owner } = await createTestOrganization(server)
    const sent = { source: 'tfe-ui', 'source-name': 'portal', 'source-url': 'https://portal.example.com' }
    const made = await owner.client.post(
      `/organizations/${name}/workspaces`,
      workspace({ name: 'a', ...sent }),
    )
    const changed = await owner.client.patch(`/workspaces/${made.json.data.id}`, workspace(sent))
    for (const { json } of [made, changed]) {
      expect(json.data.attributes).toMatchObject({ ...sent, source: 'tfe-api' })
    }
  })

  test('update merges what was given, by id and by name', async () => {
    const { name, owner } = await createTestOrganization(server)
    const made = await owner.client.post(
      `/organizations/${name}/workspaces`,
      workspace({ name: 'a', description: 'one', 'auto-apply': true, 'trigger-prefixes': ['x'] }),
    )
    const { id } = made.json.data
    const changed = await owner.client.patch(
      `/workspaces/${id}`,
      workspace({ 'terraform-version': '1.10.10', 'execution-mode': 'remote', 'working-directory': 'infra' }),
    )
    expect(changed.status).toBe(200)
    expect(changed.json.data.attributes).toMatchObject({
      description: 'one',
      'auto-apply': true,
      'trigger-prefixes': ['x'],
      'terraform-version': '1.10.10',
      'execution-mode': 'remote',
      operations: true,
      'working-directory': 'infra',
      'setting-overwrites': { 'execution-mode': true },
    })
    const renamed = await owner.client.patch(
      `/organizations/${name}/workspaces/a`,
      workspace({ name: 'b', description: null, 'setting-overwrites': { 'execution-mode': false } }),
    )
    expect(renamed.json.data.attributes).toMatchObject({
      name: 'b',
      description: null,
      'auto-apply': true,
      'execution-mode': 'local',
    })
    expect((await owner.client.get(`/organizations/${name}/workspaces/a`)).text).toBe(NOT_FOUND)
  })

  test('every problem of a body is named', async () => {
    const { name, owner } = await createTestOrganization(server)
    const path = `/organizations/${name}/workspaces`
    const bad = await owner.client.post(
      path,
      workspace(
        {
          name: 'a b',
          'auto-apply': 'yes',
          'vcs-repo': { identifier: 'a/b' },
          'auto-destroy-at': '2030-01-01',
        },
        { project: { data: { type: 'teams', id: 'x' } } },
      ),
    )
    expect(bad.status).toBe(422)
    expect(bad.json.errors.map((error: never) => error['source']['pointer']).sort()).toEqual([
      '/data/attributes/auto-apply',
      '/data/attributes/auto-destroy-at',
      '/data/attributes/name',
      '/data/attributes/vcs-repo',
      '/data/relationships/project',
    ])
    const nowhere = { project: { data: { type: 'projects', id: 'prj-1111111111111111' } } }
    const untimely = await owner.client.post(path, workspace({ name: 'a', 'auto-destroy-at': '' }))
    expect(untimely.status).toBe(422)
    expect(untimely.json.errors[0]).toMatchObject({
      detail: expect.stringContaining('auto-destroy-at must be a time') as string,
      source: { pointer: '/data/attributes/auto-destroy-at' },
    })
    const missing = await owner.client.post(path, workspace({ name: 'a' }, nowhere))
    expect(missing.status).toBe(422)
    expect(missing.json.errors[0].source.pointer).toBe('/data/relationships/project')
    expect((await owner.client.post(path, workspace({ name: 'a' }))).status).toBe(201)
    const taken = await owner.client.post(path, workspace({ name: 'a' }))
    expect(taken.status).toBe(422)
    expect(taken.json.errors[0].source.pointer).toBe('/data/attributes/name')
    expect((await owner.client.post(path, workspace({ name: 'A' }))).status).toBe(201)
    expect((await owner.client.patch(`${path}/A`, workspace({ name: 'a' }))).status).toBe(422)
  })

  test('lock, unlock and force-unlock answer with what go-tfe looks for', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const made = await owner.client.post(`/organizations/${name}/workspaces`, workspace({ name: 'a' }))
    const act = (action: string, client = owner.client, body?: unknown) =>
      client.post(`/workspaces/${made.json.data.id}/actions/${action}`, body)
    const idle = await act('unlock')
    expect(idle.status).toBe(409)
    expect(idle.text).not.toContain('is locked by')
    expect((await act('force-unlock')).status).toBe(409)
    const locked = await act('lock', owner.client, {
      data: { type: '', attributes: { reason: 'Locked by OpenTofu' } },
    })
    expect(locked.status).toBe(200)
    expect(locked.json.data.attributes).toMatchObject({ locked: true, 'locked-reason': 'Locked by OpenTofu' })
    expect(locked.json.data.relationships['locked-by'].data).toEqual({ id: owner.id, type: 'users' })
    expect((await act('lock')).status).toBe(409)
    const foreign = await act('unlock', server.admin)
    expect(foreign.status).toBe(409)
    expect(foreign.text).toContain(`is locked by User ${owner.username}`)
    const safe = await act('safe-delete')
    expect(safe.status).toBe(409)
    expect(safe.text).toContain('locked')
    const free = await act('unlock', owner.client, { data: { type: '' } })
    expect(free.status).toBe(200)
    expect(free.json.data.attributes).toMatchObject({ locked: false, 'locked-reason': null })
    expect((await act('lock', server.admin, { reason: 'mine' })).json.data.attributes['locked-reason']).toBe(
      'mine',
    )
    expect((await act('force-unlock', owner.client, {})).json.data.attributes.locked).toBe(false)
    expect((await act('lock', owner.client, { reason: 7 })).status).toBe(422)
  })

  test('a team token locks as its team, which is not named to whom it is hidden', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const id = await createWorkspace(organization)
    const act = (caller: Client, action: string) => caller.post(`/workspaces/${id}/actions/${action}`)
    const secret = await createTeam(organization)
    const others = await createTeam(organization)
    await grantWorkspace(organization, secret, id, { access: 'write' })
    await grantWorkspace(organization, others, id, { access: 'write' })
    const token = await client.post(`/teams/${secret}/authentication-token`)
    const machine = server.client(token.json.data.attributes.token)
    const member = await addMember(server, organization, [secret])
    const stranger = await addMember(server, organization, [others])

    const locked = await act(machine, 'lock')
    expect(locked.json.data.relationships['locked-by'].data).toEqual({ id: secret, type: 'teams' })
    const { name } = (await client.get(`/teams/${secret}`)).json.data.attributes
    for (const caller of [client, member.client]) {
      const answer = await act(caller, 'unlock')
      expect(answer.status).toBe(409)
      expect(answer.text).toContain(`is locked by Team ${name}`)
    }
    const hidden = await act(stranger.client, 'unlock')
    expect(hidden.status).toBe(409)
    expect(hidden.text).toContain('is locked by Team')
    expect(hidden.text).not.toContain(name)
    const shown = await stranger.client.get(`/workspaces/${id}`)
    expect(shown.json.data.attributes.locked).toBe(true)
    expect(shown.json.data.relationships['locked-by'].data).toBeNull()
    expect(shown.text).not.toContain(secret)
    expect((await act(machine, 'unlock')).status).toBe(200)

    const ofOrganization = await client.post(`/organizations/${organization.name}/authentication-token`)
    const organizationToken = server.client(ofOrganization.json.data.attributes.token)
    expect((await act(organizationToken, 'lock')).text).toBe(NOT_FOUND)
    expect((await organizationToken.get(`/workspaces/${id}`)).status).toBe(200)
  })

  test('delete and safe-delete answer 204, by id and by name', async () => {
    const { name, owner } = await createTestOrganization(server)
    const path = `/organizations/${name}/workspaces`
    const ids: string[] = []
    for (const each of ['a', 'b', 'c', 'd']) {
      ids.push((await owner.client.post(path, workspace({ name: each }))).json.data.id)
    }
    await owner.client.post(`/workspaces/${ids[0]}/actions/lock`)
    expect((await owner.client.delete(`/workspaces/${ids[0]}`)).status).toBe(204)
    expect((await owner.client.delete(`${path}/b`)).status).toBe(204)
    expect((await owner.client.post(`/workspaces/${ids[2]}/actions/safe-delete`)).status).toBe(204)
    expect((await owner.client.post(`${path}/d/actions/safe-delete`)).status).toBe(204)
    expect((await owner.client.get(path)).json.data).toEqual([])
    expect((await owner.client.delete(`/workspaces/${ids[0]}`)).text).toBe(NOT_FOUND)
  })

  test('safe-delete refuses a state with managed resources, and one that cannot be looked into', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const safeDelete = (id: string) => client.post(`/workspaces/${id}/actions/safe-delete`)
    const withState = async (state: string) => {
      const id = await createWorkspace(organization)
      await lock(client, id)
      expect((await postState(client, id, state, { state: base64(state) })).status).toBe(201)
      await client.post(`/workspaces/${id}/actions/unlock`)
      return id
    }
    const resource = (mode: string) => `{"mode":"${mode}","type":"null_resource","name":"a","instances":[]}`
    for (const [resources, count, status] of [
      ['', 0, 204],
      [resource('data'), 1, 204],
      [`${resource('data')},${resource('managed')}`, 2, 409],
    ] as const) {
      const outputs = '{"a": {"value": 1, "type": "number"}}'
      const id = await withState(stateText(outputs).replace('"resources": []', `"resources": [${resources}]`))
      const shown = await client.get(`/workspaces/${id}`)
      expect(shown.json.data.attributes['resource-count']).toBe(count)
      const answer = await safeDelete(id)
      expect(answer.status).toBe(status)
      if (status === 204) continue
      expect(answer.json.errors[0].detail).toContain('1 managed resource')
      expect(answer.text).not.toMatch(/locked|being processed/)
    }
    const encrypted = await withState('{"serial":1,"encrypted_data":"AAAA","encryption_version":"v0"}')
    const refused = await safeDelete(encrypted)
    expect([refused.status, refused.json.errors[0].detail]).toEqual([
      409,
      'OpenTofu has encrypted the state of the workspace, so its resources are not known: it is not safe to delete',
    ])
    expect((await client.delete(`/workspaces/${encrypted}`)).status).toBe(204)
  })

  test('unlocking waits for an upload under way, forcing it gives the upload up', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const id = await createWorkspace(organization)
    await lock(client, id)
    const pending = await postState(client, id, stateText('{}'))
    expect(pending.json.data.attributes.status).toBe('pending')
    const early = await client.post(`/workspaces/${id}/actions/unlock`)
    expect(early.status).toBe(400)
    expect(early.json.errors[0].detail).toBe('latest state version is still pending')
    expect((await client.post(`/workspaces/${id}/actions/force-unlock`)).status).toBe(200)
    const discarded = await client.get(`/state-versions/${pending.json.data.id}`)
    expect(discarded.json.data.attributes.status).toBe('discarded')
    await lock(client, id)
    expect((await client.post(`/workspaces/${id}/actions/unlock`)).status).toBe(200)
  })

  test('to a member without grants, and to anybody outside, a workspace is missing', async () => {
    const organization = await createTestOrganization(server)
    const other = await createTestOrganization(server)
    const { name, owner } = organization
    const member = await addMember(server, organization)
    const made = await owner.client.post(`/organizations/${name}/workspaces`, workspace({ name: 'a' }))
    const { id } = made.json.data
    for (const { client } of [member, other.owner]) {
      for (const answer of [
        await client.get(`/workspaces/${id}`),
        await client.get('/workspaces/ws-1111111111111111'),
        await client.get(`/organizations/${name}/workspaces/a`),
        await client.get(`/organizations/${name}/workspaces`),
        await client.patch(`/workspaces/${id}`, { data: 'nonsense' }),
        await client.post(`/organizations/${name}/workspaces`, workspace({ name: 'b' })),
        await client.post(`/workspaces/${id}/actions/lock`),
        await client.post(`/workspaces/${id}/actions/force-unlock`),
        await client.delete(`/workspaces/${id}`),
      ]) {
        expect(answer.status).toBe(404)
        expect(answer.text).toBe(NOT_FOUND)
      }
    }
  })
})
