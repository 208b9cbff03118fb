import { expect, test } from 'vitest'
import { NOT_FOUND, type Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createUser,
  invitePerson,
  uniqueName,
  type TestOrganization,
} from './support/world.ts'

onEachEngine('organization memberships', { maxMembers: '6', maxTeamMembers: '3' }, (server) => {
  const path = ({ name }: TestOrganization) => `/organizations/${name}/organization-memberships`
  const invite = (client: Client, organization: TestOrganization, email: string, teams: string[] = []) =>
    client.post(
      path(organization),
      body(
        'organization-memberships',
        { email },
        { teams: { data: teams.map((id) => ({ id, type: 'teams' })) } },
      ),
    )
  const newEmail = () => `${uniqueName('someone')}@example.com`
  const ids = (json: { data: { id: string }[] }) => json.data.map(({ id }) => id)
  const remove = (client: Client, id: string) => client.delete(`/organization-memberships/${id}`)

  test('emails are for those who may read the membership itself, not for all who see the team', async () => {
    const organization = await createTestOrganization(server)
    const team = await createTeam(organization, { visibility: 'organization' })
    const member = await addMember(server, organization, [team])
    const other = await addMember(server, organization, [team])
    await invitePerson(organization, { email: newEmail() }, [team])
    type Membership = { type: string; attributes: { email: string | null } }
    const emails = async (client: Client) => {
      const included = await client.get(`/teams/${team}?include=organization-memberships`)
      const listed = await client.get(`/teams/${team}/relationships/organization-memberships`)
      const memberships = [...included.json.included, ...listed.json.data] as Membership[]
      return new Set(memberships.map(({ attributes }) => attributes.email))
    }
    expect(await emails(member.client)).toEqual(new Set([member.email, null]))
    const all = await emails(organization.owner.client)
    expect([all.size, all.has(other.email), all.has(null)]).toEqual([3, true, false])
  })

  test('an included user has the email that their membership shows, and nobody else has one', async () => {
    const organization = await createTestOrganization(server)
    const team = await createTeam(organization, { visibility: 'organization' })
    const member = await addMember(server, organization, [team])
    const other = await addMember(server, organization, [team])
    type Included = { attributes: { email?: string } }
    const emailsOfUsers = (answer: { json: { included: Included[] } }) =>
      new Set(answer.json.included.map(({ attributes }) => attributes.email))
    const { client } = organization.owner
    const found = `/organizations/${organization.name}/organization-memberships?include=user&filter[email]=`
    expect(emailsOfUsers(await client.get(`${found}${member.email},${other.email}`))).toEqual(
      new Set([member.email, other.email]),
    )
    // An owner who is no site administrator sees no more fields of the person.
    const [listed] = (await client.get(`${found}${member.email}`)).json.included
    expect(listed.attributes).not.toHaveProperty('is-suspended')
    expect((await client.get(`/users/${listed.id}`)).json.data.attributes).not.toHaveProperty('email')
    expect(emailsOfUsers(await client.get(`/teams/${team}?include=users`))).toEqual(new Set([undefined]))
    expect(emailsOfUsers(await member.client.get('/organization-memberships?include=user'))).toEqual(
      new Set([member.email]),
    )
  })

  test('an invitation creates a user without a name, and returns the user and the teams', async () => {
    const organization = await createTestOrganization(server)
    const team = await createTeam(organization)
    const email = newEmail()
    const made = await invite(organization.owner.client, organization, email, [team])
    expect(made.status).toBe(201)
    const { data, included } = made.json
    expect(data.attributes).toMatchObject({ status: 'invited', email })
    expect(data.relationships).toEqual({
      organization: { data: { id: organization.name, type: 'organizations' } },
      user: { data: { id: included[0].id, type: 'users' } },
      teams: { data: [{ id: team, type: 'teams' }] },
    })
    expect(included[0].attributes.username).toBeNull()
    expect(included[0].attributes.email).toBe(email)
    const shown = await organization.owner.client.get(
      `/organization-memberships/${data.id}?include=user,teams`,
    )
    expect(shown.json.data).toEqual(data)
    expect(shown.json.included.map(({ type }: { type: string }) => type)).toEqual(['users', 'teams'])
    const teamShown = await organization.owner.client.get(`/teams/${team}?include=organization-memberships`)
    expect(teamShown.json.data.attributes['users-count']).toBe(0)
    expect(teamShown.json.included).toEqual([])
  })

  test('somebody who is only invited gets no token and administers nothing', async () => {
    const organization = await createTestOrganization(server)
    const email = newEmail()
    await invitePerson(organization, { email })
    const [user] = (await server.admin.get(`/admin/users?q=${email}`)).json.data
    for (const path of [
      `/admin/users/${user.id}/actions/grant_admin`,
      `/users/${user.id}/authentication-tokens`,
    ]) {
      const refused = await server.admin.post(path)
      expect([path, refused.status, refused.text]).toEqual([path, 422, refused.text])
    }
  })

  test('nobody is invited twice, and every problem is said at its place', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const other = await createTestOrganization(server)
    const foreign = await createTeam(other)
    const email = newEmail()
    expect((await invite(owner.client, organization, email)).status).toBe(201)
    const again = await invite(owner.client, organization, email.toUpperCase())
    expect(again.status).toBe(422)
    expect(again.json.errors[0]).toMatchObject({
      detail: 'email is already used by a member or an invitation of this organization',
      source: { pointer: '/data/attributes/email' },
    })
    expect((await invite(owner.client, organization, owner.email)).json).toEqual(again.json)
    const missing = await owner.client.post(path(organization), body('organization-memberships', {}))
    expect(missing.json.errors[0]).toMatchObject({
      detail: 'email is missing',
      source: { pointer: '/data/attributes/email' },
    })
    const own = await createTeam(organization)
    const teams = await invite(owner.client, organization, newEmail(), [
      own,
      foreign,
      'team-1111111111111111',
    ])
    expect(teams.status).toBe(422)
    expect(teams.json.errors.map((error: never) => error['source']['pointer'])).toEqual([
      '/data/relationships/teams/data/1/id',
      '/data/relationships/teams/data/2/id',
    ])
    expect(new Set(teams.json.errors.map((error: never) => error['detail']))).toEqual(
      new Set(['id does not name a team that the caller may invite into']),
    )
  })

  test('so many members an organization and a team may have', async () => {
    const organization = await createTestOrganization(server)
    const team = await createTeam(organization)
    for (let count = 0; count < 3; count++) await invitePerson(organization, { email: newEmail() }, [team])
    const full = await invite(organization.owner.client, organization, newEmail(), [team])
    expect(full.status).toBe(422)
    expect(full.json.errors[0].detail).toContain('PURSER_MAX_TEAM_MEMBERS')
    for (let count = 0; count < 2; count++) await invitePerson(organization, { email: newEmail() })
    const last = await invite(organization.owner.client, organization, newEmail())
    expect(last.status).toBe(422)
    expect(last.json.errors[0].detail).toContain('PURSER_MAX_MEMBERS')
  })

  test('only the invited person accepts, once or twice; then they count', async () => {
    const organization = await createTestOrganization(server)
    const team = await createTeam(organization)
    const person = await createUser(server)
    const id = await invitePerson(organization, person, [team])
    const accept = (client: Client, given?: unknown) =>
      client.post(`/organization-memberships/${id}/actions/accept`, given)
    expect((await organization.owner.client.get(`/teams/${team}`)).json.data.attributes['users-count']).toBe(
      0,
    )
    expect((await person.client.get(`/teams/${team}`)).text).toBe(NOT_FOUND)
    for (const client of [organization.owner.client, server.admin]) {
      expect((await accept(client)).text).toBe(NOT_FOUND)
    }
    // An invited user sees the invitation, but not yet the teams in it.
    const own = await person.client.get(`/organization-memberships/${id}`)
    expect(own.json.data.attributes.status).toBe('invited')
    expect(own.json.data.relationships.teams.data).toEqual([])
    const accepted = await accept(person.client, {})
    expect(accepted.status).toBe(200)
    expect(accepted.json.data.attributes.status).toBe('active')
    expect(accepted.json.data.relationships.teams.data).toEqual([{ id: team, type: 'teams' }])
    expect((await accept(person.client)).json).toEqual(accepted.json)
    const shown = await person.client.get(`/teams/${team}`)
    expect(shown.json.data.attributes['users-count']).toBe(1)
    expect(shown.json.data.relationships.users.data).toEqual([{ id: person.id, type: 'users' }])
  })

  test('the list is for those who manage members; filters and pages', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const member = await addMember(server, organization)
    const email = newEmail()
    const invited = await invitePerson(organization, { email })
    expect((await member.client.get(path(organization))).text).toBe(NOT_FOUND)
    const all = await owner.client.get(`${path(organization)}?include=user,teams`)
    expect(ids(all.json).slice(1)).toEqual([member.membershipId, invited])
    expect(all.json.meta.pagination['total-count']).toBe(3)
    expect(all.json.included.filter(({ type }: { type: string }) => type === 'users')).toHaveLength(3)
    expect(all.json.included.at(-1).attributes.name).toBe('owners')
    const found = async (query: string) =>
      ids((await owner.client.get(`${path(organization)}?${query}`)).json)
    expect(await found('filter[status]=invited')).toEqual([invited])
    expect(await found('filter[status]=active')).toHaveLength(2)
    expect(await found('filter[status]=inactive')).toEqual([])
    expect(await found(`filter%5Bemail%5D=${email.toUpperCase()},nobody`)).toEqual([invited])
    expect(await found(`filter[email]=%00`)).toEqual([])
    expect(await found(`q=${member.username.toUpperCase()}`)).toEqual([member.membershipId])
    expect(await found('q=_')).toEqual([])
    expect(await found('page[size]=1&page[number]=3')).toEqual([invited])
    expect(await found('page[size]=2&page[number]=1')).toEqual(ids(all.json).slice(0, 2))
    expect(await found('page[size]=2&page[number]=2')).toEqual([invited])
    expect(await found('page[size]=2&page[number]=3')).toEqual([])
    expect((await owner.client.get(`${path(organization)}?filter[status]=moon`)).status).toBe(400)
    expect((await owner.client.get(`${path(organization)}?include=moon`)).status).toBe(400)
  })

  test('one’s own memberships are listed over all organizations', async () => {
    const one = await createTestOrganization(server)
    const two = await createTestOrganization(server)
    const member = await addMember(server, one)
    const invited = await invitePerson(two, member)
    const own = await member.client.get('/organization-memberships?include=user,organization')
    expect(ids(own.json)).toEqual([member.membershipId, invited])
    expect(own.json.included.map(({ id }: { id: string }) => id).sort()).toEqual([member.id, one.name].sort())
    expect(own.json.meta.pagination['total-count']).toBe(2)
  })

  test('with manage-membership one invites into teams that one sees, and removes whose teams one sees', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const managers = await createTeam(organization, { 'organization-access': { 'manage-membership': true } })
    const secret = await createTeam(organization)
    const open = await createTeam(organization, { visibility: 'organization' })
    const manager = await addMember(server, organization, [managers])
    const hidden = await addMember(server, organization, [secret])
    const owners = (await owner.client.get(`/organizations/${name}/teams?filter[names]=owners`)).json.data[0]
      .id
    for (const team of [secret, owners, 'team-1111111111111111']) {
      const refused = await invite(manager.client, organization, newEmail(), [team])
      expect(refused.status).toBe(422)
      expect(refused.json.errors[0].detail).toBe('id does not name a team that the caller may invite into')
    }
    const invited = await invite(manager.client, organization, newEmail(), [open, managers])
    expect(invited.status).toBe(201)
    const shown = await manager.client.get(`/organization-memberships/${hidden.membershipId}?include=teams`)
    expect(shown.json.data.relationships.teams.data).toEqual([])
    expect(shown.json.included).toEqual([])
    const all = await owner.client.get(path(organization))
    // The caller can see these memberships, so a 404 would be wrong.
    for (const id of [hidden.membershipId, all.json.data[0].id]) {
      const refused = await remove(manager.client, id)
      expect([refused.status, refused.json.errors[0].detail]).toEqual([
        403,
        'this member is in a team that you do not see or may not change, so only an owner may remove them',
      ])
      expect((await manager.client.get(`/organization-memberships/${id}`)).status).toBe(200)
    }
    expect((await remove(manager.client, invited.json.data.id)).status).toBe(204)
    expect((await remove(owner.client, hidden.membershipId)).status).toBe(204)
    expect((await owner.client.get(`/teams/${secret}`)).json.data.attributes['users-count']).toBe(0)
    expect((await hidden.client.get('/organizations')).json.data).toEqual([])
  })

  test('the organization’s token invites into the owners, and a delegate with every flag does not', async () => {
    const organization = await createTestOrganization(server, { 'delegated-team-management': true })
    const { owner, name } = organization
    const flags = { 'manage-membership': true, 'manage-teams': true, 'manage-organization-access': true }
    const delegates = await createTeam(organization, { 'organization-access': flags })
    const delegate = await addMember(server, organization, [delegates])
    const made = await owner.client.post(`/organizations/${name}/authentication-token`)
    const owners = (await owner.client.get(`/organizations/${name}/teams?filter[names]=owners`)).json.data[0]
      .id
    for (const client of [owner.client, server.client(made.json.data.attributes.token), server.admin]) {
      const invited = await invite(client, organization, newEmail(), [owners])
      expect(invited.status).toBe(201)
      expect(invited.json.data.relationships.teams.data).toEqual([{ id: owners, type: 'teams' }])
      expect((await remove(owner.client, invited.json.data.id)).status).toBe(204)
    }
    expect((await invite(delegate.client, organization, newEmail(), [delegates])).status).toBe(201)
    const refused = await invite(delegate.client, organization, newEmail(), [owners])
    expect(refused.status).toBe(422)
    expect(refused.json.errors[0].detail).toBe('id does not name a team that the caller may invite into')
  })

  test('everyone may leave, but for the last owner', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const member = await addMember(server, organization)
    const other = await addMember(server, organization)
    expect((await remove(member.client, other.membershipId)).text).toBe(NOT_FOUND)
    expect((await remove(member.client, member.membershipId)).status).toBe(204)
    expect((await member.client.get('/account/details')).status).toBe(200)
    const [first] = ids((await owner.client.get(path(organization))).json)
    for (const client of [owner.client, server.admin]) {
      const refused = await remove(client, first as string)
      expect(refused.status).toBe(403)
      expect(refused.json.errors[0].detail).toBe(
        'an organization must keep an owner who is a person and not suspended',
      )
    }
  })

  test('an invitation that was taken back leaves no user behind', async () => {
    const organization = await createTestOrganization(server)
    const email = newEmail()
    const id = await invitePerson(organization, { email })
    expect((await remove(organization.owner.client, id)).status).toBe(204)
    expect((await server.admin.get(`/admin/users?q=${email}`)).json.data).toEqual([])
    const again = await invitePerson(organization, { email })
    expect(again).not.toBe(id)
  })
})
