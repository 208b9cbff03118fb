import { expect, test } from 'vitest'
import type { Client, Json, Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { base64, postState, stateText } from './support/states.ts'
import {
  addMember,
  body,
  createProject,
  createTeam,
  createTestOrganization,
  createUser,
  createWorkspace,
  grantProject,
  grantWorkspace,
  inProject,
  invitePerson,
} from './support/world.ts'

const names = (answer: Response): string[] =>
  answer.json.data.map((item: { attributes: { name: string } }) => item.attributes.name)
const tags = (...all: string[]) => ({
  data: all.map((name) => ({ type: 'tags', attributes: { name } })),
})

onEachEngine('lists of workspaces', (server) => {
  test('are sorted as asked', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const path = `/organizations/${organization.name}/workspaces`
    const ids: string[] = []
    for (const name of ['b', 'a', 'c']) {
      ids.push(await createWorkspace(organization, { name }))
      server.clock.advance(1)
    }
    await client.patch(`/workspaces/${ids[0]}`, body('workspaces', { description: 'changed' }))
    const sorted = async (sort: string) => names(await client.get(`${path}?sort=${sort}`))
    expect(await sorted('name')).toEqual(['a', 'b', 'c'])
    expect(await sorted('-name')).toEqual(['c', 'b', 'a'])
    expect(await sorted('latest-change-at')).toEqual(['a', 'c', 'b'])
    expect(await sorted('-latest-change-at')).toEqual(['b', 'c', 'a'])
    expect(await sorted('-current-run.created-at')).toEqual(['a', 'b', 'c'])
    const page = await client.get(`${path}?sort=-name&page[size]=2`)
    expect(names(page)).toEqual(['c', 'b'])
    expect(names(await client.get(`${server.address}${page.json.links.next}`))).toEqual(['a'])
    for (const unknown of ['size', 'name,-name', '--name']) {
      const refused = await client.get(`${path}?sort=${unknown}`)
      expect([refused.status, refused.json.errors[0].source]).toEqual([400, { parameter: 'sort' }])
    }
    expect(names(await client.get(`${path}?filter[current-run][status]=applied`))).toEqual([])
    const projects = `/organizations/${organization.name}/projects`
    await createProject(organization, { name: 'Another' })
    expect(names(await client.get(`${projects}?sort=-name`))).toEqual(['Default Project', 'Another'])
    expect((await client.get(`${projects}?sort=created-at`)).status).toBe(400)
    const parameter = 'filter[permissions][update]'
    const bad = await client.get(`${projects}?${parameter}=yes`)
    expect([bad.status, bad.json.errors[0].source]).toEqual([400, { parameter }])
    expect(names(await client.get(`${projects}?${parameter}=false`))).toHaveLength(2)
  })

  test('pages follow each other whichever end they are read from, in every order and for every reader', async () => {
    const organization = await createTestOrganization(server)
    const { client: owner } = organization.owner
    const project = await createProject(organization)
    const teamId = await createTeam(organization)
    const { client: member } = await addMember(server, organization, [teamId])
    await grantProject(organization, teamId, project, { access: 'read' })
    for (let n = 0; n < 8; n++) {
      // Two workspaces each are changed at the same moment.
      if (n % 2 === 0) server.clock.advance(10_000)
      const name = `w${(n * 5) % 8}`
      const id = await createWorkspace(organization, { name }, n === 3 ? undefined : inProject(project))
      if (n === 5) await grantWorkspace(organization, teamId, id, { access: 'write' })
    }
    const path = `/organizations/${organization.name}/workspaces`
    const filters = ['', 'search[name]=w', `filter[project][id]=${project}`, 'search[exclude-tags]=none']
    const sorts = ['name', 'latest-change-at', 'current-run.created-at'].flatMap((sort) => [sort, `-${sort}`])
    for (const client of [owner, member]) {
      for (const filter of filters) {
        const total = client === owner && !filter.startsWith('filter') ? 8 : 7
        for (const sort of sorts) {
          const list = (page: string) => client.get(`${path}?sort=${sort}&${filter}&${page}`)
          const whole = names(await list(''))
          expect(whole).toHaveLength(total)
          const paged: string[] = []
          for (let number = 1; number <= 3; number++) {
            const answer = await list(`page[size]=3&page[number]=${number}`)
            expect(answer.json.meta.pagination['total-count']).toBe(total)
            paged.push(...names(answer))
          }
          expect(paged).toEqual(whole)
          if (sort.endsWith('name')) {
            const expected = whole.toSorted()
            expect(whole).toEqual(sort === 'name' ? expected : expected.toReversed())
          }
        }
      }
    }
    const other = await createTestOrganization(server)
    const elsewhere = await other.owner.client.get(
      `/organizations/${other.name}/workspaces?filter[project][id]=${project}`,
    )
    expect([names(elsewhere), elsewhere.json.meta.pagination['total-count']]).toEqual([[], 0])
  })

  test('all conditions hold together, and totals count what the caller sees', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const [mine, other] = [await createProject(organization), await createProject(organization)]
    const bound = {
      'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'p' } }] },
    }
    const make = async (name: string, project: string, ...given: string[]) =>
      createWorkspace(
        organization,
        { name },
        { project: { data: { type: 'projects', id: project } }, tags: tags(...given), ...bound },
      )
    await make('net-a', mine, 'network', 'core')
    await make('net-b', mine, 'network')
    await make('net-c', other, 'network', 'core')
    await make('web-a', mine, 'core')
    const seen = await make('net-d', other, 'network', 'core')
    const team = await createTeam(organization)
    await grantProject(organization, team, mine, { access: 'read' })
    await grantWorkspace(organization, team, seen, { access: 'read' })
    const member = (await addMember(server, organization, [team])).client
    const path = `/organizations/${organization.name}/workspaces`
    const ask = async (caller: Client, query: string) => {
      const answer = await caller.get(`${path}?${query}`)
      expect(answer.json.meta.pagination['total-count']).toBe(answer.json.data.length)
      return names(answer)
    }
    const tagged = 'filter[tagged][0][key]=env&filter[tagged][0][value]=p'
    const query = `search[name]=NET&search[tags]=network,core&search[wildcard-name]=net-*&${tagged}`
    expect(await ask(client, query)).toEqual(['net-a', 'net-c', 'net-d'])
    expect(await ask(member, query)).toEqual(['net-a', 'net-d'])
    expect(await ask(member, `${query}&filter[project][id]=${mine}`)).toEqual(['net-a'])
    expect(await ask(client, `${query}&filter[project][id]=${mine}&search[exclude-tags]=core`)).toEqual([])
    expect(await ask(member, `search[exclude-tags]=core&${tagged}&sort=-name`)).toEqual(['net-b'])
    expect(await ask(member, '')).toEqual(['net-a', 'net-b', 'net-d', 'web-a'])
    expect(await ask(client, '')).toHaveLength(5)
  })

  test('a bare list says at once what has changed', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const { name } = organization
    const path = `/organizations/${name}/workspaces`
    const project = await createProject(organization)
    const team = await createTeam(organization)
    const member = (await addMember(server, organization, [team])).client
    const id = await createWorkspace(organization, { name: 'a' }, inProject(project))
    await grantWorkspace(organization, team, id, { access: 'write' })
    /** The list must equal the single workspaces, before and after a change: the cache must never be stale. */
    const check = async () => {
      for (const caller of [client, member]) {
        const list = await caller.get(path)
        for (const one of list.json.data) {
          expect((await caller.get(`/workspaces/${one.id}`)).json.data).toEqual(one)
        }
        expect(list.json.meta.pagination['total-count']).toBe(list.json.data.length)
        expect((await caller.get(path)).text).toBe(list.text)
      }
      return (await client.get(path)).json.data
    }
    const steps: [string, () => Promise<Response>, (list: Json) => unknown, unknown][] = [
      [
        'lock',
        () => client.post(`/workspaces/${id}/actions/lock`),
        ([one]) => one.attributes['locked'],
        true,
      ],
      [
        'state',
        () => {
          const text = stateText('{}').replace(
            '"resources": []',
            '"resources": [{"mode":"managed","type":"null_resource","name":"a","instances":[]}]',
          )
          return postState(client, id, text, { state: base64(text) })
        },
        ([one]) => one.attributes['resource-count'],
        1,
      ],
      [
        'unlock',
        () => client.post(`/workspaces/${id}/actions/unlock`),
        ([one]) => one.attributes['locked'],
        false,
      ],
      [
        'tag',
        () => client.post(`/workspaces/${id}/relationships/tags`, tags('x', 'y')),
        ([one]) => one.attributes['tag-names'],
        ['x', 'y'],
      ],
      [
        'untag',
        () => client.delete(`/workspaces/${id}/relationships/tags`, tags('x')),
        ([one]) => one.attributes['tag-names'],
        ['y'],
      ],
      [
        'update',
        () => client.patch(`/workspaces/${id}`, body('workspaces', { description: 'new' })),
        ([one]) => one.attributes['description'],
        'new',
      ],
      [
        'project',
        () => client.patch(`/projects/${project}`, body('projects', { 'default-execution-mode': 'agent' })),
        ([one]) => one.attributes['execution-mode'],
        'agent',
      ],
      ['create', () => client.post(path, body('workspaces', { name: 'b' })), (list) => list.length, 2],
      ['delete', () => client.delete(`${path}/b`), (list) => list.length, 1],
    ]
    await check()
    for (const [step, act, look, expected] of steps) {
      expect((await act()).status, step).toBeLessThan(300)
      expect(look(await check()), step).toEqual(expected)
    }
  })

  test('bare lists of team access and of memberships say at once what has changed', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspace = await createWorkspace(organization)
    const project = await createProject(organization)
    const lists = [
      `/team-workspaces?filter[workspace][id]=${workspace}`,
      `/team-projects?filter[project][id]=${project}`,
      `/organizations/${organization.name}/organization-memberships`,
    ] as const
    const all = async () => {
      const answers = await Promise.all(lists.map((path) => client.get(path)))
      for (const { json } of answers) expect(json.meta.pagination['total-count']).toBe(json.data.length)
      return answers.map(({ json }) => json.data) as [Json, Json, Json]
    }
    expect((await all()).map((list) => list.length)).toEqual([0, 0, 1])
    const team = await createTeam(organization)
    const grant = await grantWorkspace(organization, team, workspace, { access: 'read' })
    await grantProject(organization, team, project, { access: 'read' })
    const invited = await createUser(server)
    const membership = await invitePerson(organization, invited, [team])
    const [[onWorkspace], [onProject], [, waiting]] = await all()
    expect([onWorkspace.id, onWorkspace.attributes.access]).toEqual([grant, 'read'])
    expect(onProject.attributes.access).toBe('read')
    expect([waiting.attributes.status, waiting.relationships.teams.data]).toEqual([
      'invited',
      [{ id: team, type: 'teams' }],
    ])
    await client.patch(`/team-workspaces/${grant}`, body('team-workspaces', { access: 'write' }))
    await invited.client.post(`/organization-memberships/${membership}/actions/accept`)
    const [[changed], , [, active]] = await all()
    expect(changed.attributes.access).toBe('write')
    expect(active.attributes.status).toBe('active')
    await client.delete(`/teams/${team}`)
    const [none, noneToo, [, without]] = await all()
    expect([none, noneToo]).toEqual([[], []])
    expect(without.relationships.teams.data).toEqual([])
    const unregistered = { email: `New-${invited.email}` }
    await invitePerson(organization, unregistered)
    expect((await all())[2].map((item: Json) => item.attributes.email)).toContain(unregistered.email)
    const account = { username: `new-${invited.username}`, email: unregistered.email.toLowerCase() }
    await server.admin.post('/admin/users', body('users', account))
    // Until it is accepted, an invitation shows the invited email and nothing of the account.
    expect((await all())[2].map((item: Json) => item.attributes.email)).toContain(unregistered.email)
  })
})
