import { describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { systemClock } from '../src/core/clock.ts'
import { examine } from '../src/operation/doctor.ts'
import type { Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { settingsOf } from './support/purser.ts'
import { startServer, type TestServer } from './support/server.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  invitePerson,
  createUser,
} from './support/world.ts'

const fourteen = [
  'manage-agent-pools',
  'manage-membership',
  'manage-modules',
  'manage-organization-access',
  'manage-policies',
  'manage-policy-overrides',
  'manage-projects',
  'manage-providers',
  'manage-run-tasks',
  'manage-teams',
  'manage-vcs-settings',
  'manage-workspaces',
  'read-projects',
  'read-workspaces',
]

const team = (attributes: object) => body('teams', attributes)
const pointers = (answer: Response) =>
  answer.json.errors.map((error: { source?: { pointer?: string } }) => error.source?.pointer)
const flagsOf = (answer: Response) => answer.json.data.attributes['organization-access']

onEachEngine('teams', (server) => {
  test('create answers 200 with the whole team: secret, without flags, without members', async () => {
    const { name, owner } = await createTestOrganization(server)
    const made = await owner.client.post(`/organizations/${name}/teams`, team({ name: 'platform' }))
    expect(made.status).toBe(200)
    const { id } = made.json.data
    expect(id).toMatch(/^team-[1-9A-HJ-NP-Za-km-z]{16}$/)
    expect(made.json.data).toEqual({
      id,
      type: 'teams',
      attributes: {
        name: 'platform',
        'sso-team-id': null,
        'users-count': 0,
        visibility: 'secret',
        'allow-member-token-management': true,
        permissions: {
          'can-update-membership': true,
          'can-destroy': true,
          'can-update-organization-access': true,
          'can-update-api-token': true,
          'can-update-visibility': true,
        },
        'organization-access': Object.fromEntries(fourteen.map((flag) => [flag, false])),
      },
      relationships: {
        users: { data: [] },
        'authentication-token': { meta: {} },
        organization: { data: { id: name, type: 'organizations' } },
      },
      links: { self: `/api/v2/teams/${id}` },
    })
    expect(made.headers.get('content-type')).toBe('application/vnd.api+json')
    expect((await owner.client.get(`/teams/${id}`)).json).toEqual(made.json)
  })

  test('create takes every attribute, ignores what it does not know, and refuses a name that is taken', async () => {
    const { name, owner } = await createTestOrganization(server)
    const attributes = {
      name: 'a-Team_1',
      'sso-team-id': 'cn=team',
      visibility: 'organization',
      'allow-team-token-management': false,
      'organization-access': {
        'manage-workspaces': true,
        'delegate-policy-overrides': true,
        'no-such-flag': true,
      },
      'no-such-attribute': 1,
    }
    const made = await owner.client.post(`/organizations/${name}/teams`, team(attributes))
    expect(made.status).toBe(200)
    expect(made.json.data.attributes).toMatchObject({
      'sso-team-id': 'cn=team',
      visibility: 'organization',
      'allow-member-token-management': false,
    })
    expect(flagsOf(made)).toEqual({
      ...Object.fromEntries(fourteen.map((flag) => [flag, false])),
      'manage-workspaces': true,
      'read-workspaces': true,
    })
    const taken = await owner.client.post(`/organizations/${name}/teams`, team({ name: 'a-Team_1' }))
    expect([taken.status, pointers(taken)]).toEqual([422, ['/data/attributes/name']])
    expect((await owner.client.post(`/organizations/${name}/teams`, team({ name: 'A-Team_1' }))).status).toBe(
      200,
    )
  })

  test('a body says every problem at once, each with its place', async () => {
    const { name, owner } = await createTestOrganization(server)
    const post = (sent: unknown) => owner.client.post(`/organizations/${name}/teams`, sent)
    const bad = await post({
      data: {
        type: 'team',
        attributes: {
          name: 'no spaces',
          visibility: 'public',
          'sso-team-id': 'x'.repeat(256),
          'allow-member-token-management': 'yes',
          'organization-access': { 'manage-teams': 'true', 'read-projects': 1 },
        },
      },
    })
    expect(bad.status).toBe(422)
    expect(pointers(bad).toSorted()).toEqual([
      '/data/attributes/allow-member-token-management',
      '/data/attributes/name',
      '/data/attributes/organization-access/manage-teams',
      '/data/attributes/organization-access/read-projects',
      '/data/attributes/sso-team-id',
      '/data/attributes/visibility',
      '/data/type',
    ])
    expect(
      bad.json.errors.every(
        (error: { status: string; detail: string }) => error.status === '422' && error.detail !== '',
      ),
    ).toBe(true)
    expect(pointers(await post(team({})))).toEqual(['/data/attributes/name'])
    for (const sent of [
      '',
      '{',
      'null',
      '[]',
      '{"data":[]}',
      '{"data":null}',
      Uint8Array.of(0x22, 0xff, 0x22),
    ]) {
      expect((await post(sent)).status).toBe(422)
    }
    for (const bad of ['', 'a'.repeat(91), 'é', 'a.b', null, 7]) {
      expect(pointers(await post(team({ name: bad })))).toEqual(['/data/attributes/name'])
    }
    expect((await post(team({ name: 'a'.repeat(90) }))).status).toBe(200)
    const differ = await post(
      team({ name: 'b', 'allow-member-token-management': true, 'allow-team-token-management': false }),
    )
    expect(differ.status).toBe(422)
    const wrongType = await owner.client.request(
      'POST',
      `/organizations/${name}/teams`,
      team({ name: 'c' }),
      {
        'content-type': 'text/plain',
      },
    )
    expect(wrongType.status).toBe(415)
    const coded = (coding: string) =>
      owner.client.request('POST', `/organizations/${name}/teams`, team({ name: 'c' }), {
        'content-type': 'application/json; charset=utf-8',
        'content-encoding': coding,
      })
    const zipped = await coded('gzip')
    expect([zipped.status, zipped.json.errors[0].detail]).toEqual([
      415,
      'send the body without Content-Encoding',
    ])
    expect((await coded('identity')).status).toBe(200)
  })

  test('an unknown include is 400 before anything else is looked at, and nothing is made', async () => {
    const { name, owner } = await createTestOrganization(server)
    for (const answer of [
      await owner.client.post(`/organizations/${name}/teams?include=bogus`, '{'),
      await owner.client.get('/teams/team-1111111111111111?include=bogus'),
      await owner.client.patch('/teams/team-1111111111111111?include=bogus', '{'),
    ]) {
      expect([answer.status, answer.json.errors[0].title]).toEqual([400, 'Invalid include parameter'])
    }
    expect((await server.client('bad').get('/teams/team-1111111111111111?include=bogus')).status).toBe(401)
    expect((await owner.client.patch('/teams/team-1111111111111111', '{')).status).toBe(404)
  })

  test('update keeps what is left out, also inside organization-access', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const id = await createTeam(organization, {
      name: 'before',
      'sso-team-id': 'sso',
      'organization-access': { 'manage-modules': true },
    })
    const changed = await client.patch(
      `/teams/${id}`,
      team({ 'organization-access': { 'manage-projects': true } }),
    )
    expect(changed.status).toBe(200)
    expect(changed.json.data.attributes).toMatchObject({
      name: 'before',
      'sso-team-id': 'sso',
      visibility: 'secret',
    })
    expect(flagsOf(changed)).toMatchObject({
      'manage-modules': true,
      'manage-projects': true,
      'manage-workspaces': true,
      'read-workspaces': true,
      'read-projects': false,
    })
    const cleared = await client.patch(
      `/teams/${id}`,
      team({ 'sso-team-id': '', name: 'after', visibility: 'organization' }),
    )
    expect(cleared.json.data.attributes).toMatchObject({
      name: 'after',
      'sso-team-id': null,
      visibility: 'organization',
    })
    expect((await client.get(`/teams/${id}`)).json).toEqual(cleared.json)
    const nothing = await client.patch(`/teams/${id}`, { data: { type: 'teams', id } })
    expect(nothing.json.data).toEqual(cleared.json.data)
    const otherId = await client.patch(`/teams/${id}`, {
      data: { type: 'teams', id: 'team-1111111111111111' },
    })
    expect([otherId.status, pointers(otherId)]).toEqual([422, ['/data/id']])
    await createTeam(organization, { name: 'taken' })
    const taken = await client.patch(`/teams/${id}`, team({ name: 'taken' }))
    expect([taken.status, pointers(taken)]).toEqual([422, ['/data/attributes/name']])
    expect((await client.get(`/teams/${id}`)).json.data).toEqual(cleared.json.data)
  })

  test('what only the database shows is said with the rest: a taken name, contradicting flags, a full organization', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const path = `/organizations/${name}/teams`
    await createTeam(organization, { name: 'taken' })
    const both = { 'allow-member-token-management': true, 'allow-team-token-management': false }
    const contradiction = { 'manage-projects': true, 'manage-workspaces': false }
    const attributes = { name: 'taken', visibility: 'public', ...both, 'organization-access': contradiction }
    const expected = [
      '/data/attributes/allow-team-token-management',
      '/data/attributes/name',
      '/data/attributes/organization-access/manage-workspaces',
      '/data/attributes/visibility',
    ]
    const refused = await owner.client.post(path, team(attributes))
    expect([refused.status, pointers(refused).toSorted()]).toEqual([422, expected])
    const id = await createTeam(organization, { name: 'before' })
    const changed = await owner.client.patch(`/teams/${id}`, team(attributes))
    expect([changed.status, pointers(changed).toSorted()]).toEqual([422, expected])
    // The team's own name is not reported as taken.
    const own = await owner.client.patch(`/teams/${id}`, team({ ...attributes, name: 'before' }))
    expect(pointers(own).toSorted()).toEqual(expected.filter((pointer) => !pointer.endsWith('/name')))
    // An invalid value is not also reported as a contradiction.
    const wrong = { ...contradiction, 'manage-teams': 'yes' }
    const broken = await owner.client.post(path, team({ name: 'taken', 'organization-access': wrong }))
    expect(pointers(broken).toSorted()).toEqual([
      '/data/attributes/name',
      '/data/attributes/organization-access/manage-teams',
    ])
    const [owners] = (await owner.client.get(`${path}?filter[names]=owners`)).json.data
    const ofOwners = await owner.client.patch(`/teams/${owners.id}`, team(attributes))
    expect(pointers(ofOwners).toSorted()).toEqual([
      '/data/attributes/allow-team-token-management',
      '/data/attributes/name',
      '/data/attributes/organization-access',
      '/data/attributes/visibility',
    ])
    expect((await owner.client.get(`/teams/${id}`)).json.data.attributes.name).toBe('before')
  })

  test('the rules of flags: cascades, then what managing implies, then contradictions at the flag', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const change = async (before: object, flags: object) => {
      const id = await createTeam(organization, { 'organization-access': before })
      return client.patch(`/teams/${id}`, team({ 'organization-access': flags }))
    }
    const at = (flag: string) => [`/data/attributes/organization-access/${flag}`]
    const contradiction = await change({ 'manage-projects': true }, { 'manage-workspaces': false })
    expect([contradiction.status, pointers(contradiction)]).toEqual([422, at('manage-workspaces')])
    const explicit = await change({}, { 'manage-projects': true, 'manage-workspaces': false })
    expect([explicit.status, pointers(explicit)]).toEqual([422, at('manage-workspaces')])
    const reading = await change({ 'read-projects': true }, { 'read-workspaces': false })
    expect([reading.status, pointers(reading)]).toEqual([422, at('read-workspaces')])
    const implied = await change({}, { 'manage-workspaces': true, 'read-workspaces': false })
    expect(flagsOf(implied)).toMatchObject({ 'manage-workspaces': true, 'read-workspaces': true })
    const saved = await change(
      {},
      { 'manage-workspaces': true, 'read-projects': true, 'read-workspaces': false },
    )
    expect(flagsOf(saved)).toMatchObject({ 'read-projects': true, 'read-workspaces': true })
    const off = await change({ 'manage-projects': true }, { 'manage-projects': false })
    expect(flagsOf(off)).toMatchObject({
      'manage-projects': false,
      'manage-workspaces': true,
      'read-workspaces': true,
    })
  })

  test('no other team has the name owners in another case', async () => {
    const { name, owner } = await createTestOrganization(server)
    const path = `/organizations/${name}/teams`
    const problem = {
      status: '422',
      title: 'invalid attribute',
      detail: 'name differs from that of the team owners only by upper and lower case',
      source: { pointer: '/data/attributes/name' },
    }
    const refused = await owner.client.post(path, team({ name: 'Owners' }))
    expect([refused.status, refused.json.errors]).toEqual([422, [problem]])
    const { id } = (await owner.client.post(path, team({ name: 'others' }))).json.data
    const renamed = await owner.client.patch(`/teams/${id}`, team({ name: 'OWNERS' }))
    expect([renamed.status, renamed.json.errors]).toEqual([422, [problem]])
    // From before this rule.
    await server.app.deps.database.write((tx) =>
      tx.db.updateTable('teams').set({ name: 'Owners' }).where('id', '=', id).execute(),
    )
    const findings = await examine(readConfig({}, settingsOf(server)), {}, systemClock)
    const detail = `the team Owners (${id}) of the organization ${name} looks like its team owners: rename it`
    expect(findings).toContainEqual({ check: 'names', result: 'note', detail })
    const kept = await owner.client.patch(
      `/teams/${id}`,
      team({ name: 'Owners', visibility: 'organization' }),
    )
    expect(kept.status).toBe(200)
  })

  test('the team owners has every flag and cannot be changed or deleted', async () => {
    const { name, owner } = await createTestOrganization(server)
    const list = await owner.client.get(`/organizations/${name}/teams?filter[names]=owners`)
    const { id } = list.json.data[0]
    const shown = await owner.client.get(`/teams/${id}`)
    expect(Object.values(flagsOf(shown)).every((flag) => flag === true)).toBe(true)
    expect(shown.json.data.attributes).toMatchObject({ visibility: 'secret', 'users-count': 1 })
    expect(shown.json.data.attributes.permissions).toEqual({
      'can-update-membership': true,
      'can-destroy': false,
      'can-update-organization-access': false,
      'can-update-api-token': true,
      'can-update-visibility': false,
    })
    for (const attributes of [
      { name: 'x' },
      { visibility: 'organization' },
      { 'organization-access': { 'read-projects': false } },
      { name: 'owners', visibility: 'organization' },
      { name: 'Owners' },
    ]) {
      expect((await owner.client.patch(`/teams/${id}`, team(attributes))).status).toBe(422)
    }
    expect((await owner.client.delete(`/teams/${id}`)).status).toBe(422)
    const other = await owner.client.patch(
      `/teams/${id}`,
      // The tfe provider sends the name with every change.
      team({
        name: 'owners',
        visibility: 'secret',
        'organization-access': { 'read-projects': true },
        'sso-team-id': 'admins',
        'allow-member-token-management': false,
      }),
    )
    expect(Object.values(flagsOf(other)).every((flag) => flag === true)).toBe(true)
    expect(other.json.data.attributes).toMatchObject({
      'sso-team-id': 'admins',
      'allow-member-token-management': false,
    })
  })

  test('delete answers 204, with or without a body, and the team is gone for good', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const id = await createTeam(organization)
    const deleted = await client.delete(`/teams/${id}`)
    expect([deleted.status, deleted.text]).toEqual([204, ''])
    const again = await client.delete(`/teams/${id}`, {})
    expect(again.status).toBe(404)
    expect((await client.get(`/teams/${id}`)).text).toBe(again.text)
  })

  test('what a member may not see or do is as good as missing', async () => {
    const organization = await createTestOrganization(server)
    const open = await createTeam(organization, { visibility: 'organization' })
    const own = await createTeam(organization)
    const secret = await createTeam(organization)
    const member = await addMember(server, organization, [own])
    const missing = await member.client.get('/teams/team-1111111111111111')
    const same = (answer: Response) => {
      const headers = (one: Response) =>
        [...one.headers].filter(([name]) => !['date', 'x-request-id'].includes(name))
      expect([answer.status, answer.text, headers(answer)]).toEqual([404, missing.text, headers(missing)])
    }
    same(await member.client.get(`/teams/${secret}`))
    for (const id of [open, own, secret]) {
      same(await member.client.patch(`/teams/${id}`, team({ name: 'x' })))
      same(await member.client.delete(`/teams/${id}`))
    }
    same(await member.client.post(`/organizations/${organization.name}/teams`, team({ name: 'x' })))
    same(await member.client.get('/teams/not-an-id'))
    const shown = await member.client.get(`/teams/${own}?include=users,organization-memberships`)
    expect(Object.values(shown.json.data.attributes.permissions)).toEqual([false, false, false, true, false])
    expect(shown.json.data.relationships.users.data).toEqual([{ id: member.id, type: 'users' }])
    expect(shown.json.included.map((item: { type: string }) => item.type)).toEqual([
      'users',
      'organization-memberships',
    ])
    expect((await member.client.get(`/teams/${open}`)).status).toBe(200)
  })

  test('an invited person is in no team document before they accept', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const id = await createTeam(organization)
    const invited = await createUser(server)
    const membershipId = await invitePerson(organization, invited, [id])
    const before = await client.get(`/teams/${id}?include=users,organization-memberships`)
    expect(before.json.data.attributes['users-count']).toBe(0)
    expect(before.json.data.relationships.users.data).toEqual([])
    expect(before.json.included).toEqual([])
    await invited.client.post(`/organization-memberships/${membershipId}/actions/accept`)
    const after = await client.get(`/teams/${id}?include=users`)
    expect(after.json.data.attributes['users-count']).toBe(1)
    expect(after.json.included[0].attributes.username).toBe(invited.username)
  })

  test('delegated management: only where it is switched on, only visible teams, only flags that one has', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const managers = await createTeam(organization, {
      'organization-access': {
        'manage-teams': true,
        'manage-organization-access': true,
        'read-workspaces': true,
      },
    })
    const manager = await addMember(server, organization, [managers])
    const path = `/organizations/${organization.name}/teams`
    expect((await manager.client.post(path, team({ name: 'mine' }))).status).toBe(404)
    const on = body('organizations', { 'delegated-team-management': true })
    expect((await client.patch(`/organizations/${organization.name}`, on)).status).toBe(200)
    const made = await manager.client.post(path, team({ name: 'mine', visibility: 'organization' }))
    expect(made.status).toBe(200)
    const { id } = made.json.data
    const grant = (flags: object) =>
      manager.client.patch(`/teams/${id}`, team({ 'organization-access': flags }))
    expect((await grant({ 'read-workspaces': true })).status).toBe(200)
    expect((await grant({ 'manage-policies': true })).status).toBe(404)
    const secret = await createTeam(organization)
    expect((await manager.client.patch(`/teams/${secret}`, team({ name: 'x' }))).status).toBe(404)
    expect((await manager.client.delete(`/teams/${id}`)).status).toBe(204)
  })
})

