import { expect, test } from 'vitest'
import { NOT_FOUND, type Response } from './support/client.ts'
import { idOf as numbered } from './support/numbered-ids.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantWorkspace,
  type TestOrganization,
} from './support/world.ts'

type Item = { id: string; attributes: { name: string; 'instance-count': number } }
const named = (answer: Response): string[] => answer.json.data.map(({ attributes }: Item) => attributes.name)
const counts = (answer: Response) =>
  Object.fromEntries(
    answer.json.data.map(({ attributes }: Item) => [attributes.name, attributes['instance-count']]),
  )
const tags = (...names: string[]) => ({
  data: names.map((name) => ({ type: 'tags', attributes: { name } })),
})
const ids = (type: string, ...all: string[]) => ({ data: all.map((id) => ({ type, id })) })

onEachEngine('tags', { maxTags: '6', maxWorkspaceTags: '4' }, (server) => {
  const tagged = async (organization: TestOrganization, name: string, ...names: string[]) =>
    createWorkspace(organization, { name }, { tags: tags(...names) })
  const idOf = async (organization: TestOrganization, name: string): Promise<string> => {
    const list = await organization.owner.client.get(`/organizations/${organization.name}/tags?q=${name}`)
    return list.json.data.find(({ attributes }: Item) => attributes.name === name).id
  }

  test('of an organization are listed with how many workspaces have them, and found', async () => {
    const organization = await createTestOrganization(server)
    const other = await createTestOrganization(server)
    await tagged(other, 'x', 'network')
    const { client } = organization.owner
    const path = `/organizations/${organization.name}/tags`
    expect((await client.get(path)).json.data).toEqual([])
    const a = await tagged(organization, 'a', 'network', 'Core')
    await tagged(organization, 'b', 'network', 'x:y')
    const list = await client.get(path)
    expect(counts(list)).toEqual({ Core: 1, network: 2, 'x:y': 1 })
    expect(list.json.data[0]).toMatchObject({
      type: 'tags',
      relationships: { organization: { data: { id: organization.name, type: 'organizations' } } },
    })
    expect(list.json.data[0].id).toMatch(/^tag-/)
    expect(named(await client.get(`${path}?q=cO`))).toEqual(['Core'])
    expect(named(await client.get(`${path}?filter[exclude][taggable][id]=${a}`))).toEqual(['x:y'])
    const page = await client.get(`${path}?page[size]=2&page[number]=2`)
    expect(named(page)).toEqual(['x:y'])
    expect(page.json.meta.pagination).toMatchObject({ 'total-count': 3, 'prev-page': 1 })

    const ofA = await client.get(`/workspaces/${a}/relationships/tags`)
    expect(named(ofA)).toEqual(['Core', 'network'])
    expect(ofA.json.data).toEqual([list.json.data[0], list.json.data[1]])
    expect(ofA.json.meta.pagination['total-count']).toBe(2)
  })

  test('are added and removed by id', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const a = await tagged(organization, 'a', 'network', 'core')
    const b = await createWorkspace(organization)
    const network = await idOf(organization, 'network')
    const ofB = `/workspaces/${b}/relationships/tags`
    const whole = { data: [{ type: 'tags', id: network, attributes: { name: 'network' } }] }
    expect((await client.post(ofB, whole)).status).toBe(204)
    expect(named(await client.get(ofB))).toEqual(['network'])
    const foreign = await createTestOrganization(server)
    await tagged(foreign, 'c', 'secret-plans')
    const hidden = await idOf(foreign, 'secret-plans')
    for (const unknown of [hidden, 'tag-1111111111111111', 'nonsense']) {
      const answer = await client.post(ofB, ids('tags', network, unknown))
      expect(answer.status).toBe(422)
      expect(answer.json.errors).toMatchObject([
        { detail: 'id does not name a tag of the organization', source: { pointer: '/data/1/id' } },
      ])
      expect((await client.delete(ofB, ids('tags', unknown))).status).toBe(204)
    }
    expect((await client.post(ofB, { data: [{ type: 'tags' }] })).json.errors[0].source.pointer).toBe(
      '/data/0',
    )
    expect((await client.delete(ofB, ids('tags', network))).status).toBe(204)
    expect(named(await client.get(ofB))).toEqual([])
    // A tag that no workspace has any more still exists.
    await client.delete(`/workspaces/${a}`)
    expect(counts(await client.get(`/organizations/${organization.name}/tags`))).toEqual({
      core: 0,
      network: 0,
    })
  })

  test('are given to many workspaces at once, and deleted from all', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const a = await tagged(organization, 'a', 'network', 'core')
    const b = await createWorkspace(organization, { name: 'b' })
    const core = await idOf(organization, 'core')
    const path = `/tags/${core}/relationships/workspaces`
    expect((await client.post(path, ids('workspaces', a, b))).status).toBe(204)
    expect((await client.get(`/workspaces/${b}`)).json.data.attributes['tag-names']).toEqual(['core'])
    const missing = await client.post(path, ids('workspaces', a, 'ws-1111111111111111', 'x'))
    expect(missing.json.errors.map((error: never) => error['source']['pointer'])).toEqual([
      '/data/1/id',
      '/data/2/id',
    ])
    expect((await client.post(path, { data: [] })).status).toBe(422)
    expect(
      (await client.post('/tags/tag-1111111111111111/relationships/workspaces', ids('workspaces', a))).text,
    ).toBe(NOT_FOUND)

    const all = `/organizations/${organization.name}/tags`
    expect((await client.delete(all, ids('tags', core, 'tag-1111111111111111'))).status).toBe(204)
    expect((await client.delete(all, ids('tags', core))).status).toBe(204)
    expect(named(await client.get(all))).toEqual(['network'])
    expect((await client.get(`/workspaces/${a}`)).json.data.attributes['tag-names']).toEqual(['network'])
    expect((await client.get(`/workspaces/${b}`)).json.data.attributes['tag-names']).toEqual([])
  })

  test('that very many workspaces have are gone at once, their rows a slice after the other; the name is free', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const { database, deletions } = server.app.deps
    const a = await tagged(organization, 'a', 'wide', 'kept')
    const wide = await idOf(organization, 'wide')
    const project = (await client.get(`/workspaces/${a}`)).json.data.relationships.project.data.id
    const MANY = 1_800
    const at = '2026-01-01T00:00:00.000Z'
    const rows = Array.from({ length: MANY }, (_, n) => `ws-${numbered(n)}`)
    await database.write(async ({ db }) => {
      for (let from = 0; from < MANY; from += 600) {
        const some = rows.slice(from, from + 600)
        const fixed = { organization_id: organization.id, project_id: project, terraform_version: 'latest' }
        const values = some.map((id) => ({
          ...fixed,
          id,
          name: id,
          settings: '{}',
          created_at: at,
          updated_at: at,
        }))
        await db.insertInto('workspaces').values(values).execute()
        await db
          .insertInto('workspace_tags')
          .values(some.map((id) => ({ workspace_id: id, tag_id: wide })))
          .execute()
      }
    })
    const list = `/organizations/${organization.name}/tags`
    const found = async () =>
      (await client.get(`/organizations/${organization.name}/workspaces?search[tags]=wide`)).json.meta
        .pagination['total-count']
    expect(counts(await client.get(list))).toEqual({ kept: 1, wide: MANY + 1 })
    expect(await found()).toBe(MANY + 1)
    const left = async () => {
      const { count } = await database.read((tx) =>
        tx.db
          .selectFrom('workspace_tags')
          .where('tag_id', '=', wide)
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow(),
      )
      return count
    }
    const before = await client.get(`/workspaces/${a}`)
    expect((await client.delete(list, ids('tags', wide))).status).toBe(204)
    // The request has deleted only the row of the tag, and the tag is not shown anywhere.
    expect(await left()).toBe(MANY + 1)
    expect(counts(await client.get(list))).toEqual({ kept: 1 })
    expect(await found()).toBe(0)
    expect(before.json.data.attributes['tag-names']).toEqual(['kept', 'wide'])
    expect((await client.get(`/workspaces/${a}`)).json.data.attributes['tag-names']).toEqual(['kept'])
    const all = await client.get(`/organizations/${organization.name}/workspaces?search[name]=a`)
    expect(all.json.data[0].attributes['tag-names']).toEqual(['kept'])

    // A new tag of the same name is on no workspace yet, and stays when the rest of the old one is deleted.
    expect((await client.post(`/workspaces/${a}/relationships/tags`, tags('wide'))).status).toBe(204)
    expect(counts(await client.get(list))).toEqual({ kept: 1, wide: 1 })
    const write = database.write.bind(database)
    const slices: number[] = []
    // Serialize the writes: during a slow write of something else, two slices would count as one.
    let last: Promise<unknown> = Promise.resolve()
    database.write = (work) => {
      const mine = last.then(async () => {
        const rest = await left()
        const value = await write(work)
        slices.push(rest - (await left()))
        return value
      })
      last = mine.catch(() => {})
      return mine
    }
    await deletions.run()
    database.write = write
    expect(await left()).toBe(0)
    expect(slices.length).toBeGreaterThan(3)
    expect(Math.max(...slices)).toBeLessThanOrEqual(500)
    expect(counts(await client.get(list))).toEqual({ kept: 1, wide: 1 })
    expect((await client.get(`/workspaces/${a}`)).json.data.attributes['tag-names']).toEqual(['kept', 'wide'])
    expect(await database.read((tx) => tx.db.selectFrom('deleted_tags').selectAll().execute())).toEqual([])
  })

  test('of workspaces that the caller may not see do not exist for the caller', async () => {
    const organization = await createTestOrganization(server)
    const seen = await tagged(organization, 'seen', 'both', 'open')
    const unseen = await tagged(organization, 'unseen', 'both', 'hidden')
    const team = await createTeam(organization)
    await grantWorkspace(organization, team, seen, { access: 'admin' })
    const { client } = await addMember(server, organization, [team])
    const path = `/organizations/${organization.name}/tags`
    const list = await client.get(path)
    expect(counts(list)).toEqual({ both: 1, open: 1 })
    expect(list.json.meta.pagination['total-count']).toBe(2)
    expect(counts(await client.get(`/workspaces/${seen}/relationships/tags`))).toEqual({ both: 1, open: 1 })
    expect(named(await client.get(`${path}?filter[exclude][taggable][id]=${unseen}`))).toEqual([
      'both',
      'open',
    ])
    const hidden = await idOf(organization, 'hidden')
    const add = `/workspaces/${seen}/relationships/tags`
    const byHidden = await client.post(add, ids('tags', hidden))
    const byMissing = await client.post(add, ids('tags', 'tag-1111111111111111'))
    expect([byHidden.status, byHidden.text]).toEqual([422, byMissing.text])
    const both = await idOf(organization, 'both')
    for (const answer of [
      await client.delete(path, ids('tags', both)),
      await client.post(`/tags/${both}/relationships/workspaces`, ids('workspaces', seen)),
      await (await addMember(server, organization)).client.get(path),
      await client.get(`/workspaces/${unseen}/relationships/tags`),
    ]) {
      expect(answer.text).toBe(NOT_FOUND)
    }
  })

  test('are bounded, for a workspace and for the organization', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    await tagged(organization, 'a', 'a', 'b', 'c', 'd')
    const fifth = await client.post(
      `/organizations/${organization.name}/workspaces`,
      body('workspaces', { name: 'b' }, { tags: tags('a', 'b', 'c', 'd', 'e') }),
    )
    expect(fifth.json.errors[0].detail).toBe(
      'a workspace may have at most 4 tags (PURSER_MAX_WORKSPACE_TAGS)',
    )
    await tagged(organization, 'b', 'e', 'f')
    const c = await createWorkspace(organization)
    const seventh = await client.post(`/workspaces/${c}/relationships/tags`, tags('g'))
    expect(seventh.status).toBe(422)
    expect(seventh.json.errors[0].detail).toContain('at most 6 tags (PURSER_MAX_TAGS)')
    // Existing tags can still be added.
    expect((await client.post(`/workspaces/${c}/relationships/tags`, tags('a'))).status).toBe(204)
    const list = await client.get(`/organizations/${organization.name}/tags`)
    expect(named(list)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    const full = await tagged(organization, 'd', 'b', 'c', 'd', 'e')
    const one = await idOf(organization, 'a')
    const more = await client.post(`/tags/${one}/relationships/workspaces`, ids('workspaces', full))
    expect(more.json.errors[0].detail).toBe('a workspace may have at most 4 tags (PURSER_MAX_WORKSPACE_TAGS)')
  })
})
