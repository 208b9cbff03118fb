import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NOT_FOUND, type Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { startServer, type TestServer } from './support/server.ts'
import {
  addMember,
  body,
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

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const TWO_YEARS_MS = 2 * 365 * DAY_MS

const settings = (attributes: object) => body('organizations', attributes)

const policies = (kinds: Record<string, unknown>) =>
  body('organization-token-ttl-policies', {
    'token-ttl-policies': Object.entries(kinds).map(([kind, ms]) => ({
      'token-type': kind,
      'max-ttl-ms': ms,
    })),
  })

onEachEngine('token policies', (server) => {
  let second: TestServer
  beforeAll(async () => {
    second = await startServer(
      server.engine,
      server.databaseUrl === undefined ? { data: server.folder } : { databaseUrl: server.databaseUrl },
    )
  })
  afterAll(() => second.stop())

  /** The same token at the second node. */
  const there = (client: Client) => second.client(client.token)
  const statusOf = async (client: Client, path: string) => (await client.get(path)).status
  const setUserTokens = async (client: Client, { name }: TestOrganization, isOn: boolean) => {
    const changed = await client.patch(`/organizations/${name}`, settings({ 'user-tokens-enabled': isOn }))
    expect(changed.status).toBe(200)
    expect(changed.json.data.attributes['user-tokens-enabled']).toBe(isOn)
  }
  const tokenOf = async (client: Client, path: string) => {
    const created = await client.post(path)
    expect(created.status).toBe(201)
    return server.client(created.json.data.attributes.token)
  }
  const tokenOfTeam = ({ owner }: TestOrganization, team: string) =>
    tokenOf(owner.client, `/teams/${team}/authentication-token`)
  const tokenOfOwners = async (organization: TestOrganization) => {
    const { name, owner } = organization
    const found = await owner.client.get(`/organizations/${name}/teams?filter[names]=owners`)
    return tokenOfTeam(organization, found.json.data[0].id)
  }

  describe('user-tokens-enabled: false', () => {
    let organization: TestOrganization
    let name: string
    let team: string
    let secret: string
    let workspaceId: string
    let member: Member
    let invited: Person
    let ofTeam: Client
    let ofOwners: Client
    let ofOrganization: Client
    beforeAll(async () => {
      organization = await createTestOrganization(server)
      name = organization.name
      team = await createTeam(organization)
      secret = await createTeam(organization)
      workspaceId = await createWorkspace(organization)
      member = await addMember(server, organization, [team])
      invited = await createUser(server)
      await invitePerson(organization, invited, [team])
      ofTeam = await tokenOfTeam(organization, team)
      ofOwners = await tokenOfOwners(organization)
      ofOrganization = await tokenOf(organization.owner.client, `/organizations/${name}/authentication-token`)
      expect(await statusOf(there(member.client), `/teams/${team}`)).toBe(200)
      await setUserTokens(organization.owner.client, organization, false)
    })

    test('members and owners get 401 with the reason, on every node', async () => {
      const detail =
        'this organization does not accept user tokens (user-tokens-enabled is false); use a team token'
      const refusal = { errors: [{ status: '401', title: 'unauthorized', detail }] }
      for (const client of [organization.owner.client, member.client, there(member.client)]) {
        for (const path of [
          `/organizations/${name}`,
          `/organizations/${name}/entitlement-set`,
          `/organizations/${name}/teams`,
          `/teams/${team}`,
          `/workspaces/${workspaceId}/current-state-version-outputs`,
          `/organization-memberships/${member.membershipId}`,
        ]) {
          const { status, json } = await client.get(path)
          expect({ path, status, json }).toEqual({ path, status: 401, json: refusal })
        }
      }
    })

    test('a write is 401 before its body is read, and changes nothing', async () => {
      const { client } = organization.owner
      expect((await client.post(`/organizations/${name}/teams`, '{')).status).toBe(401)
      expect((await client.delete(`/organizations/${name}`)).status).toBe(401)
      expect(await statusOf(server.admin, `/organizations/${name}`)).toBe(200)
    })

    test('tokens of teams, of the organization and of site administrators are accepted', async () => {
      for (const client of [ofTeam, ofOwners, ofOrganization, there(ofTeam), server.admin]) {
        expect(await statusOf(client, `/organizations/${name}`)).toBe(200)
        expect(await statusOf(client, `/teams/${team}`)).toBe(200)
      }
    })

    test('hidden objects stay 404 for members, outsiders, invited people and teams', async () => {
      const outsider = await createUser(server)
      for (const [client, path] of [
        [member.client, `/teams/${secret}`],
        [member.client, `/organizations/${name}/authentication-token`],
        [outsider.client, `/organizations/${name}`],
        [outsider.client, `/teams/${team}`],
        [outsider.client, `/organization-memberships/${member.membershipId}`],
        [outsider.client, `/users/${member.id}`],
        [invited.client, `/organizations/${name}`],
        [invited.client, `/teams/${team}`],
        [ofTeam, `/teams/${secret}`],
      ] as const) {
        const { text } = await client.get(path)
        expect({ path, text }).toEqual({ path, text: NOT_FOUND })
      }
    })

    test('a member still reads their own account and tokens, and no other member', async () => {
      expect(await statusOf(member.client, '/account/details')).toBe(200)
      expect(await statusOf(member.client, `/users/${member.id}`)).toBe(200)
      expect(await statusOf(member.client, `/users/${member.id}/authentication-tokens`)).toBe(200)
      expect((await member.client.get(`/users/${organization.owner.id}`)).text).toBe(NOT_FOUND)
    })

    test('lists of a member leave the organization out; those of others have it', async () => {
      for (const path of ['/organizations', '/organization-memberships?include=organization,teams']) {
        const { data, meta } = (await member.client.get(path)).json
        expect(data).toEqual([])
        expect(meta.pagination['total-count']).toBe(0)
      }
      expect((await server.admin.get(`/organizations?q=${name}`)).json.data).toHaveLength(1)
      expect((await ofTeam.get('/organizations')).json.data).toHaveLength(1)
    })
  })

  test('an invited person may accept while user tokens are disabled, and is 401 from then on', async () => {
    const organization = await createTestOrganization(server)
    const invited = await createUser(server)
    const invitation = await invitePerson(organization, invited, [await createTeam(organization)])
    await setUserTokens(organization.owner.client, organization, false)
    expect((await invited.client.get('/organization-memberships')).json.data).toHaveLength(1)
    const accepted = await invited.client.post(`/organization-memberships/${invitation}/actions/accept`)
    expect(accepted.status).toBe(200)
    expect(await statusOf(invited.client, `/organizations/${organization.name}`)).toBe(401)
    expect((await invited.client.get('/organization-memberships')).json.data).toEqual([])
  })

  test('a token of the owners, or a site administrator, enables user tokens again, on every node', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    for (const client of [await tokenOfOwners(organization), server.admin]) {
      await setUserTokens(owner.client, organization, false)
      expect(await statusOf(there(owner.client), `/organizations/${name}`)).toBe(401)
      await setUserTokens(client, organization, true)
      expect(await statusOf(owner.client, `/organizations/${name}`)).toBe(200)
      expect(await statusOf(there(owner.client), `/organizations/${name}`)).toBe(200)
    }
  })

  test('a new organization can refuse user tokens, without an effect on others of the user', async () => {
    const user = await createUser(server)
    const name = uniqueName('organization')
    const rules = { 'user-tokens-enabled': false, 'max-ttl-enabled': true }
    const created = await user.client.post(
      '/organizations',
      settings({ name, email: 'a@example.com', ...rules }),
    )
    expect(created.status).toBe(201)
    expect(created.json.data.attributes).toMatchObject(rules)
    expect(await statusOf(user.client, `/organizations/${name}`)).toBe(401)
    const open = await user.client.post(
      '/organizations',
      settings({ name: uniqueName('organization'), email: 'a@example.com' }),
    )
    expect(await statusOf(user.client, `/organizations/${open.json.data.id}`)).toBe(200)
    expect((await user.client.get('/organizations')).json.data).toHaveLength(1)
  })

  describe('token-ttl-policies', () => {
    let organization: TestOrganization
    let path: string
    beforeAll(async () => {
      organization = await createTestOrganization(server)
      path = `/organizations/${organization.name}/token-ttl-policies`
    })

    test('are two years for each kind, until the owners set others in one of two forms', async () => {
      const { client } = organization.owner
      const shown = async () => {
        const list = await client.get(path)
        expect(list.status).toBe(200)
        return Object.fromEntries(
          list.json.data.map((item: { attributes: Record<string, unknown> }) => [
            item.attributes['token-type'],
            item.attributes['max-ttl-ms'],
          ]),
        )
      }
      const initial = {
        organization: TWO_YEARS_MS,
        team: TWO_YEARS_MS,
        user: TWO_YEARS_MS,
        audit_trails: TWO_YEARS_MS,
      }
      expect(await shown()).toEqual(initial)

      const changed = await client.patch(path, policies({ team: DAY_MS, audit_trails: MINUTE_MS }))
      expect(changed.status).toBe(200)
      expect(changed.json.data).toHaveLength(4)
      expect(changed.json.data[1]).toEqual({
        id: `ttl-team-${organization.id.slice(4)}`,
        type: 'organization-token-ttl-policies',
        attributes: { 'token-type': 'team', 'max-ttl-ms': DAY_MS },
      })

      const policy = {
        type: 'organization-token-ttl-policies',
        attributes: { 'token-type': 'user', 'max-ttl-ms': 2 * DAY_MS },
      }
      expect((await client.patch(path, { data: [policy] })).status).toBe(200)
      expect(await shown()).toEqual({
        ...initial,
        team: DAY_MS,
        audit_trails: MINUTE_MS,
        user: 2 * DAY_MS,
      })
    })

    test('are listed in pages', async () => {
      const page = await organization.owner.client.get(`${path}?page[size]=3&page[number]=2`)
      expect(page.json.data).toHaveLength(1)
      expect(page.json.meta.pagination['total-count']).toBe(4)
    })

    test('are 404 for plain members', async () => {
      const member = await addMember(server, organization)
      expect((await member.client.get(path)).text).toBe(NOT_FOUND)
      expect((await member.client.patch(path, '{')).text).toBe(NOT_FOUND)
    })

    test('are 422 with every problem of the request', async () => {
      const list = 'token-ttl-policies must be a list of 1 to 100 policies'
      const ms = 'max-ttl-ms must be a whole number from 60000 (a minute) to 3153600000000 (a hundred years)'
      const kind = 'token-type must be "organization" or "team" or "user" or "audit_trails"'
      const at = '/data/attributes/token-ttl-policies'
      for (const [sent, expected] of [
        [policies({}), [[list, at]]],
        [body('organization-token-ttl-policies', {}), [[list, at]]],
        [
          body('teams', {}),
          [
            ['type must be "organization-token-ttl-policies"', '/data/type'],
            [list, at],
          ],
        ],
        [
          {},
          [
            ['type must be "organization-token-ttl-policies"', '/data/type'],
            [list, at],
          ],
        ],
        [{ data: [] }, [['data must be a list of 1 to 100 policies', '/data']]],
        [
          { data: [null] },
          [
            ['type must be "organization-token-ttl-policies"', '/data/0/type'],
            [kind, '/data/0/attributes/token-type'],
            [ms, '/data/0/attributes/max-ttl-ms'],
          ],
        ],
        [
          policies({ 'audit-trails': DAY_MS, team: 59_999, user: 1.5e7 + 0.5, organization: '1d' }),
          [
            [kind, `${at}/0/token-type`],
            [ms, `${at}/1/max-ttl-ms`],
            [ms, `${at}/2/max-ttl-ms`],
            [ms, `${at}/3/max-ttl-ms`],
          ],
        ],
      ] as const) {
        const refused = await organization.owner.client.patch(path, sent)
        expect(refused.status).toBe(422)
        expect(
          refused.json.errors.map((error: { detail: string; source: { pointer: string } }) => [
            error.detail,
            error.source.pointer,
          ]),
        ).toEqual(expected)
      }
    })
  })

  test('a new token expires within the time of its kind, once max-ttl-enabled is set', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const team = await createTeam(organization)
    const kinds = [
      ['team', `/teams/${team}/authentication-token`],
      ['team', `/teams/${team}/authentication-tokens`],
      ['organization', `/organizations/${name}/authentication-token`],
      ['audit_trails', `/organizations/${name}/authentication-token?token=audit-trails`],
    ] as const
    const times = { team: DAY_MS, organization: 2 * DAY_MS, audit_trails: 3 * DAY_MS }
    await owner.client.patch(`/organizations/${name}/token-ttl-policies`, policies(times))
    const after = (milliseconds: number) =>
      body('', {
        'expired-at': new Date(server.clock.now().getTime() + milliseconds).toISOString(),
      })
    // The policies are set but not switched on.
    expect((await owner.client.post(kinds[0][1], after(30 * DAY_MS))).status).toBe(201)
    await owner.client.patch(`/organizations/${name}`, settings({ 'max-ttl-enabled': true }))
    for (const [kind, path] of kinds) {
      const refused = await owner.client.post(path, after(times[kind] + HOUR_MS))
      expect(refused.status).toBe(422)
      expect(refused.json.errors).toHaveLength(1)
      expect(refused.json.errors[0].source.pointer).toBe('/data/attributes/expired-at')
      expect(refused.json.errors[0].detail).toMatch(
        new RegExp(
          `^expired-at must not be later than .*Z: the organization lets such tokens live ${times[kind]} ms$`,
        ),
      )
      expect((await owner.client.post(path, after(times[kind] - HOUR_MS))).status).toBe(201)
      const longest = (await owner.client.post(path)).json.data.attributes
      expect(Date.parse(longest['expired-at']) - Date.parse(longest['created-at'])).toBe(times[kind])
    }
    // A user token does not belong to the organization.
    const own = await server.admin.post(`/users/${owner.id}/authentication-tokens`, after(900 * DAY_MS))
    expect(own.status).toBe(201)
  })

  describe('tokens older than their policy', () => {
    let organization: TestOrganization
    let name: string
    let team: string
    let member: Member
    let ofTeam: Client
    let ofOrganization: Client
    let auditor: Client
    const enable = (isOn: boolean) =>
      server.admin.patch(`/organizations/${name}`, settings({ 'max-ttl-enabled': isOn }))
    const set = (kinds: Record<string, number>) =>
      server.admin.patch(`/organizations/${name}/token-ttl-policies`, policies(kinds))
    const onTeam = (client: Client) => statusOf(client, `/teams/${team}`)
    beforeAll(async () => {
      organization = await createTestOrganization(server)
      name = organization.name
      team = await createTeam(organization)
      member = await addMember(server, organization, [team])
      const { client } = organization.owner
      const path = `/organizations/${name}/authentication-token`
      ofTeam = await tokenOfTeam(organization, team)
      ofOrganization = await tokenOf(client, path)
      auditor = await tokenOf(client, `${path}?token=audit-trails`)
      server.clock.advance(2 * HOUR_MS)
      second.clock.advance(2 * HOUR_MS)
      await set({ team: HOUR_MS, organization: HOUR_MS, audit_trails: HOUR_MS, user: HOUR_MS })
      expect(await onTeam(ofTeam)).toBe(200)
      await enable(true)
    })

    test('are 401 on every node, whatever they belong to', async () => {
      for (const client of [ofTeam, ofOrganization, auditor, there(ofTeam)]) {
        expect(await statusOf(client, '/organizations')).toBe(401)
      }
      expect(await onTeam(there(member.client))).toBe(401)
      const refused = await member.client.get(`/teams/${team}`)
      expect(refused.status).toBe(401)
      expect(refused.json.errors[0].detail).toBe(
        'this token, or the token that created it, is older than the organization allows for user tokens; ask a site administrator for a new one',
      )
    })

    test('of a user still read what belongs to the user, and lists leave the organization out', async () => {
      expect((await member.client.get('/organizations')).json.data).toEqual([])
      expect((await member.client.get('/organization-memberships')).json.data).toEqual([])
      expect(await statusOf(member.client, '/account/details')).toBe(200)
      expect(await statusOf(member.client, `/users/${organization.owner.id}`)).toBe(404)
    })

    test('of a site administrator are accepted', async () => {
      expect(await onTeam(server.admin)).toBe(200)
    })

    test('of teams are listed as expired', async () => {
      const listed = async (status: string) =>
        (await server.admin.get(`/organizations/${name}/team-tokens?filter[expiry_status]=${status}`)).json
          .data
      expect(await listed('expired')).toHaveLength(1)
      expect(await listed('active')).toHaveLength(0)
    })

    test('pass their age on to the tokens that they create', async () => {
      const asOld = await tokenOf(member.client, `/users/${member.id}/authentication-tokens`)
      const asOldAgain = await tokenOf(asOld, `/users/${member.id}/authentication-tokens`)
      expect(await onTeam(asOld)).toBe(401)
      expect(await onTeam(asOldAgain)).toBe(401)
      expect((await asOldAgain.get('/organizations')).json.data).toEqual([])
    })

    test('can be replaced by a site administrator', async () => {
      const newer = await tokenOf(server.admin, `/users/${member.id}/authentication-tokens`)
      expect(await onTeam(newer)).toBe(200)
      expect((await newer.get('/organizations')).json.data).toHaveLength(1)
      expect((await newer.get('/organization-memberships')).json.data).toHaveLength(1)
      expect(await statusOf(newer, `/users/${organization.owner.id}`)).toBe(200)
    })

    test('are accepted again when the policy allows their age, or is switched off', async () => {
      await set({ team: 3 * HOUR_MS })
      expect(await onTeam(ofTeam)).toBe(200)
      expect(await onTeam(there(ofTeam))).toBe(200)
      expect(await statusOf(ofOrganization, '/organizations')).toBe(401)
      await enable(false)
      for (const client of [ofTeam, ofOrganization, member.client, there(member.client)]) {
        expect(await onTeam(client)).toBe(200)
      }
    })
  })

  test('lists, filters and single answers agree on which tokens are let in', async () => {
    const organization = await createTestOrganization(server)
    const { owner, id, name } = organization
    const team = await createTeam(organization)
    const member = await addMember(server, organization, [team])
    const ofTeam = await tokenOf(owner.client, `/teams/${team}/authentication-token`)
    const makeOlder = (ageMs: number) => {
      const created_at = new Date(server.clock.now().getTime() - ageMs).toISOString()
      return server.app.deps.database.write(({ db }) =>
        db
          .updateTable('authentication_tokens')
          .set({ created_at, expires_at: '2099-01-01T00:00:00.000Z' })
          .where((eb) => eb.or([eb('user_id', '=', member.id), eb('team_id', '=', team)]))
          .execute(),
      )
    }
    const seen = new Set<string>()
    for (const user_tokens_enabled of [0, 1] as const) {
      for (const max_ttl_enabled of [0, 1] as const) {
        for (const most of [null, HOUR_MS]) {
          const limit = most ?? TWO_YEARS_MS
          await server.app.deps.database.write(({ db }) =>
            db
              .updateTable('organizations')
              .set({ user_tokens_enabled, max_ttl_enabled, max_ttl_user_ms: most, max_ttl_team_ms: most })
              .where('id', '=', id)
              .execute(),
          )
          for (const ageMs of [0, limit - MINUTE_MS, limit + MINUTE_MS]) {
            await makeOlder(ageMs)
            const isYoung = max_ttl_enabled === 0 || ageMs < limit
            const isLetIn = user_tokens_enabled === 1 && isYoung
            const { status } = await member.client.get(`/organizations/${name}`)
            const listed = await member.client.get('/organizations')
            const own = await member.client.get('/organization-memberships')
            const other = await member.client.get(`/users/${owner.id}`)
            expect({
              status,
              organizations: listed.json.data.length,
              memberships: own.json.data.length,
              otherUser: other.status,
            }).toEqual(
              isLetIn
                ? { status: 200, organizations: 1, memberships: 1, otherUser: 200 }
                : { status: 401, organizations: 0, memberships: 0, otherUser: 404 },
            )
            const tokens = await server.admin.get(
              `/organizations/${name}/team-tokens?filter[expiry_status]=active`,
            )
            expect(await statusOf(ofTeam, `/teams/${team}`)).toBe(isYoung ? 200 : 401)
            expect(tokens.json.data).toHaveLength(isYoung ? 1 : 0)
            seen.add(`${isLetIn} ${isYoung}`)
          }
        }
      }
    }
    expect(seen.size).toBe(3)
  })
})
