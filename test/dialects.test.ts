import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines } from './support/engines.ts'
import { startNode, startServer, type TestServer } from './support/server.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createUser,
  invitePerson,
} from './support/world.ts'

/** Repeats the table of docs/reference/dialects.md, independently of the code. */
const listed = [
  'manage-policies',
  'manage-policy-overrides',
  'manage-run-tasks',
  'manage-workspaces',
  'manage-vcs-settings',
  'manage-agent-pools',
  'manage-projects',
  'read-projects',
  'read-workspaces',
]
const fourteen = [
  ...listed,
  'manage-providers',
  'manage-modules',
  'manage-membership',
  'manage-teams',
  'manage-organization-access',
]
const onlyCurrent = ['delegate-policy-overrides', 'access-secret-teams']
const five = [
  'can-update-membership',
  'can-destroy',
  'can-update-organization-access',
  'can-update-api-token',
  'can-update-visibility',
]
const nine = [
  ...five,
  'can-update-name',
  'can-update-sso-team-id',
  'can-update-member-token-management',
  'can-view-api-token',
]

type Dialect = 'documented' | 'current'
const dialects: readonly { dialect: Dialect; isCurrent: boolean }[] = [
  { dialect: 'documented', isCurrent: false },
  { dialect: 'current', isCurrent: true },
]
const cases = engines.flatMap((engine) => dialects.map((dialect) => ({ engine, ...dialect })))

describe.each(cases)('the $dialect dialect on $engine', ({ engine, dialect, isCurrent }) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(engine, { dialect })
  })
  afterAll(() => server.stop())

  const flags = isCurrent ? [...fourteen, ...onlyCurrent] : fourteen
  const sorted = (object: object) => Object.keys(object).toSorted()
  const flagsOf = (resource: { attributes: { 'organization-access': object } }) =>
    resource.attributes['organization-access']
  const change = (attributes: object) => body('teams', attributes)

  test('flags in show, create, update and in included teams', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const created = await owner.client.post(`/organizations/${name}/teams`, change({ name: 'a' }))
    const { id } = created.json.data
    const updated = await owner.client.patch(`/teams/${id}`, change({ visibility: 'organization' }))
    const shown = await owner.client.get(`/teams/${id}`)
    const member = await addMember(server, organization, [id])
    const membership = await owner.client.get(
      `/organization-memberships/${member.membershipId}?include=teams`,
    )
    for (const resource of [
      created.json.data,
      updated.json.data,
      shown.json.data,
      membership.json.included[0],
    ]) {
      expect(resource.id).toBe(id)
      expect(sorted(flagsOf(resource))).toEqual(flags.toSorted())
    }
  })

  test('flags in the list of teams', async () => {
    const { name, owner } = await createTestOrganization(server)
    const [owners] = (await owner.client.get(`/organizations/${name}/teams`)).json.data
    expect(sorted(flagsOf(owners))).toEqual((isCurrent ? flags : listed).toSorted())
    expect(Object.values(flagsOf(owners))).not.toContain(false)
  })

  test('access-secret-teams shows all secret teams, where it is known', async () => {
    const organization = await createTestOrganization(server)
    const secret = await createTeam(organization)
    const seeing = await createTeam(organization, { 'organization-access': { 'access-secret-teams': true } })
    const member = await addMember(server, organization, [seeing])
    expect((await member.client.get(`/teams/${secret}`)).status).toBe(isCurrent ? 200 : 404)
    const list = await member.client.get(`/organizations/${organization.name}/teams`)
    expect(list.json.meta.pagination['total-count']).toBe(isCurrent ? 3 : 1)
  })

  test('manage-workspaces with an explicit read-workspaces: false', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const asked = { 'manage-workspaces': true, 'read-workspaces': false }
    const id = await createTeam(organization, { 'organization-access': asked })
    const expected = isCurrent ? asked : { ...asked, 'read-workspaces': true }
    expect(flagsOf((await client.get(`/teams/${id}`)).json.data)).toMatchObject(expected)
    const again = await client.patch(`/teams/${id}`, change({ 'organization-access': asked }))
    expect(flagsOf(again.json.data)).toMatchObject(expected)
    // Managing workspaces includes reading them, whatever the answer echoes.
    const member = await addMember(server, organization, [id])
    const workspaces = await member.client.get(`/organizations/${organization.name}/workspaces`)
    expect(workspaces.status).toBe(200)
    // Without an explicit value, it is implied in both dialects.
    const other = await createTeam(organization, { 'organization-access': { 'manage-workspaces': true } })
    expect(flagsOf((await client.get(`/teams/${other}`)).json.data)).toMatchObject({
      'read-workspaces': true,
    })
  })

  test('permissions of a team', async () => {
    const organization = await createTestOrganization(server)
    const id = await createTeam(organization, { visibility: 'organization' })
    const member = await addMember(server, organization)
    for (const [client, isAllowed] of [
      [organization.owner.client, true],
      [member.client, false],
    ] as const) {
      const { permissions } = (await client.get(`/teams/${id}`)).json.data.attributes
      expect(sorted(permissions)).toEqual((isCurrent ? nine : five).toSorted())
      expect(new Set(Object.values(permissions))).toEqual(new Set([isAllowed]))
    }
  })

  test('someone invited who was added to a team', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const id = await createTeam(organization)
    const person = await createUser(server)
    const membershipId = await invitePerson(organization, person)
    const identifier = { id: membershipId, type: 'organization-memberships' }
    const path = `/teams/${id}/relationships/organization-memberships`
    expect((await owner.client.post(path, { data: [identifier] })).status).toBe(204)
    const listed = await owner.client.get(path)
    expect(listed.json.data.map((item: { id: string }) => item.id)).toEqual([membershipId])
    for (const address of [`/teams/${id}`, `/organizations/${name}/teams?filter[names]=owners`]) {
      const separator = address.includes('?') ? '&' : '?'
      const answer = await owner.client.get(`${address}${separator}include=users,organization-memberships`)
      const text = JSON.stringify(answer.json)
      const isAbout = isCurrent && address === `/teams/${id}`
      expect(text.includes(membershipId)).toBe(isAbout)
    }
    const shown = (await owner.client.get(`/teams/${id}?include=users`)).json
    expect(shown.data.relationships.users.data).toEqual([])
    expect(shown.data.attributes['users-count']).toBe(0)
    expect(shown.included).toEqual([])
    expect(shown.data.relationships['organization-memberships']?.data).toEqual(
      isCurrent ? [identifier] : undefined,
    )
    const withMemberships = (await owner.client.get(`/teams/${id}?include=organization-memberships`)).json
    expect(withMemberships.data.relationships['organization-memberships'].data).toEqual(
      isCurrent ? [identifier] : [],
    )
    expect(withMemberships.included.map((item: { id: string }) => item.id)).toEqual(
      isCurrent ? [membershipId] : [],
    )
    await person.client.post(`/organization-memberships/${membershipId}/actions/accept`)
    const accepted = (await owner.client.get(`/teams/${id}?include=organization-memberships`)).json
    expect(accepted.data.relationships.users.data).toEqual([{ id: person.id, type: 'users' }])
    expect(accepted.data.relationships['organization-memberships'].data).toEqual([identifier])
  })

  test('a new organization’s default-execution-mode', async () => {
    const { name, owner } = await createTestOrganization(server)
    const shown = await owner.client.get(`/organizations/${name}`)
    expect(shown.json.data.attributes['default-execution-mode']).toBe(isCurrent ? 'remote' : 'local')
    const entitlements = await owner.client.get(`/organizations/${name}/entitlement-set`)
    expect(entitlements.json.data.attributes.operations).toBe(false)
  })

  test('what the dialect does not know is ignored, and not stored', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const unknown = isCurrent ? 'manage-public-modules' : 'access-secret-teams'
    const id = await createTeam(organization, {
      'an-attribute': { of: 'a newer client' },
      'organization-access': { [unknown]: 'not even a boolean', 'manage-modules': true },
    })
    const { attributes } = (await client.get(`/teams/${id}`)).json.data
    expect(attributes).not.toHaveProperty('an-attribute')
    expect(sorted(attributes['organization-access'])).toEqual(flags.toSorted())
    expect(Object.entries(attributes['organization-access']).filter(([, value]) => value)).toEqual([
      ['manage-modules', true],
    ])
    const stored = await server.app.deps.database.read(({ db }) =>
      db.selectFrom('teams').where('id', '=', id).select('organization_access').executeTakeFirstOrThrow(),
    )
    expect(stored.organization_access.toString(2).replaceAll('0', '')).toBe('1')
  })
})

