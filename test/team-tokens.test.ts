import { NOT_FOUND } from './support/client.ts'
import { expect, test } from 'vitest'
import { onEachEngine } from './support/on-each-engine.ts'
import { addMember, createTeam, createTestOrganization, type TestOrganization } from './support/world.ts'

const UNAUTHORIZED = '{"errors":[{"status":"401","title":"unauthorized"}]}'

onEachEngine('team tokens', { maxTokens: '3' }, (server) => {
  const token = (description: string | null) => ({ data: { type: '', attributes: { description } } })
  const ids = (json: { data: { id: string }[] }) => json.data.map(({ id }) => id)
  const ownersOf = async ({ name, owner }: TestOrganization): Promise<string> =>
    (await owner.client.get(`/organizations/${name}/teams?filter[names]=owners`)).json.data[0].id

  test('the first token makes the service account, and it goes with the last one', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const account = `api-team_${team.slice(5)}`
    const single = `/teams/${team}/authentication-token`
    expect((await client.get(single)).text).toBe(NOT_FOUND)
    expect((await client.delete(single)).text).toBe(NOT_FOUND)
    const first = await client.post(single)
    expect(first.status).toBe(201)
    expect(first.json.data.attributes.token).toMatch(/^purser_team_/)
    expect(first.json.data.relationships).toEqual({
      'created-by': { data: { id: organization.owner.id, type: 'users' } },
      team: { data: { id: team, type: 'teams' } },
    })
    const shown = await client.get(`/teams/${team}?include=users,organization-memberships`)
    expect(shown.json.data.attributes['users-count']).toBe(1)
    expect(shown.json.data.relationships.users.data).toEqual([{ id: account, type: 'users' }])
    expect(shown.json.included[0].attributes).toMatchObject({ username: account, 'is-service-account': true })
    const membership = shown.json.included[1]
    expect(membership.attributes).toMatchObject({ status: 'active', email: null })
    // The oldest memberships come first, so the account is not merely the one that is cut off.
    const later = await addMember(server, organization)
    const memberships = await client.get(`/organizations/${organization.name}/organization-memberships`)
    expect(ids(memberships.json)).not.toContain(membership.id)
    expect(ids(memberships.json)).toContain(later.membershipId)
    const listed = await client.get(
      `/teams/${team}/relationships/organization-memberships?filter[is_service_account]=true`,
    )
    expect(ids(listed.json)).toEqual([membership.id])
    expect(
      (await client.get(`/organization-memberships/${membership.id}?include=user`)).json.included[0].id,
    ).toBe(account)

    const described = await client.post(`/teams/${team}/authentication-tokens`, token('build'))
    const own = server.client(described.json.data.attributes.token)
    const details = await own.get('/account/details')
    expect(details.json.data).toMatchObject({
      id: account,
      relationships: { 'authenticated-resource': { data: { id: team, type: 'teams' } } },
    })
    const { permissions } = details.json.data.attributes
    expect(Object.keys(permissions).filter((name) => permissions[name] === true)).toEqual([
      'can-view-profile',
    ])
    expect((await own.get(`/teams/${team}`)).status).toBe(200)
    expect((await own.get('/organizations')).json.data).toHaveLength(1)

    expect((await client.delete(single)).status).toBe(204)
    expect((await client.get(`/users/${account}`)).status).toBe(200)
    expect((await client.delete(`/authentication-tokens/${described.json.data.id}`)).status).toBe(204)
    expect((await client.get(`/users/${account}`)).text).toBe(NOT_FOUND)
    expect((await client.get(`/teams/${team}`)).json.data.attributes['users-count']).toBe(0)
    expect((await own.get('/account/details')).text).toBe(UNAUTHORIZED)
    expect((await client.post(single)).status).toBe(201)
  })

  test('the single token is replaced; described ones stand beside it, so many in all', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const first = await client.post(`/teams/${team}/authentication-token`)
    const one = await client.post(`/teams/${team}/authentication-tokens`, token('one'))
    const two = await client.post(`/teams/${team}/authentication-tokens`, token('two'))
    const refused = await client.post(`/teams/${team}/authentication-tokens`, token('three'))
    expect(refused.status).toBe(422)
    expect(refused.json.errors[0].detail).toContain('PURSER_MAX_TOKENS')
    const second = await client.post(`/teams/${team}/authentication-token`, token(null))
    expect(second.status).toBe(201)
    const old = server.client(first.json.data.attributes.token)
    expect((await old.get('/account/details')).text).toBe(UNAUTHORIZED)
    expect((await client.get(`/teams/${team}/authentication-token`)).json.data.id).toBe(second.json.data.id)
    const list = await client.get(`/teams/${team}/authentication-tokens`)
    expect(ids(list.json)).toEqual([one, two, second].map((made) => made.json.data.id))
    expect(list.json.data.every((item: never) => item['attributes']['token'] === null)).toBe(true)
    const all = await client.get(`/organizations/${organization.name}/team-tokens`)
    expect(all.json.data).toEqual(list.json.data)
    expect(all.json.meta.pagination['total-count']).toBe(3)
  })

  test('a single token renews itself, and who has seen it is known further on', async () => {
    const organization = await createTestOrganization(server)
    const single = `/teams/${await ownersOf(organization)}/authentication-token`
    const first = (await organization.owner.client.post(single)).json.data.attributes.token
    const second = await server.client(first).post(single)
    expect(second.status, second.text).toBe(201)
    expect((await server.client(first).get('/account/details')).text).toBe(UNAUTHORIZED)
    const seen = await server.app.deps.database.read((tx) =>
      tx.db
        .selectFrom('token_origins')
        .where('token_id', '=', second.json.data.id)
        .select('user_id')
        .execute(),
    )
    expect(seen).toContainEqual({ user_id: organization.owner.id })
  })

  test('a token that is named in place of its team is deleted, as the tfe provider closes an ephemeral one', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const single = (await client.post(`/teams/${team}/authentication-token`)).json.data.id
    const described = (await client.post(`/teams/${team}/authentication-tokens`, token('run'))).json.data.id
    const close = (by: typeof client, id: string) => by.delete(`/teams/${id}/authentication-token`)
    const member = await addMember(server, organization, [team])
    await client.patch(`/teams/${team}`, {
      data: { type: 'teams', attributes: { 'allow-member-token-management': false } },
    })
    const stranger = (await createTestOrganization(server)).owner
    for (const by of [member.client, stranger.client])
      expect((await close(by, described)).text).toBe(NOT_FOUND)
    const trail = async () =>
      (await client.get(`/organizations/${organization.name}/audit-events?page[size]=1`)).json.data[0]
    expect((await close(client, described)).status).toBe(204)
    expect((await trail()).attributes).toMatchObject({ action: 'team-token.delete' })
    expect((await close(client, described)).text).toBe(NOT_FOUND)
    expect(ids((await client.get(`/teams/${team}/authentication-tokens`)).json)).toEqual([single])
    const own = await server.admin.post(`/users/${organization.owner.id}/authentication-tokens`)
    const ofAll = await client.post(`/organizations/${organization.name}/authentication-token`)
    for (const other of [own, ofAll]) expect((await close(client, other.json.data.id)).text).toBe(NOT_FOUND)
    expect((await client.get(`/teams/${described}/authentication-token`)).text).toBe(NOT_FOUND)
    expect((await close(client, team)).status).toBe(204)
  })

  test('a service account is nobody’s to add, remove, invite or name, or to give a token', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const other = await createTeam(organization)
    await client.post(`/teams/${team}/authentication-token`)
    const account = `api-team_${team.slice(5)}`
    const shown = await client.get(`/teams/${team}?include=organization-memberships`)
    const membership = shown.json.included[0].id
    const users = { data: [{ type: 'users', id: account }] }
    const memberships = { data: [{ type: 'organization-memberships', id: membership }] }
    const kept = "a team's service account comes and goes with the team's tokens"
    for (const [method, path, body, detail] of [
      ['POST', `/teams/${team}/relationships/users`, users, kept],
      ['POST', `/teams/${team}/relationships/organization-memberships`, memberships, kept],
      [
        'POST',
        `/teams/${other}/relationships/users`,
        users,
        'id does not name an active member of the organization',
      ],
      [
        'POST',
        `/teams/${other}/relationships/organization-memberships`,
        memberships,
        'id does not name a membership of the organization',
      ],
      ['DELETE', `/organization-memberships/${membership}`, undefined, kept],
    ] as const) {
      const refused = await client.request(method, path, body)
      expect(refused.status).toBe(422)
      expect(refused.json.errors[0].detail).toBe(detail)
    }
    expect((await server.admin.post(`/users/${account}/authentication-tokens`)).status).toBe(422)
    expect((await client.post(`/users/${account}/authentication-tokens`)).text).toBe(NOT_FOUND)
    expect((await server.admin.delete(`/admin/users/${account}`)).text).toBe(NOT_FOUND)
  })

  test('removing whoever is in a team leaves its service account', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    await client.post(`/teams/${team}/authentication-token`)
    for (const relation of ['users', 'organization-memberships']) {
      await addMember(server, organization, [team])
      const { relationships } = (await client.get(`/teams/${team}?include=organization-memberships`)).json
        .data
      const members = relationships[relation]
      expect(members.data).toHaveLength(2)
      expect((await client.delete(`/teams/${team}/relationships/${relation}`, members)).status).toBe(204)
      const { data: left } = (await client.get(`/teams/${team}`)).json.data.relationships.users
      expect(left).toEqual([{ type: 'users', id: `api-team_${team.slice(5)}` }])
    }
    // The provider may have read the members before the last token was deleted.
    await client.delete(`/teams/${team}/authentication-token`)
    const gone = { data: [{ type: 'users', id: `api-team_${team.slice(5)}` }] }
    expect((await client.delete(`/teams/${team}/relationships/users`, gone)).status).toBe(204)
  })

  test('members manage their team’s tokens while it lets them; others find none', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const team = await createTeam(organization)
    const secret = await createTeam(organization)
    const member = await addMember(server, organization, [team])
    const hidden = await owner.client.post(`/teams/${secret}/authentication-token`)
    const made = await member.client.post(`/teams/${team}/authentication-tokens`, token('mine'))
    expect(made.status).toBe(201)
    const tokenId = made.json.data.id
    expect(ids((await member.client.get(`/organizations/${name}/team-tokens`)).json)).toEqual([tokenId])
    for (const [method, path] of [
      ['POST', `/teams/${secret}/authentication-token`],
      ['GET', `/teams/${secret}/authentication-tokens`],
      ['GET', `/authentication-tokens/${hidden.json.data.id}`],
      ['DELETE', `/authentication-tokens/${hidden.json.data.id}`],
      ['GET', `/users/api-team_${secret.slice(5)}`],
      ['GET', '/authentication-tokens/at-1111111111111111'],
      ['POST', '/teams/team-1111111111111111/authentication-token'],
    ] as const) {
      expect((await member.client.request(method, path)).text).toBe(NOT_FOUND)
    }
    const own = server.client(made.json.data.attributes.token)
    for (const path of [`/teams/${team}/authentication-tokens`, `/authentication-tokens/${tokenId}`]) {
      expect((await own.get(path)).text).toBe(NOT_FOUND)
    }
    expect((await own.get(`/organizations/${name}/team-tokens`)).json.data).toEqual([])
    await owner.client.patch(`/teams/${team}`, {
      data: { type: 'teams', attributes: { 'allow-member-token-management': false } },
    })
    expect((await member.client.get(`/authentication-tokens/${tokenId}`)).text).toBe(NOT_FOUND)
    expect((await member.client.get(`/organizations/${name}/team-tokens`)).json.data).toEqual([])
    expect((await owner.client.get(`/authentication-tokens/${tokenId}`)).status).toBe(200)
  })

  test('the owners’ token acts as an owner; the organization’s manages all but that one', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const owners = await ownersOf(organization)
    const made = await owner.client.post(`/teams/${owners}/authentication-token`)
    const asOwner = server.client(made.json.data.attributes.token)
    const changed = await asOwner.patch(`/organizations/${name}`, {
      data: { type: 'organizations', attributes: { email: 'owners@example.com' } },
    })
    expect(changed.status).toBe(200)
    expect((await asOwner.post('/organizations', '{')).text).toBe(NOT_FOUND)
    const team = await createTeam(organization)
    const byTeam = await asOwner.post(`/teams/${team}/authentication-token`)
    expect(byTeam.json.data.relationships['created-by'].data).toEqual({ id: owners, type: 'teams' })
    // A caller who may not see the owners' team does not see it as the creator.
    const member = await addMember(server, organization, [team])
    const seen = await member.client.get(`/teams/${team}/authentication-token`)
    expect(seen.json.data.relationships['created-by'].data).toBeNull()

    const organizationToken = await asOwner.post(`/organizations/${name}/authentication-token`)
    const asOrganization = server.client(organizationToken.json.data.attributes.token)
    expect((await asOrganization.get(`/teams/${owners}/authentication-token`)).text).toBe(NOT_FOUND)
    expect((await asOrganization.get(`/authentication-tokens/${made.json.data.id}`)).text).toBe(NOT_FOUND)
    const visible = await asOrganization.get(`/organizations/${name}/team-tokens`)
    expect(ids(visible.json)).toEqual([byTeam.json.data.id])
    const byOrganization = await asOrganization.post(`/teams/${team}/authentication-tokens`, token('x'))
    expect(byOrganization.json.data.relationships['created-by'].data).toEqual({
      id: name,
      type: 'organizations',
    })
  })

  test('with its team its tokens and its service account are gone', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const made = await client.post(`/teams/${team}/authentication-token`)
    expect((await client.delete(`/teams/${team}`)).status).toBe(204)
    const own = server.client(made.json.data.attributes.token)
    expect((await own.get('/account/details')).text).toBe(UNAUTHORIZED)
    expect((await server.admin.get(`/users/api-team_${team.slice(5)}`)).text).toBe(NOT_FOUND)
    expect((await client.get(`/authentication-tokens/${made.json.data.id}`)).text).toBe(NOT_FOUND)
  })
})
