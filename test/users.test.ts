import { NOT_FOUND } from './support/client.ts'
import { expect, test } from 'vitest'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createUser,
  invitePerson,
  uniqueName,
} from './support/world.ts'

const UNAUTHORIZED = '{"errors":[{"status":"401","title":"unauthorized"}]}'

onEachEngine('users', (server) => {
  const user = (attributes: object) => body('users', attributes)
  const act = (id: string, action: string) => server.admin.post(`/admin/users/${id}/actions/${action}`)
  const problems = (json: { errors: { detail: string; source: { pointer: string } }[] }) =>
    json.errors.map(({ detail, source }) => [source.pointer, detail])

  test('an administrator makes users; name and email are taken without case; passwords are in no answer', async () => {
    const username = uniqueName('Ann')
    const made = await server.admin.post(
      '/admin/users',
      user({ username, email: `${username}@example.com`, password: 'correct horse', 'is-admin': false }),
    )
    expect(made.status).toBe(201)
    expect(made.json.data.attributes).toMatchObject({
      username,
      email: `${username}@example.com`,
      'is-admin': false,
      'is-suspended': false,
      'is-service-account': false,
    })
    expect(made.text).not.toMatch(/"password"|correct|argon/)
    const stored = await server.app.deps.database.read(({ db }) =>
      db.selectFrom('users').where('username', '=', username).selectAll().executeTakeFirstOrThrow(),
    )
    expect(stored.password_hash).toMatch(/^argon2id\$19456\$2\$1\$/)
    const again = await server.admin.post(
      '/admin/users',
      user({ username: username.toUpperCase(), email: `${username.toLowerCase()}@EXAMPLE.com` }),
    )
    expect(again.status).toBe(422)
    expect(problems(again.json)).toEqual([
      ['/data/attributes/username', 'username is already used by another user'],
      ['/data/attributes/email', 'email is already used by another user'],
    ])
    const wrong = await server.admin.post('/admin/users', user({ username, password: 'short' }))
    expect(problems(wrong.json).map(([pointer]) => pointer)).toEqual([
      '/data/attributes/email',
      '/data/attributes/password',
      '/data/attributes/username',
    ])
  })

  test('every problem of a body is said at its place', async () => {
    const refused = await server.admin.post('/admin/users', user({ username: 'API-x', password: 'short' }))
    expect(problems(refused.json)).toEqual([
      [
        '/data/attributes/username',
        'username must be 1 to 90 letters, numbers, - and _, and must not begin with api-',
      ],
      ['/data/attributes/email', 'email is missing'],
      ['/data/attributes/password', 'password must be a text of 8 to 512 characters'],
    ])
  })

  test('whoever was invited by email gets the account, and keeps the invitation', async () => {
    const organization = await createTestOrganization(server)
    const username = uniqueName('late')
    const email = `${username}@example.com`
    const membership = await invitePerson(organization, { email: email.toUpperCase() })
    const shown = await organization.owner.client.get(`/organization-memberships/${membership}?include=user`)
    expect(shown.json.included[0].attributes.username).toBeNull()
    // Only site administrators may know the user.
    const known = await server.admin.get(`/organization-memberships/${membership}`)
    const { id } = known.json.data.relationships.user.data
    expect(id).not.toBe(shown.json.data.relationships.user.data.id)
    const refused = await server.admin.post(`/users/${id}/authentication-tokens`)
    expect(refused.status).toBe(422)
    const made = await server.admin.post('/admin/users', user({ username, email }))
    expect(made.status).toBe(201)
    expect(made.json.data.id).toBe(id)
    const token = await server.admin.post(`/users/${made.json.data.id}/authentication-tokens`)
    const client = server.client(token.json.data.attributes.token)
    expect((await client.post(`/organization-memberships/${membership}/actions/accept`)).status).toBe(200)
  })

  test('the list has everyone once, by name, and is searched by name and email', async () => {
    const one = await createUser(server, 'Zoe')
    const two = await createUser(server, 'adam')
    const list = await server.admin.get('/admin/users?page[size]=100')
    const names: string[] = list.json.data.map(
      (item: { attributes: { username: string; email: string } }) =>
        item.attributes.username ?? item.attributes.email,
    )
    expect(names).toEqual(expect.arrayContaining([one.username, two.username, 'admin']))
    const keys = names.map((name) => name.toLowerCase())
    expect(keys).toEqual(keys.toSorted((a, b) => (a < b ? -1 : 1)))
    const found = await server.admin.get(`/admin/users?q=${two.email.toUpperCase()}`)
    expect(found.json.data.map(({ id }: { id: string }) => id)).toEqual([two.id])
    expect(found.json.meta.pagination['total-count']).toBe(1)
    expect((await server.admin.get('/admin/users?q=%00')).json.data).toEqual([])
  })

  test('administration is for site administrators alone', async () => {
    const { owner } = await createTestOrganization(server)
    for (const [method, path] of [
      ['GET', '/admin/users'],
      ['POST', '/admin/users'],
      ['POST', `/admin/users/${owner.id}/actions/suspend`],
      ['POST', `/admin/users/${owner.id}/actions/grant_admin`],
      ['POST', '/admin/users/user-1111111111111111/actions/grant_admin'],
      ['DELETE', `/admin/users/${owner.id}`],
      ['DELETE', '/admin/users/nobody'],
    ] as const) {
      const answer = await owner.client.request(method, path, method === 'POST' ? '{' : undefined)
      expect(answer.text).toBe(NOT_FOUND)
    }
    expect((await server.admin.delete('/admin/users/user-1111111111111111')).text).toBe(NOT_FOUND)
  })

  test('a suspended user’s tokens are void until it ends', async () => {
    const { id, client } = await createUser(server)
    const suspended = await act(id, 'suspend')
    expect(suspended.status).toBe(200)
    expect(suspended.json.data.attributes['is-suspended']).toBe(true)
    expect((await act(id, 'suspend')).status).toBe(200)
    expect((await client.get('/account/details')).text).toBe(UNAUTHORIZED)
    expect((await act(id, 'unsuspend')).json.data.attributes['is-suspended']).toBe(false)
    expect((await client.get('/account/details')).status).toBe(200)
  })

  test('administrators are made and unmade, and the last one stays', async () => {
    const { json } = await server.admin.get('/account/details')
    const adminId: string = json.data.id
    const last = {
      errors: [{ status: '403', title: 'forbidden', detail: 'this is the last site administrator' }],
    }
    for (const refused of [
      await act(adminId, 'revoke_admin'),
      await act(adminId, 'suspend'),
      await server.admin.delete(`/admin/users/${adminId}`),
    ]) {
      expect(refused.status).toBe(403)
      expect(refused.json).toEqual(last)
    }
    const other = await createUser(server)
    expect((await other.client.get('/admin/users')).status).toBe(404)
    expect((await act(other.id, 'grant_admin')).json.data.attributes['is-admin']).toBe(true)
    expect((await other.client.get('/admin/users')).status).toBe(200)
    expect((await act(other.id, 'suspend')).status).toBe(200)
    expect((await act(adminId, 'revoke_admin')).status).toBe(403)
    expect((await act(other.id, 'revoke_admin')).json.data.attributes['is-admin']).toBe(false)
  })

  test('a deleted user leaves organizations and teams; the last owner of one stays', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const team = await createTeam(organization)
    const member = await addMember(server, organization, [team])
    const users = async () => (await owner.client.get(`/teams/${team}`)).json.data.attributes['users-count']
    expect(await users()).toBe(1)
    const refused = await server.admin.delete(`/admin/users/${owner.id}`)
    expect(refused.status).toBe(403)
    expect(refused.json.errors[0].detail).toBe(
      `this is the last owner of the organization ${organization.name}`,
    )
    expect((await server.admin.delete(`/admin/users/${member.id}`)).status).toBe(204)
    expect(await users()).toBe(0)
    expect((await member.client.get('/account/details')).text).toBe(UNAUTHORIZED)
    expect((await owner.client.get(`/organization-memberships/${member.membershipId}`)).text).toBe(NOT_FOUND)
    expect((await server.admin.delete(`/admin/users/${member.id}`)).text).toBe(NOT_FOUND)
    expect((await owner.client.delete(`/organizations/${organization.name}`)).status).toBe(204)
    expect((await server.admin.delete(`/admin/users/${owner.id}`)).status).toBe(204)
  })

  test('account/details says who one is', async () => {
    const { id, username, email, client } = await createUser(server)
    const details = await client.get('/account/details')
    expect(details.status).toBe(200)
    expect(details.json.data).toMatchObject({
      id,
      type: 'users',
      attributes: {
        username,
        email,
        'is-admin': false,
        permissions: { 'can-create-organizations': true, 'can-manage-user-tokens': true },
      },
      relationships: { 'authenticated-resource': { data: { id, type: 'users' } } },
    })
  })

  test('one sees oneself and whom one shares an organization with, without email; site administrators see all', async () => {
    const organization = await createTestOrganization(server)
    const member = await addMember(server, organization)
    const invited = await createUser(server)
    await invitePerson(organization, invited)
    const outsider = await createUser(server)
    const seen = await organization.owner.client.get(`/users/${member.id}`)
    expect(seen.status).toBe(200)
    expect(seen.json.data.attributes.username).toBe(member.username)
    const { permissions } = seen.json.data.attributes
    expect(Object.keys(permissions).filter((name) => permissions[name] === true)).toEqual([
      'can-view-profile',
    ])
    for (const hidden of ['email', 'is-admin', 'is-site-admin', 'is-suspended']) {
      expect(seen.json.data.attributes).not.toHaveProperty(hidden)
    }
    expect((await member.client.get(`/users/${member.id}`)).json.data.attributes.email).toBe(member.email)
    expect((await outsider.client.get(`/users/${outsider.id}`)).status).toBe(200)
    expect((await invited.client.get(`/users/${invited.id}`)).status).toBe(200)
    expect((await server.admin.get(`/users/${outsider.id}`)).json.data.attributes.email).toBe(outsider.email)
    for (const [client, id] of [
      [outsider.client, member.id],
      [invited.client, member.id],
      [member.client, invited.id],
      [organization.owner.client, outsider.id],
      [organization.owner.client, 'user-1111111111111111'],
      [organization.owner.client, 'api-team_1111111111111111'],
      [organization.owner.client, member.username],
    ] as const) {
      expect((await client.get(`/users/${id}`)).text).toBe(NOT_FOUND)
    }
  })
})