describe.each(engines)('both dialects on one %s database', (engine) => {
  test('flags of the other dialect are kept, and not in force', async () => {
    const current = await startServer(engine, { dialect: 'current' })
    const documented = await startNode(current, { dialect: 'documented' })
    try {
      const organization = await createTestOrganization(current)
      const secret = await createTeam(organization)
      const seeing = await createTeam(organization, {
        'organization-access': { 'access-secret-teams': true, 'delegate-policy-overrides': true },
      })
      const member = await addMember(current, organization, [seeing])
      const there = documented.client(member.client.token)
      expect((await member.client.get(`/teams/${secret}`)).status).toBe(200)
      expect((await there.get(`/teams/${secret}`)).status).toBe(404)
      const change = body('teams', { 'organization-access': { 'manage-modules': true } })
      const owner = documented.client(organization.owner.client.token)
      const changed = await owner.patch(`/teams/${seeing}`, change)
      expect(changed.json.data.attributes['organization-access']).not.toHaveProperty('access-secret-teams')
      const off = body('teams', { 'organization-access': { 'access-secret-teams': false } })
      expect((await owner.patch(`/teams/${seeing}`, off)).status).toBe(200)
      const shown = await organization.owner.client.get(`/teams/${seeing}`)
      expect(shown.json.data.attributes['organization-access']).toMatchObject({
        'access-secret-teams': true,
        'delegate-policy-overrides': true,
        'manage-modules': true,
      })
      expect((await member.client.get(`/teams/${secret}`)).status).toBe(200)
    } finally {
      await documented.stop()
      await current.stop()
    }
  })
})
