import { expect, test } from 'vitest'
import { NOT_FOUND, type Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  createTeam,
  createTestOrganization,
  createUser,
  invitePerson,
  uniqueName,
  type TestOrganization,
} from './support/world.ts'

const NO_MEMBER = 'id does not name an active member of the organization'
const NO_MEMBERSHIP = 'id does not name a membership of the organization'

onEachEngine('team members', { maxTeamMembers: '6' }, (server) => {
  const data = (type: string, ids: readonly string[]) => ({ data: ids.map((id) => ({ type, id })) })
  const byUser = (client: Client, method: 'POST' | 'DELETE', team: string, ids: readonly string[]) =>
    client.request(method, `/teams/${team}/relationships/users`, data('users', ids))
  const byMembership = (client: Client, method: 'POST' | 'DELETE', team: string, ids: readonly string[]) =>
    client.request(
      method,
      `/teams/${team}/relationships/organization-memberships`,
      data('organization-memberships', ids),
    )
  const usersOf = async ({ owner }: TestOrganization, team: string): Promise<string[]> =>
    (await owner.client.get(`/teams/${team}`)).json.data.relationships.users.data.map(
      ({ id }: { id: string }) => id,
    )
  const ownersOf = async ({ name, owner }: TestOrganization): Promise<string> =>
    (await owner.client.get(`/organizations/${name}/teams?filter[names]=owners`)).json.data[0].id
  const problems = (json: { errors: { detail: string; source: { pointer: string } }[] }) =>
    json.errors.map(({ detail, source }) => [source.pointer, detail])

  test('users are added by name, in any case, or by id; who is in stays in', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const one = await addMember(server, organization)
    const two = await addMember(server, organization)
    const added = await byUser(client, 'POST', team, [one.username.toUpperCase(), two.id, one.id])
    expect(added.status).toBe(204)
    expect(added.text).toBe('')
    expect((await usersOf(organization, team)).sort()).toEqual([one.id, two.id].sort())
    expect((await byUser(client, 'POST', team, [one.id])).status).toBe(204)
    expect((await client.get(`/teams/${team}`)).json.data.attributes['users-count']).toBe(2)
    expect((await one.client.get(`/teams/${team}`)).status).toBe(200)
    expect((await byUser(client, 'DELETE', team, [one.username])).status).toBe(204)
    expect((await byUser(client, 'DELETE', team, [one.username])).status).toBe(204)
    expect((await one.client.get(`/teams/${team}`)).text).toBe(NOT_FOUND)
    expect(await usersOf(organization, team)).toEqual([two.id])
    expect((await byUser(client, 'POST', team, [])).status).toBe(204)
  })

  test('all or none: adding unknown, foreign and invited users is refused alike, at their places', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const member = await addMember(server, organization)
    const outsider = await createUser(server)
    const invited = await createUser(server)
    await invitePerson(organization, invited)
    const given = [
      member.id,
      outsider.id,
      member.id,
      invited.username,
      'user-1111111111111111',
      'no\u0000body',
    ]
    const refusal = await byUser(client, 'POST', team, given)
    expect(refusal.status).toBe(422)
    expect(problems(refusal.json)).toEqual([1, 3, 4, 5].map((place) => [`/data/${place}/id`, NO_MEMBER]))
    expect(await usersOf(organization, team)).toEqual([])
    const wrong = await client.post(`/teams/${team}/relationships/users`, {
      data: [{ type: 'teams', id: '' }],
    })
    expect(problems(wrong.json)).toEqual([
      ['/data/0/type', 'type must be "users"'],
      ['/data/0/id', 'id must be a non-empty string'],
    ])
    const none = await client.post(`/teams/${team}/relationships/users`, { data: {} })
    expect(problems(none.json)).toEqual([['/data', 'data must be an array']])
  })

  test('whoever is removed may be gone: it does not matter which of two requests ends a membership', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const gone = await addMember(server, organization, [team])
    const kept = await addMember(server, organization, [team])
    const invited = await createUser(server)
    const invitation = await invitePerson(organization, invited)
    await byMembership(client, 'POST', team, [invitation])
    expect((await client.delete(`/organization-memberships/${gone.membershipId}`)).status).toBe(204)
    const trail = `/organizations/${organization.name}/audit-events?page[size]=1`
    const last = (await client.get(trail)).json.data[0].id
    const nobody = ['user-1111111111111111', 'no\u0000body', (await createUser(server)).username]
    expect((await byUser(client, 'DELETE', team, [gone.username, gone.id, ...nobody])).status).toBe(204)
    expect((await byMembership(client, 'DELETE', team, [gone.membershipId, 'nonsense'])).status).toBe(204)
    // Before they accept, nobody may learn which user was invited.
    expect((await byUser(client, 'DELETE', team, [invited.username])).status).toBe(204)
    expect((await client.get(trail)).json.data[0].id).toBe(last)
    expect(await usersOf(organization, team)).toEqual([kept.id])
    await invited.client.post(`/organization-memberships/${invitation}/actions/accept`)
    expect((await usersOf(organization, team)).sort()).toEqual([kept.id, invited.id].sort())
    expect((await byUser(client, 'DELETE', team, [gone.id, kept.id])).status).toBe(204)
    expect(await usersOf(organization, team)).toEqual([invited.id])
    const wrong = await byUser(client, 'DELETE', team, [''])
    expect(problems(wrong.json)).toEqual([['/data/0/id', 'id must be a non-empty string']])
  })

  test('a name that looks like the id of another user does not stand for that user', async () => {
    const organization = await createTestOrganization(server)
    const team = await createTeam(organization)
    const member = await addMember(server, organization)
    const email = `${member.id}@example.com`.toLowerCase()
    const membership = await invitePerson(organization, { email })
    const impostor = await server.admin.post('/admin/users', {
      data: { type: 'users', attributes: { username: member.id, email } },
    })
    const token = await server.admin.post(`/users/${impostor.json.data.id}/authentication-tokens`)
    const client = server.client(token.json.data.attributes.token)
    expect((await client.post(`/organization-memberships/${membership}/actions/accept`)).status).toBe(200)
    const { client: owner } = organization.owner
    expect((await byUser(owner, 'POST', team, [member.id])).status).toBe(204)
    expect(await usersOf(organization, team)).toEqual([member.id])
    const access = `/organizations/${organization.name}/effective-access?user=${member.id}`
    expect((await owner.get(access)).status).toBe(200)
    // Neither once that user has left, nor once there is no such user.
    await owner.delete(`/organization-memberships/${member.membershipId}`)
    const refused = await byUser(owner, 'POST', team, [member.id])
    expect(problems(refused.json)).toEqual([['/data/0/id', NO_MEMBER]])
    expect(await usersOf(organization, team)).toEqual([])
    expect((await server.admin.delete(`/admin/users/${member.id}`)).status).toBe(204)
    expect((await owner.get(access)).text).toBe(NOT_FOUND)
  })

  test('memberships are added, the invited ones too: they count once accepted', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const member = await addMember(server, organization)
    const person = await createUser(server)
    const invited = await invitePerson(organization, person)
    const other = await createTestOrganization(server)
    const foreign = await addMember(server, other)
    const refused = await byMembership(client, 'POST', team, [member.membershipId, foreign.membershipId])
    expect(problems(refused.json)).toEqual([['/data/1/id', NO_MEMBERSHIP]])
    expect((await byMembership(client, 'POST', team, [member.membershipId, invited])).status).toBe(204)
    expect(await usersOf(organization, team)).toEqual([member.id])
    const list = `/teams/${team}/relationships/organization-memberships`
    const ids = async (query = '') =>
      (await client.get(`${list}${query}`)).json.data.map(({ id }: { id: string }) => id)
    expect(await ids()).toEqual([member.membershipId, invited])
    expect(await ids('?filter[status]=invited')).toEqual([invited])
    expect(await ids('?filter%5Bis_service_account%5D=true')).toEqual([])
    expect(await ids('?page[size]=1&page[number]=2')).toEqual([invited])
    expect((await client.get(`${list}?filter[is_service_account]=maybe`)).status).toBe(400)
    expect((await client.get(list)).json.meta.pagination['total-count']).toBe(2)
    expect(await ids('?sort=status')).toEqual([member.membershipId, invited])
    expect(await ids('?sort=-status')).toEqual([invited, member.membershipId])
    expect(await ids('?filter[status]=inactive')).toEqual([])
    const second = (await client.get(`${list}?sort=-status&page[size]=1&page[number]=2`)).json
    expect(second.data[0].id).toBe(member.membershipId)
    expect(second.links.prev).toContain('sort=-status')
    expect((await client.get(`${list}?sort=email`)).status).toBe(400)
    // Like the provider, which reads whole memberships, a hundred at a time.
    const whole = await client.get(`${list}?page[size]=100`)
    expect(whole.json.meta.pagination).toMatchObject({ 'page-size': 100, 'next-page': null })
    expect(whole.json.data[0]).toMatchObject({
      type: 'organization-memberships',
      attributes: { status: 'active', email: member.email },
      relationships: {
        organization: { data: { id: organization.name, type: 'organizations' } },
        user: { data: { id: member.id, type: 'users' } },
        teams: { data: [{ id: team, type: 'teams' }] },
      },
    })
    await person.client.post(`/organization-memberships/${invited}/actions/accept`)
    expect((await usersOf(organization, team)).sort()).toEqual([member.id, person.id].sort())
    expect((await byMembership(client, 'DELETE', team, [invited])).status).toBe(204)
    expect(await usersOf(organization, team)).toEqual([member.id])
  })

  test('a team has so many members', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const members: string[] = []
    for (let count = 0; count < 7; count++) {
      members.push(await invitePerson(organization, { email: `${uniqueName('someone')}@example.com` }))
    }
    const tooMany = await byMembership(client, 'POST', team, members)
    expect(problems(tooMany.json)).toEqual([['/data', 'data may hold at most 6 items']])
    expect((await byMembership(client, 'POST', team, members.slice(0, 6))).status).toBe(204)
    const full = await byMembership(client, 'POST', team, members.slice(5))
    expect(full.status).toBe(422)
    expect(full.json.errors[0].detail).toContain('PURSER_MAX_TEAM_MEMBERS')
    expect((await byMembership(client, 'POST', team, members.slice(0, 6))).status).toBe(204)
  })

  test('with manage-membership one changes teams that one sees, but never owners; others change none', async () => {
    const organization = await createTestOrganization(server)
    const managers = await createTeam(organization, { 'organization-access': { 'manage-membership': true } })
    const secret = await createTeam(organization)
    const open = await createTeam(organization, { visibility: 'organization' })
    const manager = await addMember(server, organization, [managers])
    const member = await addMember(server, organization, [open])
    const owners = await ownersOf(organization)
    for (const team of [secret, owners, 'team-1111111111111111', 'nonsense']) {
      for (const method of ['POST', 'DELETE'] as const) {
        expect((await byUser(manager.client, method, team, [member.id])).text).toBe(NOT_FOUND)
        expect((await byMembership(manager.client, method, team, ['x'])).text).toBe(NOT_FOUND)
      }
      const list = await manager.client.get(`/teams/${team}/relationships/organization-memberships`)
      expect(list.text).toBe(NOT_FOUND)
    }
    expect((await byUser(manager.client, 'DELETE', open, [member.id])).status).toBe(204)
    expect((await byUser(manager.client, 'POST', open, [member.id])).status).toBe(204)
    expect((await byUser(member.client, 'POST', open, [manager.id])).text).toBe(NOT_FOUND)
    expect((await byUser(manager.client, 'POST', managers, [member.id])).status).toBe(204)
    expect((await byUser(member.client, 'DELETE', open, [member.id])).status).toBe(204)
  })

  test('owners always keep a person, who is not suspended', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const owners = await ownersOf(organization)
    const last = {
      errors: [
        {
          status: '403',
          title: 'forbidden',
          detail: 'an organization must keep an owner who is a person and not suspended',
        },
      ],
    }
    for (const client of [owner.client, server.admin]) {
      const refused = await byUser(client, 'DELETE', owners, [owner.username])
      expect(refused.status).toBe(403)
      expect(refused.json).toEqual(last)
    }
    await invitePerson(organization, { email: `${uniqueName('invited')}@example.com` }, [owners])
    expect((await byUser(owner.client, 'DELETE', owners, [owner.id])).json).toEqual(last)
    // The service account of the team `owners` is no person.
    expect((await owner.client.post(`/teams/${owners}/authentication-token`)).status).toBe(201)
    expect((await byUser(owner.client, 'DELETE', owners, [owner.id])).json).toEqual(last)
    const asAdministrator = await server.admin.get(`/organizations/${organization.name}/teams`)
    expect(asAdministrator.json.data).toMatchObject([{ id: owners, attributes: { visibility: 'secret' } }])
    const second = await addMember(server, organization)
    expect((await byUser(owner.client, 'POST', owners, [second.id])).status).toBe(204)
    await server.admin.post(`/admin/users/${second.id}/actions/suspend`)
    expect((await byUser(owner.client, 'DELETE', owners, [owner.id])).status).toBe(403)
    await server.admin.post(`/admin/users/${second.id}/actions/unsuspend`)
    expect((await byUser(owner.client, 'DELETE', owners, [owner.id, second.id])).status).toBe(403)
    expect((await byUser(owner.client, 'DELETE', owners, [owner.id])).status).toBe(204)
    expect((await byUser(owner.client, 'POST', owners, [owner.id])).text).toBe(NOT_FOUND)
    expect(
      (await second.client.get(`/organizations/${organization.name}`)).json.data.attributes.permissions,
    ).toMatchObject({ 'can-update': true })
  })
})
