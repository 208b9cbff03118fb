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

const WAYS = 6

onEachEngine('accounts, asked for at once', { maxTokens: '8', maxTeamMembers: '4' }, (server) => {
  const times = <T>(work: (place: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: WAYS }, (_, place) => work(place)))
  const statuses = (answers: readonly { status: number }[]) =>
    answers.map(({ status }) => status).toSorted((a, b) => a - b)
  const oneWins = (wins: number, loses: number) => [wins, ...Array.from({ length: WAYS - 1 }, () => loses)]

  test('one name is one organization’s, one user’s', async () => {
    const name = uniqueName('race')
    const people = await times(() => createUser(server))
    const organizations = await times((place) =>
      people[place]!.client.post('/organizations', body('organizations', { name, email: 'a@example.com' })),
    )
    expect(statuses(organizations)).toEqual(oneWins(201, 422))
    const users = await times((place) =>
      server.admin.post(
        '/admin/users',
        body('users', { username: name, email: `${name}-${place}@example.com` }),
      ),
    )
    expect(statuses(users)).toEqual(oneWins(201, 422))
  })

  test('one email that many organizations invite at once is one user, whose account is made once', async () => {
    const email = `${uniqueName('wanted')}@example.com`
    const organizations = await times(() => createTestOrganization(server))
    const path = (place: number) => `/organizations/${organizations[place]!.name}/organization-memberships`
    const invited = await times((place) =>
      organizations[place]!.owner.client.post(path(place), body('organization-memberships', { email })),
    )
    expect(statuses(invited)).toEqual(Array.from({ length: WAYS }, () => 201))
    const known = await times((place) =>
      server.admin.get(`/organization-memberships/${invited[place]!.json.data.id}`),
    )
    expect(new Set(known.map(({ json }) => json.data.relationships.user.data.id)).size).toBe(1)
    const made = await times(() =>
      server.admin.post('/admin/users', body('users', { username: uniqueName('account'), email })),
    )
    expect(statuses(made)).toEqual(oneWins(201, 422))
  })

  test('limits hold, and counts are right, when everyone comes at once', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const people = await times(() => createUser(server))
    const invited = await times((place) =>
      client.post(
        `/organizations/${organization.name}/organization-memberships`,
        body(
          'organization-memberships',
          { email: people[place]!.email },
          { teams: { data: [{ type: 'teams', id: team }] } },
        ),
      ),
    )
    expect(statuses(invited)).toEqual([201, 201, 201, 201, 422, 422])
    await times(async (place) => {
      const id = invited[place]!.json.data?.id
      if (id !== undefined) {
        await people[place]!.client.post(`/organization-memberships/${id}/actions/accept`)
      }
    })
    const shown = await client.get(`/teams/${team}`)
    expect(shown.json.data.attributes['users-count']).toBe(4)
    expect(shown.json.data.relationships.users.data).toHaveLength(4)

    const { id, client: own } = await createUser(server)
    const twice = [1, 2].map(() => times(() => own.post(`/users/${id}/authentication-tokens`)))
    const tokens = (await Promise.all(twice)).flat()
    expect(statuses(tokens)).toEqual([...Array.from({ length: 7 }, () => 201), 422, 422, 422, 422, 422])
  })

  test('the last owners do not leave together, nor the last administrators', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const owners = (await owner.client.get(`/organizations/${name}/teams?filter[names]=owners`)).json.data[0]
      .id
    const second = await addMember(server, organization)
    await owner.client.post(`/teams/${owners}/relationships/users`, {
      data: [{ type: 'users', id: second.id }],
    })
    const leaving = await Promise.all(
      [owner, second].map(({ id, client }) =>
        client.delete(`/teams/${owners}/relationships/users`, { data: [{ type: 'users', id }] }),
      ),
    )
    expect(statuses(leaving)).toEqual([204, 403])

    const admins = await times(() => createUser(server))
    for (const { id } of admins) await server.admin.post(`/admin/users/${id}/actions/grant_admin`)
    const all = await server.admin.get('/admin/users?page[size]=100')
    const ids: string[] = all.json.data
      .filter((item: { attributes: { 'is-admin': boolean } }) => item.attributes['is-admin'])
      .map(({ id }: { id: string }) => id)
    const revoked = await Promise.all(
      ids.map((id) => server.admin.post(`/admin/users/${id}/actions/revoke_admin`)),
    )
    expect(revoked.some(({ status }) => status === 200)).toBe(true)
    // One of them ends the rights of the caller: 503 for those that waited meanwhile.
    expect(revoked.every(({ status }) => [200, 403, 404, 503].includes(status))).toBe(true)
    const left = await server.app.deps.database.read(({ db }) =>
      db.selectFrom('users').where('is_site_admin', '=', 1).selectAll().execute(),
    )
    expect(left.length).toBeGreaterThan(0)
    await server.app.deps.database.write(({ db }) =>
      db.updateTable('users').set({ is_site_admin: 1 }).where('username', '=', 'admin').execute(),
    )
  })

  test('owners who are suspended at once leave no other owner to be removed', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const path = `/organizations/${name}/teams?filter[names]=owners`
    const owners = (await owner.client.get(path)).json.data[0].id
    const second = await addMember(server, organization)
    const members = `/teams/${owners}/relationships/users`
    const users = (id: string) => ({ data: [{ type: 'users', id }] })
    await owner.client.post(members, users(second.id))
    const both = [owner, second]
    const act = (action: string) =>
      Promise.all(both.map(({ id }) => server.admin.post(`/admin/users/${id}/actions/${action}`)))
    for (let round = 0; round < 5; round++) {
      // Suspending an owner is never refused, so both may be suspended.
      expect(statuses(await act('suspend'))).toEqual([200, 200])
      const removed = await Promise.all(both.map(({ id }) => server.admin.delete(members, users(id))))
      expect(statuses(removed)).toEqual([403, 403])
      expect(statuses(await act('unsuspend'))).toEqual([200, 200])
    }
    // One is suspended while the other leaves. The result must match one of the two orders, and an owner must be left.
    const [suspended, left] = await Promise.all([
      server.admin.post(`/admin/users/${second.id}/actions/suspend`),
      owner.client.delete(members, users(owner.id)),
    ])
    expect(suspended.status).toBe(200)
    expect([204, 403]).toContain(left.status)
    const remaining = await server.admin.get(`/teams/${owners}`)
    expect(remaining.json.data.attributes['users-count']).toBe(left.status === 204 ? 1 : 2)
    expect((await server.admin.delete(members, users(second.id))).status).toBe(
      left.status === 204 ? 403 : 204,
    )
  })

  test('a token that is deleted by several at once is deleted once', async () => {
    const { id, client } = await createUser(server)
    for (let round = 0; round < 5; round++) {
      const token = await client.post(`/users/${id}/authentication-tokens`)
      const path = `/authentication-tokens/${token.json.data.id}`
      const deleted = await Promise.all([path, path, path].map((each) => client.delete(each)))
      expect(statuses(deleted).toSorted((a, b) => a - b)).toEqual([204, 404, 404])
    }
  })

  test('deleting a user while others invite them and create their tokens leaves nothing incomplete', async () => {
    for (let round = 0; round < 5; round++) {
      const person = await createUser(server)
      const organization = await createTestOrganization(server)
      const [removed, ...others] = await Promise.all([
        server.admin.delete(`/admin/users/${person.id}`),
        organization.owner.client.post(
          `/organizations/${organization.name}/organization-memberships`,
          body('organization-memberships', { email: person.email }),
        ),
        server.admin.post(`/users/${person.id}/authentication-tokens`),
        person.client.post(
          '/organizations',
          body('organizations', { name: uniqueName('race'), email: 'a@example.com' }),
        ),
      ])
      // 403 if the user had just created an organization and is its only owner, 503 if they have just joined one.
      expect([204, 403, 503]).toContain(removed.status)
      for (const { status } of others) expect([201, 401, 404, 422]).toContain(status)
    }
  })

  test('a team’s first tokens and its last ones keep one service account or none', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const made = await times(() => client.post(`/teams/${team}/authentication-tokens`))
    expect(statuses(made)).toEqual(Array.from({ length: WAYS }, () => 201))
    const count = async () => (await client.get(`/teams/${team}`)).json.data.attributes['users-count']
    expect(await count()).toBe(1)
    const removed = await times((place) =>
      client.delete(`/authentication-tokens/${made[place]!.json.data.id}`),
    )
    expect(statuses(removed)).toEqual(Array.from({ length: WAYS }, () => 204))
    expect(await count()).toBe(0)
    await invitePerson(organization, { email: `${uniqueName('after')}@example.com` }, [team])
  })
})
