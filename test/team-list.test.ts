import { expect, test } from 'vitest'
import type { Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { addMember, createTeam, createTestOrganization, type TestOrganization } from './support/world.ts'

onEachEngine('list teams', (server) => {
  const namesOf = (answer: { json: { data: { attributes: { name: string } }[] } }) =>
    answer.json.data.map((team) => team.attributes.name)
  const list = async (client: Client, organization: TestOrganization, query = '') => {
    const answer = await client.get(`/organizations/${organization.name}/teams${query}`)
    expect(answer.status).toBe(200)
    return answer
  }

  test('by name in byte order, with nine flags in each', async () => {
    const organization = await createTestOrganization(server)
    for (const name of ['beta', 'Zeta', 'alpha', '_x', '-y', '0']) await createTeam(organization, { name })
    const answer = await list(organization.owner.client, organization)
    expect(namesOf(answer)).toEqual(['-y', '0', 'Zeta', '_x', 'alpha', 'beta', 'owners'])
    expect(Object.keys(answer.json.data[0].attributes['organization-access']).toSorted()).toEqual([
      'manage-agent-pools',
      'manage-policies',
      'manage-policy-overrides',
      'manage-projects',
      'manage-run-tasks',
      'manage-vcs-settings',
      'manage-workspaces',
      'read-projects',
      'read-workspaces',
    ])
  })

  test('pages say where they are; past the end there is an empty one', async () => {
    const organization = await createTestOrganization(server)
    for (const name of ['a', 'b', 'c', 'd']) await createTeam(organization, { name })
    const path = `/api/v2/organizations/${organization.name}/teams`
    const link = (number: number) => `${path}?page%5Bnumber%5D=${number}&page%5Bsize%5D=2`
    const second = await list(organization.owner.client, organization, '?page[number]=2&page[size]=2')
    expect(namesOf(second)).toEqual(['c', 'd'])
    expect(second.json.links).toEqual({
      self: link(2),
      first: link(1),
      prev: link(1),
      next: link(3),
      last: link(3),
    })
    expect(second.json.meta.pagination).toEqual({
      'current-page': 2,
      'page-size': 2,
      'prev-page': 1,
      'next-page': 3,
      'total-pages': 3,
      'total-count': 5,
    })
    const first = await list(organization.owner.client, organization, '?page%5Bsize%5D=2')
    expect(first.json.links.prev).toBeNull()
    expect(first.json.meta.pagination['prev-page']).toBeNull()
    const beyond = await list(organization.owner.client, organization, '?page[number]=9&page[size]=2')
    expect(beyond.json.data).toEqual([])
    expect(beyond.json.meta.pagination).toMatchObject({
      'current-page': 9,
      'prev-page': 3,
      'next-page': null,
      'total-count': 5,
    })
    const whole = await list(organization.owner.client, organization, '?page[size]=1000')
    expect(whole.json.meta.pagination['page-size']).toBe(100)
    for (const bad of ['page[number]=0', 'page[number]=x', 'page[size]=-1', 'page[size]=1.5']) {
      const refused = await organization.owner.client.get(`/organizations/${organization.name}/teams?${bad}`)
      expect([refused.status, refused.json.errors[0].source.parameter]).toEqual([400, bad.split('=')[0]])
    }
    const followed = await organization.owner.client.get(`${server.address}${second.json.links.next}`)
    expect(namesOf(followed)).toEqual(['owners'])
  })

  test('q is any part of the name, without case, and means its characters', async () => {
    const organization = await createTestOrganization(server)
    for (const name of ['Platform-Ops', 'platform_dev', 'xform', 'a%b'.replace('%', '-')])
      await createTeam(organization, { name })
    const search = async (q: string) =>
      namesOf(await list(organization.owner.client, organization, `?q=${encodeURIComponent(q)}`))
    expect(await search('FORM')).toEqual(['Platform-Ops', 'platform_dev', 'xform'])
    expect(await search('m_')).toEqual(['platform_dev'])
    expect(await search('-')).toEqual(['Platform-Ops', 'a-b'])
    expect(await search('%')).toEqual([])
    expect(await search('"')).toEqual([])
    expect(await search('platform ')).toEqual([])
    expect(await search('')).toHaveLength(5)
    const paged = await list(organization.owner.client, organization, '?q=form&page[size]=1&page[number]=3')
    expect(namesOf(paged)).toEqual(['xform'])
    expect(paged.json.meta.pagination['total-count']).toBe(3)
    expect(paged.json.links.prev).toContain('q=form&')
  })

  test('q follows a team that is renamed or deleted', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const id = await createTeam(organization, { name: 'before' })
    await client.patch(`/teams/${id}`, { data: { type: 'teams', attributes: { name: 'after' } } })
    expect(namesOf(await list(client, organization, '?q=before'))).toEqual([])
    expect(namesOf(await list(client, organization, '?q=after'))).toEqual(['after'])
    await client.delete(`/teams/${id}`)
    expect(namesOf(await list(client, organization, '?q=after'))).toEqual([])
  })

  test('filter[names] is exact, and of a repeated parameter the last counts', async () => {
    const organization = await createTestOrganization(server)
    for (const name of ['one', 'two', 'Two']) await createTeam(organization, { name })
    const { client } = organization.owner
    expect(namesOf(await list(client, organization, '?filter[names]=two,one,none'))).toEqual(['one', 'two'])
    expect(namesOf(await list(client, organization, '?filter%5Bnames%5D=two'))).toEqual(['two'])
    expect(namesOf(await list(client, organization, '?filter[names]=one&filter[names]=Two'))).toEqual(['Two'])
    expect(namesOf(await list(client, organization, '?filter[names]='))).toHaveLength(4)
    expect(namesOf(await list(client, organization, '?filter[names]=one,two&q=w'))).toEqual(['two'])
    expect(namesOf(await list(client, organization, '?TagBindings=&unknown=1'))).toHaveLength(4)
  })

  test('a member sees visible teams and their own secret ones, in one order, on every page, and no other in any total', async () => {
    const organization = await createTestOrganization(server)
    const own: string[] = []
    const expected: string[] = []
    for (let n = 0; n < 24; n++) {
      const name = `t${String(n).padStart(2, '0')}`
      const visibility = n % 3 === 0 ? 'organization' : 'secret'
      const id = await createTeam(organization, { name, visibility })
      if (n % 4 === 1 || n === 23) own.push(id)
      if (visibility === 'organization' || n % 4 === 1 || n === 23) expected.push(name)
    }
    const member = await addMember(server, organization, own)
    for (const size of [1, 2, 3, 5, 7, 20, 100]) {
      const seen: string[] = []
      for (let number = 1; number <= Math.ceil(expected.length / size); number++) {
        const page = await list(member.client, organization, `?page[size]=${size}&page[number]=${number}`)
        expect(page.json.meta.pagination['total-count']).toBe(expected.length)
        seen.push(...namesOf(page))
      }
      expect(seen).toEqual(expected)
    }
    const found = await list(member.client, organization, '?q=t')
    expect(found.json.meta.pagination['total-count']).toBe(expected.length)
    // The search has no case for the caller's own secret teams either.
    expect(namesOf(await list(member.client, organization, '?q=T0&page[size]=100'))).toEqual(
      expected.filter((name) => name.startsWith('t0')),
    )
    expect(namesOf(await list(member.client, organization, '?filter[names]=t02,t05,t03'))).toEqual([
      't03',
      't05',
    ])
  })

  test('include brings each member once, and what is unknown is refused by name', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const teams = [await createTeam(organization), await createTeam(organization)]
    const member = await addMember(server, organization, teams)
    const answer = await list(client, organization, '?include=users,organization-memberships')
    const included = answer.json.included.map(
      (item: { type: string; id: string }) => `${item.type} ${item.id}`,
    )
    expect(included.toSorted()).toEqual(
      expect.arrayContaining([`organization-memberships ${member.membershipId}`, `users ${member.id}`]),
    )
    expect(new Set(included).size).toBe(included.length)
    const refused = await client.get(`/organizations/${organization.name}/teams?include=users,foo`)
    expect(refused.status).toBe(400)
    expect(refused.json.errors[0]).toMatchObject({ status: '400', title: 'Invalid include parameter' })
    expect(refused.json.errors[0].detail).toContain('foo')
    expect((await list(client, organization, '?include=')).json.included).toBeUndefined()
  })

  test('of another organization, or of none, there is nothing to be seen', async () => {
    const organization = await createTestOrganization(server)
    const other = await createTestOrganization(server)
    const foreign = await organization.owner.client.get(`/organizations/${other.name}/teams`)
    const missing = await organization.owner.client.get('/organizations/no-such-organization/teams')
    const impossible = await organization.owner.client.get('/organizations/no%20such%2Fname/teams')
    expect([foreign.status, foreign.text]).toEqual([404, missing.text])
    expect([impossible.status, impossible.text]).toEqual([404, missing.text])
    expect((await server.client().get(`/organizations/${other.name}/teams`)).status).toBe(401)
  })
})
