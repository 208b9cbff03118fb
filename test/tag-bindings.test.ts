import { expect, test } from 'vitest'
import { NOT_FOUND, type Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  body,
  createProject,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantWorkspace,
  inProject,
} from './support/world.ts'

type Pairs = Record<string, string>
const items = (pairs: Pairs) =>
  Object.entries(pairs).map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } }))
const bindings = (pairs: Pairs) => ({ data: items(pairs) })
const relation = (pairs: Pairs) => ({ 'tag-bindings': { data: items(pairs) } })

type Item = {
  id: string
  type: string
  attributes: { key: string; value: string; name: string }
  links?: Pairs
}
const pairs = (answer: Response): Pairs =>
  Object.fromEntries(answer.json.data.map(({ attributes: { key, value } }: Item) => [key, value]))
const named = (answer: Response): string[] => answer.json.data.map(({ attributes }: Item) => attributes.name)

onEachEngine('tag bindings', { maxTagBindings: '5' }, (server) => {
  async function place() {
    const organization = await createTestOrganization(server)
    const project = await createProject(organization)
    const workspace = await createWorkspace(organization, { name: 'a' }, inProject(project))
    return { organization, project, workspace, client: organization.owner.client }
  }

  test.each(['workspaces', 'projects'] as const)(
    'of %s are added to, changed, set whole and cleared',
    async (type) => {
      const { client, project, workspace } = await place()
      const path = `/${type}/${type === 'projects' ? project : workspace}`
      expect((await client.get(`${path}/tag-bindings`)).json.data).toEqual([])
      const added = await client.patch(`${path}/tag-bindings`, bindings({ team: 'data', env: 'prod' }))
      expect(added.status).toBe(200)
      expect(added.json.data).toMatchObject([
        { type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } },
        { type: 'tag-bindings', attributes: { key: 'team', value: 'data' } },
      ])
      expect(added.json.meta.pagination['total-count']).toBe(2)
      const changed = await client.patch(`${path}/tag-bindings`, {
        data: [{ type: 'tag-bindings', attributes: { key: 'env' } }, ...items({ 'a b/c': 'x:y=z@é' })],
      })
      expect(pairs(changed)).toEqual({ 'a b/c': 'x:y=z@é', env: '', team: 'data' })
      const listed = await client.get(`${path}/tag-bindings`)
      expect(listed.json).toEqual(changed.json)
      // A changed binding keeps its id.
      expect(listed.json.data[1].id).toBe(added.json.data[0].id)

      const update = (value: Pairs | undefined) =>
        client.patch(path, body(type, {}, value === undefined ? {} : relation(value)))
      expect((await update(undefined)).status).toBe(200)
      expect(pairs(await client.get(`${path}/tag-bindings`))).toEqual(pairs(changed))
      expect((await update({ env: 'test' })).status).toBe(200)
      expect(pairs(await client.get(`${path}/tag-bindings`))).toEqual({ env: 'test' })
      expect((await update({})).status).toBe(200)
      expect((await client.get(`${path}/tag-bindings`)).json.data).toEqual([])
    },
  )

  test.each(['projects', 'workspaces'] as const)(
    'the relationship of %s is added to and set whole, as the newer client asks',
    async (kind) => {
      const made = await place()
      const { client } = made
      const thing = `/${kind}/${kind === 'projects' ? made.project : made.workspace}`
      const path = `${thing}/relationships/tag-bindings`
      const all = async () => {
        const listed = await client.get(`${thing}/tag-bindings`)
        expect((await client.get(path)).json.data).toEqual(listed.json.data)
        expect(pairs(await client.get(`${thing}/effective-tag-bindings`))).toEqual(pairs(listed))
        return pairs(listed)
      }
      const added = await client.post(path, bindings({ a: '0', c: '9' }))
      expect([added.status, added.text]).toEqual([204, ''])
      expect((await client.post(path, bindings({ a: '1' }))).status).toBe(204)
      expect(await all()).toEqual({ a: '1', c: '9' })
      for (const wanted of [{ a: '1', b: '2' }, { b: '3' }, {}] as Pairs[]) {
        const answer = await client.patch(path, bindings(wanted))
        expect([answer.status, answer.text]).toEqual([204, ''])
        expect(await all()).toEqual(wanted)
      }
    },
  )

  test('are listed in byte order of their keys, the effective ones too', async () => {
    const { client, project, workspace } = await place()
    // UTF-16 has the emoji before the wide tilde, UTF-8 after it.
    await client.patch(`/workspaces/${workspace}/tag-bindings`, bindings({ '😀': '', '\uff5e': '', a: '' }))
    await client.patch(`/projects/${project}/tag-bindings`, bindings({ '😁': '', '\uff5f': '' }))
    const keys = async (list: string) =>
      Object.keys(pairs(await client.get(`/workspaces/${workspace}/${list}`)))
    expect(await keys('tag-bindings')).toEqual(['a', '\uff5e', '😀'])
    expect(await keys('effective-tag-bindings')).toEqual(['a', '\uff5e', '\uff5f', '😀', '😁'])
  })

  test('a workspace inherits those of its project, its own win, and what is inherited says from where', async () => {
    const { client, organization, project, workspace } = await place()
    const other = await createProject(organization)
    await client.patch(`/projects/${project}/tag-bindings`, bindings({ env: 'prod', team: 'data' }))
    await client.patch(`/workspaces/${workspace}/tag-bindings`, bindings({ env: 'test', zone: 'eu' }))
    const effective = await client.get(`/workspaces/${workspace}/effective-tag-bindings`)
    expect(pairs(effective)).toEqual({ env: 'test', team: 'data', zone: 'eu' })
    // The tfe provider treats a binding with any links as inherited.
    expect(effective.json.data.map(({ links }: Item) => links)).toEqual([
      undefined,
      { 'inherited-from': `/api/v2/projects/${project}` },
      undefined,
    ])
    for (const path of [`/workspaces/${workspace}`, `/organizations/${organization.name}/workspaces/a`]) {
      const shown = await client.get(`${path}?include=effective_tag_bindings`)
      expect(shown.json.included).toEqual(effective.json.data)
      expect(shown.json.data.relationships['effective-tag-bindings'].data).toEqual(
        effective.json.data.map(({ id, type }: Item) => ({ id, type })),
      )
    }
    const list = await client.get(
      `/organizations/${organization.name}/workspaces?include=effective_tag_bindings`,
    )
    expect(list.json.included).toEqual(effective.json.data)
    const ofProject = await client.get(`/projects/${project}?include=effective_tag_bindings`)
    expect(ofProject.json.included.map(({ attributes }: Item) => attributes.key)).toEqual(['env', 'team'])
    expect(ofProject.json.included.every((item: Item) => !('links' in item))).toBe(true)
    const plain = await client.get(`/workspaces/${workspace}`)
    expect(plain.json.data.relationships).not.toHaveProperty('effective-tag-bindings')

    await client.post(`/projects/${other}/relationships/workspaces`, {
      data: [{ type: 'workspaces', id: workspace }],
    })
    expect(pairs(await client.get(`/workspaces/${workspace}/effective-tag-bindings`))).toEqual({
      env: 'test',
      zone: 'eu',
    })
  })

  test('workspaces and projects are made with them, and found by them', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const base = `/organizations/${organization.name}`
    const project = async (name: string, tags: Pairs) =>
      (await client.post(`${base}/projects`, body('projects', { name }, relation(tags)))).json.data.id
    const data = await project('data', { env: 'prod', team: 'data' })
    const web = await project('web', { env: 'prod' })
    const make = (name: string, id: string, tags: Pairs) =>
      createWorkspace(
        organization,
        { name },
        { project: { data: { type: 'projects', id } }, ...relation(tags) },
      )
    await make('own', data, { env: 'test' })
    await make('inherits', data, {})
    await make('of-web', web, { zone: 'eu' })
    const filter = (...filters: [string, string?][]) =>
      filters
        .map(
          ([key, value], place) =>
            `filter[tagged][${place}][key]=${key}${value === undefined ? '' : `&filter%5Btagged%5D%5B${place}%5D%5Bvalue%5D=${value}`}`,
        )
        .join('&')
    const found = async (what: string, ...filters: [string, string?][]) =>
      named(await client.get(`${base}/${what}?${filter(...filters)}`))
    expect(await found('workspaces', ['env', 'prod'])).toEqual(['inherits', 'of-web'])
    expect(await found('workspaces', ['env', 'test'])).toEqual(['own'])
    expect(await found('workspaces', ['env'])).toEqual(['inherits', 'of-web', 'own'])
    expect(await found('workspaces', ['env', 'prod'], ['team', 'data'])).toEqual(['inherits'])
    expect(await found('workspaces', ['zone'], ['env', 'prod'])).toEqual(['of-web'])
    expect(await found('workspaces', ['none'])).toEqual([])
    const foundBy = async (flag: string, ...filters: [string, string?][]) =>
      named(await client.get(`${base}/workspaces?${filter(...filters)}&filter[${flag}]=true`))
    expect(await foundBy('tag-union', ['zone', 'eu'], ['env', 'test'])).toEqual(['of-web', 'own'])
    expect(await foundBy('tag-union', ['none'])).toEqual([])
    expect(await foundBy('tag-value-default-null', ['env'])).toEqual([])
    await make('bare', web, { flagged: '' })
    await make('valued', web, { flagged: 'v' })
    expect(await found('workspaces', ['flagged'])).toEqual(['bare', 'valued'])
    expect(await foundBy('tag-value-default-null', ['flagged'])).toEqual(['bare'])
    expect(await foundBy('tag-value-default-null', ['flagged', 'v'])).toEqual(['valued'])
    for (const name of ['bare', 'valued']) await client.delete(`${base}/workspaces/${name}`)
    expect((await client.get(`${base}/workspaces?filter[tag-union]=1`)).status).toBe(400)
    expect(await found('projects', ['env', 'prod'])).toEqual(['data', 'web'])
    expect(await found('projects', ['env', 'prod'], ['team'])).toEqual(['data'])
    expect(await found('projects', ['zone'])).toEqual([])

    const page = await client.get(`${base}/workspaces?${filter(['env', 'prod'])}&page[size]=1`)
    expect(page.json.meta.pagination).toMatchObject({ 'total-count': 2, 'next-page': 2 })
    const next = await client.get(`${server.address}${page.json.links.next}`)
    expect(named(next)).toEqual(['of-web'])
    const many = filter(...Array.from({ length: 21 }, (): [string] => ['env']))
    for (const query of ['filter[tagged][0][value]=prod', many]) {
      const refused = await client.get(`${base}/workspaces?${query}`)
      expect([refused.status, refused.json.errors[0].title]).toEqual([400, 'invalid query parameter'])
    }
  })

  test('what is malformed, given twice or too much is refused, and nothing is kept of it', async () => {
    const { client, organization, workspace, project } = await place()
    const twice = { data: [...items({ a: '1' }), ...items({ b: '2' }), ...items({ a: '3' })] }
    const refused: [unknown, string][] = [
      [{}, '/data'],
      [null, '/data'],
      [{ data: {} }, '/data'],
      [bindings({ '': 'x' }), '/data'],
      [bindings({ 'a\u0000': 'x' }), '/data'],
      [bindings({ a: 'x\n' }), '/data'],
      [bindings({ ['x'.repeat(129)]: '' }), '/data'],
      [bindings({ a: 'x'.repeat(257) }), '/data'],
      [{ data: [{ type: 'tags', attributes: { key: 'a', value: 'b' } }] }, '/data'],
      [twice, '/data/2/attributes/key'],
      [bindings({ a: '', b: '', c: '', d: '', e: '', f: '' }), '/data'],
    ]
    for (const path of [`/workspaces/${workspace}`, `/projects/${project}`]) {
      for (const [document, pointer] of refused) {
        const answer = await client.patch(`${path}/tag-bindings`, document)
        expect([answer.status, answer.json.errors[0].source.pointer]).toEqual([422, pointer])
      }
      expect((await client.patch(`${path}/tag-bindings`, bindings({ a: '', b: '', c: '' }))).status).toBe(200)
      const sixth = await client.patch(`${path}/tag-bindings`, bindings({ d: '', e: '', f: '' }))
      expect(sixth.json.errors[0].detail).toContain('at most 5 tag bindings (PURSER_MAX_TAG_BINDINGS)')
      expect(pairs(await client.get(`${path}/tag-bindings`))).toEqual({ a: '', b: '', c: '' })
    }
    const unmade = await client.post(
      `/organizations/${organization.name}/workspaces`,
      body('workspaces', { name: 'b' }, { 'tag-bindings': { data: [{ type: 'tag-bindings' }] } }),
    )
    expect(unmade.json.errors[0].source.pointer).toBe('/data/relationships/tag-bindings')
    expect(named(await client.get(`/organizations/${organization.name}/workspaces`))).toEqual(['a'])
  })

  test('whoever may read the workspace may read them, whoever manages it may change them', async () => {
    const { organization, workspace, project } = await place()
    const reading = await createTeam(organization)
    const managing = await createTeam(organization)
    await grantWorkspace(organization, reading, workspace, { access: 'read' })
    await grantWorkspace(organization, managing, workspace, { access: 'admin' })
    const reader = (await addMember(server, organization, [reading])).client
    const manager = (await addMember(server, organization, [managing])).client
    const plain = (await addMember(server, organization)).client
    const path = `/workspaces/${workspace}/tag-bindings`
    expect((await manager.patch(path, bindings({ a: '1' }))).status).toBe(200)
    expect(pairs(await reader.get(path))).toEqual({ a: '1' })
    for (const answer of [
      await reader.patch(path, bindings({ a: '2' })),
      await manager.patch(`/projects/${project}/tag-bindings`, bindings({ a: '2' })),
      await plain.get(path),
      await plain.get(`/workspaces/${workspace}/effective-tag-bindings`),
      await plain.get(`/projects/${project}/effective-tag-bindings`),
    ]) {
      expect(answer.text).toBe(NOT_FOUND)
    }
  })
})
