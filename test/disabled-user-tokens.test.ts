import { beforeAll, describe, expect, test } from 'vitest'
import { NOT_FOUND, type Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  createOwnersToken,
  createTeamToken,
  createToken,
  dataOf,
  organizationBody,
  setUserTokens,
  startSecondNode,
  statusOf,
} from './support/organization-tokens.ts'
import {
  addMember,
  createTeam,
  createTestOrganization,
  createUser,
  createWorkspace,
  invitePerson,
  uniqueName,
  type Member,
  type Person,
  type TestOrganization,
} from './support/world.ts'

onEachEngine('an organization with user-tokens-enabled: false', (server) => {
  const second = startSecondNode(server)
  const onSecond = (client: Client) => second.client(client.token)

  const expectNotFound = async (client: Client, paths: string[]) => {
    for (const path of paths) expect((await client.get(path)).text, path).toBe(NOT_FOUND)
  }

  let organization: TestOrganization
  let name: string
  let owner: Person
  let team: string
  let secretTeam: string
  let workspaceId: string
  let member: Member
  let administrator: Member
  let invited: Person
  let ofTeam: Client
  let ofOwners: Client
  let ofOrganization: Client
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    name = organization.name
    owner = organization.owner
    team = await createTeam(organization)
    secretTeam = await createTeam(organization)
    workspaceId = await createWorkspace(organization)
    member = await addMember(server, organization, [team])
    administrator = await addMember(server, organization, [team])
    invited = await createUser(server)
    await invitePerson(organization, invited, [team])
    ofTeam = await createTeamToken(server, organization, team)
    ofOwners = await createOwnersToken(server, organization)
    ofOrganization = await createToken(server, owner.client, `/organizations/${name}/authentication-token`)
    // The second node has accepted the token before the change.
    expect(await statusOf(onSecond(member.client), `/teams/${team}`)).toBe(200)
    await setUserTokens(owner.client, organization, false)
  })

  describe("refuses a user's token", () => {
    const expectRefusals = async (client: Client) => {
      const detail =
        'this organization does not accept user tokens (user-tokens-enabled is false); use a team token'
      const refusal = { errors: [{ status: '401', title: 'unauthorized', detail }] }
      for (const path of [
        `/organizations/${name}`,
        `/organizations/${name}/entitlement-set`,
        `/organizations/${name}/teams`,
        `/teams/${team}`,
        `/workspaces/${workspaceId}/current-state-version-outputs`,
        `/organization-memberships/${member.membershipId}`,
      ]) {
        const { status, json } = await client.get(path)
        expect(status, path).toBe(401)
        expect(json, path).toEqual(refusal)
      }
    }

    test('of an owner, with the reason', () => expectRefusals(owner.client))

    test('of a member, with the reason', () => expectRefusals(member.client))

    test('on every node', () => expectRefusals(onSecond(member.client)))

    test('before it reads the body of a write', async () => {
      expect((await owner.client.post(`/organizations/${name}/teams`, '{')).status).toBe(401)
    })

    test('without making the change', async () => {
      const other = await createTestOrganization(server)
      await setUserTokens(other.owner.client, other, false)
      const path = `/organizations/${other.name}`
      expect((await other.owner.client.delete(path)).status).toBe(401)
      expect(await statusOf(server.admin, path)).toBe(200)
    })
  })

  describe('accepts a token', () => {
    const expectAccepted = async (client: Client) => {
      expect(await statusOf(client, `/organizations/${name}`)).toBe(200)
      expect(await statusOf(client, `/teams/${team}`)).toBe(200)
    }

    test('of a team', () => expectAccepted(ofTeam))

    test('of a team on every node', () => expectAccepted(onSecond(ofTeam)))

    test('of the team owners', () => expectAccepted(ofOwners))

    test('of the organization', () => expectAccepted(ofOrganization))

    test('of a site administrator', () => expectAccepted(server.admin))

    test('of a site administrator who is a member', async () => {
      await server.admin.post(`/admin/users/${administrator.id}/actions/grant_admin`)
      await expectAccepted(administrator.client)
    })
  })

  describe('answers a hidden object with 404', () => {
    test('to a member', () =>
      expectNotFound(member.client, [`/teams/${secretTeam}`, `/organizations/${name}/authentication-token`]))

    test('to an outsider', async () => {
      await expectNotFound((await createUser(server)).client, [
        `/organizations/${name}`,
        `/teams/${team}`,
        `/organization-memberships/${member.membershipId}`,
        `/users/${member.id}`,
      ])
    })

    test('to an invited person', () =>
      expectNotFound(invited.client, [`/organizations/${name}`, `/teams/${team}`]))

    test('to a team', () => expectNotFound(ofTeam, [`/teams/${secretTeam}`]))
  })

  describe('lets a member', () => {
    test('read their own account and tokens', async () => {
      expect(await statusOf(member.client, '/account/details')).toBe(200)
      expect(await statusOf(member.client, `/users/${member.id}`)).toBe(200)
      expect(await statusOf(member.client, `/users/${member.id}/authentication-tokens`)).toBe(200)
    })

    test('read no other member', async () => {
      await expectNotFound(member.client, [`/users/${owner.id}`])
    })
  })

  describe('is left out of', () => {
    const expectEmpty = async (path: string) => {
      const { data, meta } = (await member.client.get(path)).json
      expect(data).toEqual([])
      expect(meta.pagination['total-count']).toBe(0)
    }

    test("a member's list of organizations", () => expectEmpty('/organizations'))

    test("a member's list of memberships", () =>
      expectEmpty('/organization-memberships?include=organization,teams'))
  })

  test('is in the lists of site administrators and teams', async () => {
    expect(await dataOf(server.admin, `/organizations?q=${name}`)).toHaveLength(1)
    expect(await dataOf(ofTeam, '/organizations')).toHaveLength(1)
  })

  describe('lets an invited person', () => {
    const createInvited = async () => {
      const other = await createTestOrganization(server)
      const person = await createUser(server)
      const invitation = await invitePerson(other, person, [await createTeam(other)])
      await setUserTokens(other.owner.client, other, false)
      const accept = () => person.client.post(`/organization-memberships/${invitation}/actions/accept`)
      return { other, person, accept }
    }

    test('see the invitation', async () => {
      const { person } = await createInvited()
      expect(await dataOf(person.client, '/organization-memberships')).toHaveLength(1)
    })

    test('accept the invitation', async () => {
      const { accept } = await createInvited()
      expect((await accept()).status).toBe(200)
    })

    test('do no more than a member after accepting', async () => {
      const { other, person, accept } = await createInvited()
      await accept()
      expect(await statusOf(person.client, `/organizations/${other.name}`)).toBe(401)
      expect(await dataOf(person.client, '/organization-memberships')).toEqual([])
    })
  })

  describe('accepts user tokens again, on every node, if they are enabled', () => {
    const expectEnabledBy = async (createEnabler: (other: TestOrganization) => Promise<Client>) => {
      const other = await createTestOrganization(server)
      const path = `/organizations/${other.name}`
      const { client } = other.owner
      const enabler = await createEnabler(other)
      await setUserTokens(client, other, false)
      expect(await statusOf(onSecond(client), path)).toBe(401)
      await setUserTokens(enabler, other, true)
      expect(await statusOf(client, path)).toBe(200)
      expect(await statusOf(onSecond(client), path)).toBe(200)
    }

    test('with a token of the team owners', () =>
      expectEnabledBy((other) => createOwnersToken(server, other)))

    test('by a site administrator', () => expectEnabledBy(() => Promise.resolve(server.admin)))
  })

  describe('can be created', () => {
    const createOrganization = async (client: Client, attributes: object) => {
      const sent = { name: uniqueName('organization'), email: 'a@example.com', ...attributes }
      const created = await client.post('/organizations', organizationBody(sent))
      expect(created.status).toBe(201)
      return created.json.data
    }

    test('and then refuses the token of its creator', async () => {
      const { client } = await createUser(server)
      const attributes = { 'user-tokens-enabled': false, 'max-ttl-enabled': true }
      const created = await createOrganization(client, attributes)
      expect(created.attributes).toMatchObject(attributes)
      expect(await statusOf(client, `/organizations/${created.id}`)).toBe(401)
    })

    test('without an effect on other organizations of its creator', async () => {
      const { client } = await createUser(server)
      await createOrganization(client, { 'user-tokens-enabled': false, 'max-ttl-enabled': true })
      const open = await createOrganization(client, {})
      expect(await statusOf(client, `/organizations/${open.id}`)).toBe(200)
      expect(await dataOf(client, '/organizations')).toHaveLength(1)
    })
  })
})
