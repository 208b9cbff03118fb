import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  createTeamToken,
  createToken,
  dataOf,
  HOUR_MS,
  organizationBody,
  policiesBody,
  policiesPath,
  startSecondNode,
  statusOf,
} from './support/organization-tokens.ts'
import {
  addMember,
  createTeam,
  createTestOrganization,
  type Member,
  type TestOrganization,
} from './support/world.ts'

onEachEngine('a token that is older than the token policy of its kind', (server) => {
  const second = startSecondNode(server)
  const onSecond = (client: Client) => second.client(client.token)

  let organization: TestOrganization
  let name: string
  let team: string
  let member: Member
  let ofTeam: Client
  let ofOrganization: Client
  let auditor: Client
  let userTokensPath: string

  const setPolicies = (kinds: Record<string, number>) =>
    server.admin.patch(policiesPath(organization), policiesBody(kinds))
  const setMaxTtlEnabled = (isOn: boolean) =>
    server.admin.patch(`/organizations/${name}`, organizationBody({ 'max-ttl-enabled': isOn }))
  const statusOfTeam = (client: Client) => statusOf(client, `/teams/${team}`)

  beforeAll(async () => {
    organization = await createTestOrganization(server)
    name = organization.name
    team = await createTeam(organization)
    member = await addMember(server, organization, [team])
    userTokensPath = `/users/${member.id}/authentication-tokens`
    const { client } = organization.owner
    const path = `/organizations/${name}/authentication-token`
    ofTeam = await createTeamToken(server, organization, team)
    ofOrganization = await createToken(server, client, path)
    auditor = await createToken(server, client, `${path}?token=audit-trails`)
    server.clock.advance(2 * HOUR_MS)
    second.clock.advance(2 * HOUR_MS)
  })
  beforeEach(async () => {
    await setPolicies({ team: HOUR_MS, organization: HOUR_MS, audit_trails: HOUR_MS, user: HOUR_MS })
    await setMaxTtlEnabled(true)
  })

  describe('is 401', () => {
    test('of a team', async () => {
      expect(await statusOf(ofTeam, '/organizations')).toBe(401)
    })

    test('of a team on every node', async () => {
      expect(await statusOf(onSecond(ofTeam), '/organizations')).toBe(401)
    })

    test('of the organization', async () => {
      expect(await statusOf(ofOrganization, '/organizations')).toBe(401)
    })

    test('for audit trails', async () => {
      expect(await statusOf(auditor, '/organizations')).toBe(401)
    })

    test('of a user, with the reason', async () => {
      const refused = await member.client.get(`/teams/${team}`)
      expect(refused.status).toBe(401)
      expect(refused.json.errors[0].detail).toBe(
        'this token, or the token that created it, is older than the organization allows for user tokens; ask a site administrator for a new one',
      )
    })

    test('of a user on every node', async () => {
      expect(await statusOfTeam(onSecond(member.client))).toBe(401)
    })
  })

  test('is 401 from the next request on, once max-ttl-enabled is set', async () => {
    await setMaxTtlEnabled(false)
    expect(await statusOfTeam(ofTeam)).toBe(200)
    await setMaxTtlEnabled(true)
    expect(await statusOfTeam(ofTeam)).toBe(401)
  })

  test('of a site administrator is accepted', async () => {
    expect(await statusOfTeam(server.admin)).toBe(200)
  })

  test('of a team is listed as expired', async () => {
    const path = `/organizations/${name}/team-tokens?filter[expiry_status]`
    expect(await dataOf(server.admin, `${path}=expired`)).toHaveLength(1)
    expect(await dataOf(server.admin, `${path}=active`)).toHaveLength(0)
  })

  describe('of a user', () => {
    test('gets lists without the organization', async () => {
      expect(await dataOf(member.client, '/organizations')).toEqual([])
      expect(await dataOf(member.client, '/organization-memberships')).toEqual([])
    })

    test("reads the user's own account, and no other member", async () => {
      expect(await statusOf(member.client, '/account/details')).toBe(200)
      expect(await statusOf(member.client, `/users/${organization.owner.id}`)).toBe(404)
    })

    test('creates tokens that count as equally old', async () => {
      const created = await createToken(server, member.client, userTokensPath)
      const createdAgain = await createToken(server, created, userTokensPath)
      expect(await statusOfTeam(created)).toBe(401)
      expect(await statusOfTeam(createdAgain)).toBe(401)
      expect(await dataOf(createdAgain, '/organizations')).toEqual([])
    })

    test('can be replaced by a site administrator', async () => {
      const replacement = await createToken(server, server.admin, userTokensPath)
      expect(await statusOfTeam(replacement)).toBe(200)
      expect(await dataOf(replacement, '/organizations')).toHaveLength(1)
      expect(await dataOf(replacement, '/organization-memberships')).toHaveLength(1)
      expect(await statusOf(replacement, `/users/${organization.owner.id}`)).toBe(200)
    })
  })

  describe('is accepted again', () => {
    test('on every node, if the policy of its kind allows its age', async () => {
      await setPolicies({ team: 3 * HOUR_MS })
      expect(await statusOfTeam(ofTeam)).toBe(200)
      expect(await statusOfTeam(onSecond(ofTeam))).toBe(200)
      expect(await statusOf(ofOrganization, '/organizations')).toBe(401)
    })

    test('on every node, if max-ttl-enabled is unset', async () => {
      await setMaxTtlEnabled(false)
      for (const client of [ofTeam, ofOrganization, member.client, onSecond(member.client)]) {
        expect(await statusOfTeam(client)).toBe(200)
      }
    })
  })
})
