import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines } from './support/engines.ts'
import { startServer, type TestServer } from './support/server.ts'
import { addMember, body, createTeam, createTestOrganization } from './support/world.ts'

describe.each(engines)('accounts on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(engine)
  })
  afterAll(() => server.stop())

  test('from nothing to a member of a team', async () => {
    const organization = await createTestOrganization(server)
    const team = await createTeam(organization)
    const member = await addMember(server, organization, [team])
    const shown = await member.client.get(`/teams/${team}?include=users,organization-memberships`)
    expect(shown.json.data.attributes['users-count']).toBe(1)
    expect(shown.json.data.relationships.users.data).toEqual([{ id: member.id, type: 'users' }])
    expect(shown.json.included).toHaveLength(2)
    const seen = await member.client.get(`/organizations/${organization.name}`)
    expect(seen.json.data.attributes.permissions['can-update']).toBe(false)
    const again = await organization.owner.client.post(
      `/organizations/${organization.name}/organization-memberships`,
      body('organization-memberships', { email: member.email.toUpperCase() }),
    )
    expect(again.status).toBe(422)
  })
})