describe('emulated editions and releases', () => {
  const inside = async (
    settings: Parameters<typeof startServer>[1],
    work: (server: TestServer) => Promise<void>,
  ) => {
    const server = await startServer('sqlite', settings)
    try {
      await work(server)
    } finally {
      await server.stop()
    }
  }

  test('before 202204-1 sso-team-id is neither sent nor taken', () =>
    inside({ edition: 'self-hosted', release: '202203-1' }, async (server) => {
      const organization = await createTestOrganization(server)
      const id = await createTeam(organization, { 'sso-team-id': 'x', 'allow-member-token-management': true })
      const shown = await organization.owner.client.get(`/teams/${id}`)
      expect(shown.json.data.attributes).not.toHaveProperty('sso-team-id')
      expect(shown.json.data.attributes['allow-member-token-management']).toBe(false)
      const ping = await server.client().get('/ping')
      expect(ping.headers.get('x-tfe-version')).toBe('v202203-1')
      expect(ping.headers.get('x-tfe-current-version')).toBeNull()
    }))

  test('before 202408-1 allow-member-token-management is false and stays so', () =>
    inside({ edition: 'self-hosted', release: '202407-1' }, async (server) => {
      const organization = await createTestOrganization(server)
      const id = await createTeam(organization, { 'sso-team-id': 'x', 'allow-member-token-management': true })
      const changed = await organization.owner.client.patch(
        `/teams/${id}`,
        team({ 'allow-member-token-management': true }),
      )
      expect(changed.json.data.attributes).toMatchObject({
        'sso-team-id': 'x',
        'allow-member-token-management': false,
      })
      const member = await addMember(server, organization, [id])
      await organization.owner.client.post(`/teams/${id}/authentication-token`)
      const seen = await member.client.get(`/teams/${id}`)
      expect(seen.json.data.attributes.permissions['can-update-api-token']).toBe(false)
      for (const path of [`/teams/${id}/authentication-token`, `/teams/${id}/authentication-tokens`]) {
        expect((await member.client.get(path)).status).toBe(404)
      }
      const listed = await member.client.get(`/organizations/${organization.name}/team-tokens`)
      expect(listed.json.data).toEqual([])
    }))

  test('what the dialect or the release does not know is ignored, whatever it is', () =>
    inside({ edition: 'self-hosted', release: '202203-1' }, async (server) => {
      const organization = await createTestOrganization(server)
      const id = await createTeam(organization, {
        'sso-team-id': 1,
        'allow-member-token-management': 'yes',
        'allow-team-token-management': null,
        'organization-access': { 'access-secret-teams': 'all', 'a-newer-flag': {} },
      })
      const shown = await organization.owner.client.get(`/teams/${id}`)
      expect(Object.values(shown.json.data.attributes['organization-access'])).not.toContain(true)
    }))

  test('the current dialect: nobody may change what an old release does not have', async () => {
    for (const [release, lacking] of [
      ['202203-1', ['can-update-sso-team-id', 'can-update-member-token-management']],
      ['202407-1', ['can-update-member-token-management']],
      ['202408-1', []],
    ] as const) {
      await inside({ dialect: 'current', edition: 'self-hosted', release }, async (server) => {
        const organization = await createTestOrganization(server)
        const id = await createTeam(organization)
        const { permissions } = (await organization.owner.client.get(`/teams/${id}`)).json.data.attributes
        expect(Object.keys(permissions).filter((name) => permissions[name] === false)).toEqual(lacking)
      })
    }
  })

  test('the current dialect: permissions say of the team owners what can be changed of it', () =>
    inside({ dialect: 'current' }, async (server) => {
      const { name, owner } = await createTestOrganization(server)
      const [owners] = (await owner.client.get(`/organizations/${name}/teams`)).json.data
      const { permissions } = owners.attributes
      for (const [permission, attributes] of [
        ['can-update-name', { name: 'others' }],
        ['can-update-visibility', { visibility: 'organization' }],
        ['can-update-sso-team-id', { 'sso-team-id': 'x' }],
        ['can-update-member-token-management', { 'allow-member-token-management': false }],
      ] as const) {
        const changed = await owner.client.patch(`/teams/${owners.id}`, team(attributes))
        expect([permission, changed.status]).toEqual([permission, permissions[permission] ? 200 : 422])
      }
    }))

  test('the current dialect: sixteen flags, also in lists; reading may be left off; invited people are shown', () =>
    inside({ dialect: 'current' }, async (server) => {
      const organization = await createTestOrganization(server)
      const { client } = organization.owner
      const id = await createTeam(organization, {
        'organization-access': {
          'manage-workspaces': true,
          'read-workspaces': false,
          'access-secret-teams': true,
        },
      })
      const membershipId = await invitePerson(organization, await createUser(server), [id])
      const shown = await client.get(`/teams/${id}`)
      expect(Object.keys(flagsOf(shown))).toHaveLength(16)
      expect(flagsOf(shown)).toMatchObject({
        'manage-workspaces': true,
        'read-workspaces': false,
        'access-secret-teams': true,
      })
      expect(shown.json.data.relationships['organization-memberships'].data).toEqual([
        { id: membershipId, type: 'organization-memberships' },
      ])
      expect(shown.json.data.attributes['users-count']).toBe(0)
      const list = await client.get(`/organizations/${organization.name}/teams`)
      expect(Object.keys(list.json.data[0].attributes['organization-access'])).toHaveLength(16)
      expect(Object.keys(shown.json.data.attributes.permissions)).toHaveLength(9)
      const secret = await createTeam(organization)
      const holder = await addMember(server, organization, [id])
      expect((await holder.client.get(`/teams/${secret}`)).status).toBe(200)
    }))
})
