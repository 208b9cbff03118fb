import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NOT_FOUND, type Client } from './support/client.ts'
import { engines } from './support/engines.ts'
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
  type TestOrganization,
} from './support/world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

describe.each(engines)('what organizations say of tokens, on %s', (engine) => {
  let server: TestServer
  let second: TestServer
  beforeAll(async () => {
    server = await startServer(engine)
    second = await startServer(
      engine,
      server.databaseUrl === undefined ? { data: server.folder } : { databaseUrl: server.databaseUrl },
    )
  })
  afterAll(async () => {
    await second.stop()
    await server.stop()
  })

  const settings = (attributes: object) => body('organizations', attributes)
  const there = (client: Client) => second.client(client.token)
  const setUserTokens = async (client: Client, { name }: TestOrganization, isOn: boolean) => {
    const changed = await client.patch(`/organizations/${name}`, settings({ 'user-tokens-enabled': isOn }))
    expect(changed.status).toBe(200)
    expect(changed.json.data.attributes['user-tokens-enabled']).toBe(isOn)
  }
  const tokenOf = async (client: Client, path: string) => {
    const made = await client.post(path)
    expect(made.status).toBe(201)
    return server.client(made.json.data.attributes.token)
  }

  test('without user tokens members are 401 there, on every node, and teams and the organization go on', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const team = await createTeam(organization)
    const member = await addMember(server, organization, [team])
    const workspaceId = await createWorkspace(organization)
    const [{ id: owners }] = (await owner.client.get(`/organizations/${name}/teams?filter[names]=owners`))
      .json.data
    const ofTeam = await tokenOf(owner.client, `/teams/${team}/authentication-token`)
    const ofOwners = await tokenOf(owner.client, `/teams/${owners}/authentication-token`)
    const ofOrganization = await tokenOf(owner.client, `/organizations/${name}/authentication-token`)
    expect((await there(member.client).get(`/teams/${team}`)).status).toBe(200)

    await setUserTokens(owner.client, organization, false)
    const refusal = {
      errors: [
        {
          status: '401',
          title: 'unauthorized',
          detail:
            'this organization does not accept user tokens (user-tokens-enabled is false); use a team token',
        },
      ],
    }
    const paths = [
      `/organizations/${name}`,
      `/organizations/${name}/entitlement-set`,
      `/organizations/${name}/teams`,
      `/teams/${team}`,
      `/workspaces/${workspaceId}/current-state-version-outputs`,
      `/organization-memberships/${member.membershipId}`,
    ]
    for (const client of [owner.client, member.client, there(member.client)]) {
      for (const path of paths) {
        const refused = await client.get(path)
        expect([path, refused.status, refused.json]).toEqual([path, 401, refusal])
      }
    }
    // The body is not read and nothing is changed.
    expect((await owner.client.post(`/organizations/${name}/teams`, '{')).status).toBe(401)
    expect((await owner.client.delete(`/organizations/${name}`)).status).toBe(401)
    for (const client of [ofTeam, ofOwners, ofOrganization, there(ofTeam), server.admin]) {
      expect((await client.get(`/organizations/${name}`)).status).toBe(200)
      expect((await client.get(`/teams/${team}`)).status).toBe(200)
    }

    await setUserTokens(ofOwners, organization, true)
    expect((await there(member.client).get(`/teams/${team}`)).status).toBe(200)
    await setUserTokens(owner.client, organization, false)
    await setUserTokens(server.admin, organization, true)
    expect((await owner.client.get(`/organizations/${name}`)).status).toBe(200)
  })

  test('objects hidden from a refused caller stay missing, and the caller’s own things keep working', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const team = await createTeam(organization)
    const secret = await createTeam(organization)
    const member = await addMember(server, organization, [team])
    const invited = await createUser(server)
    const invitation = await invitePerson(organization, invited, [team])
    const ofTeam = await tokenOf(owner.client, `/teams/${team}/authentication-token`)
    await setUserTokens(owner.client, organization, false)

    // For members, outsiders and invited users.
    const outsider = await createUser(server)
    for (const [client, hidden] of [
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
      expect((await client.get(hidden)).text).toBe(NOT_FOUND)
    }

    // The user's own objects outside of the organization are still readable. Lists leave the organization out.
    expect((await member.client.get('/account/details')).status).toBe(200)
    expect((await member.client.get(`/users/${member.id}`)).status).toBe(200)
    expect((await member.client.get(`/users/${owner.id}`)).text).toBe(NOT_FOUND)
    expect((await member.client.get(`/users/${member.id}/authentication-tokens`)).status).toBe(200)
    const listed = await member.client.get('/organizations')
    expect([listed.json.data, listed.json.meta.pagination['total-count']]).toEqual([[], 0])
    const own = await member.client.get('/organization-memberships?include=organization,teams')
    expect([own.json.data, own.json.meta.pagination['total-count']]).toEqual([[], 0])
    expect((await server.admin.get(`/organizations?q=${name}`)).json.data).toHaveLength(1)
    expect((await ofTeam.get('/organizations')).json.data).toHaveLength(1)

    // An invitation belongs to the invited user, who may accept it. Then they are a member.
    expect((await invited.client.get('/organization-memberships')).json.data).toHaveLength(1)
    const accepted = await invited.client.post(`/organization-memberships/${invitation}/actions/accept`)
    expect(accepted.status).toBe(200)
    expect((await invited.client.get(`/organizations/${name}`)).status).toBe(401)
    expect((await invited.client.get('/organization-memberships')).json.data).toEqual([])
  })

  test('it can be said with a new organization, and is another’s business', async () => {
    const user = await createUser(server)
    const name = uniqueName('organization')
    const made = await user.client.post(
      '/organizations',
      settings({ name, email: 'a@example.com', 'user-tokens-enabled': false, 'max-ttl-enabled': true }),
    )
    expect(made.status).toBe(201)
    expect(made.json.data.attributes).toMatchObject({
      'user-tokens-enabled': false,
      'max-ttl-enabled': true,
    })
    expect((await user.client.get(`/organizations/${name}`)).status).toBe(401)
    const open = await user.client.post(
      '/organizations',
      settings({ name: uniqueName('organization'), email: 'a@example.com' }),
    )
    expect((await user.client.get(`/organizations/${open.json.data.id}`)).status).toBe(200)
    expect((await user.client.get('/organizations')).json.data).toHaveLength(1)
  })

  const policies = (kinds: Record<string, unknown>) =>
    body('organization-token-ttl-policies', {
      'token-ttl-policies': Object.entries(kinds).map(([kind, ms]) => ({
        'token-type': kind,
        'max-ttl-ms': ms,
      })),
    })
  const shownPolicies = async (client: Client, name: string) => {
    const list = await client.get(`/organizations/${name}/token-ttl-policies`)
    expect(list.status).toBe(200)
    return Object.fromEntries(
      list.json.data.map((item: { attributes: Record<string, unknown> }) => [
        item.attributes['token-type'],
        item.attributes['max-ttl-ms'],
      ]),
    )
  }

  test('how long tokens may live: two years for each kind, until the owners say otherwise', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const path = `/organizations/${name}/token-ttl-policies`
    const years = 63_072_000_000
    const initial = { organization: years, team: years, user: years, audit_trails: years }
    expect(await shownPolicies(owner.client, name)).toEqual(initial)
    const changed = await owner.client.patch(path, policies({ team: DAY_MS, audit_trails: 60_000 }))
    expect(changed.status).toBe(200)
    expect(changed.json.data).toHaveLength(4)
    expect(changed.json.data[1]).toEqual({
      id: `ttl-team-${organization.id.slice(4)}`,
      type: 'organization-token-ttl-policies',
      attributes: { 'token-type': 'team', 'max-ttl-ms': DAY_MS },
    })
    // The second form that clients send.
    const asList = await owner.client.patch(path, {
      data: [body('organization-token-ttl-policies', { 'token-type': 'user', 'max-ttl-ms': 2 * DAY_MS })].map(
        (one) => (one as { data: object }).data,
      ),
    })
    expect(asList.status).toBe(200)
    expect(await shownPolicies(owner.client, name)).toEqual({
      ...initial,
      team: DAY_MS,
      audit_trails: 60_000,
      user: 2 * DAY_MS,
    })
    const page = await owner.client.get(`${path}?page[size]=3&page[number]=2`)
    expect(page.json.data).toHaveLength(1)
    expect(page.json.meta.pagination['total-count']).toBe(4)
    const member = await addMember(server, organization)
    expect((await member.client.get(path)).text).toBe(NOT_FOUND)
    expect((await member.client.patch(path, '{')).text).toBe(NOT_FOUND)
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
      const refused = await owner.client.patch(path, sent)
      expect(refused.status).toBe(422)
      expect(
        refused.json.errors.map((error: { detail: string; source: { pointer: string } }) => [
          error.detail,
          error.source.pointer,
        ]),
      ).toEqual(expected)
    }
  })

  test('a new token ends within its kind’s time', async () => {
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

  test('older tokens are refused from the next request on, and let in again when that is taken back', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const team = await createTeam(organization)
    const member = await addMember(server, organization, [team])
    const ofTeam = await tokenOf(owner.client, `/teams/${team}/authentication-token`)
    const ofOrganization = await tokenOf(owner.client, `/organizations/${name}/authentication-token`)
    const auditor = await tokenOf(
      owner.client,
      `/organizations/${name}/authentication-token?token=audit-trails`,
    )
    server.clock.advance(2 * HOUR_MS)
    second.clock.advance(2 * HOUR_MS)
    const status = async (client: Client, path = `/teams/${team}`) => (await client.get(path)).status
    const enable = (isOn: boolean) =>
      server.admin.patch(`/organizations/${name}`, settings({ 'max-ttl-enabled': isOn }))
    const set = (kinds: Record<string, number>) =>
      server.admin.patch(`/organizations/${name}/token-ttl-policies`, policies(kinds))
    await set({ team: HOUR_MS, organization: HOUR_MS, audit_trails: HOUR_MS, user: HOUR_MS })
    expect(await status(ofTeam)).toBe(200)
    await enable(true)
    for (const client of [ofTeam, ofOrganization, auditor, there(ofTeam)]) {
      expect(await status(client, '/organizations')).toBe(401)
    }
    const refused = await member.client.get(`/teams/${team}`)
    expect(refused.status).toBe(401)
    expect(refused.json.errors[0].detail).toBe(
      'this token, or the token that created it, is older than the organization allows for user tokens; ask a site administrator for a new one',
    )
    expect(await status(there(member.client))).toBe(401)
    expect((await member.client.get('/organizations')).json.data).toEqual([])
    expect((await member.client.get('/organization-memberships')).json.data).toEqual([])
    expect(await status(member.client, '/account/details')).toBe(200)
    expect(await status(server.admin)).toBe(200)
    const expired = await server.admin.get(`/organizations/${name}/team-tokens?filter[expiry_status]=expired`)
    expect(expired.json.data).toHaveLength(1)
    const active = await server.admin.get(`/organizations/${name}/team-tokens?filter[expiry_status]=active`)
    expect(active.json.data).toHaveLength(0)

    // A token created with an old token counts as equally old. A site administrator can create a new one.
    const asOld = await tokenOf(member.client, `/users/${member.id}/authentication-tokens`)
    const asOldAgain = await tokenOf(asOld, `/users/${member.id}/authentication-tokens`)
    expect(await status(asOld)).toBe(401)
    expect(await status(asOldAgain)).toBe(401)
    expect((await asOldAgain.get('/organizations')).json.data).toEqual([])
    const newer = await tokenOf(server.admin, `/users/${member.id}/authentication-tokens`)
    expect(await status(newer)).toBe(200)
    expect((await newer.get('/organizations')).json.data).toHaveLength(1)
    expect((await newer.get('/organization-memberships')).json.data).toHaveLength(1)
    expect(await status(newer, `/users/${owner.id}`)).toBe(200)
    expect(await status(member.client, `/users/${owner.id}`)).toBe(404)

    await set({ team: 3 * HOUR_MS })
    expect(await status(ofTeam)).toBe(200)
    expect(await status(there(ofTeam))).toBe(200)
    expect(await status(ofOrganization, '/organizations')).toBe(401)
    await enable(false)
    for (const client of [ofTeam, ofOrganization, member.client, there(member.client)]) {
      expect(await status(client)).toBe(200)
    }
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
    const years = 63_072_000_000
    const MINUTE_MS = 60_000
    const seen = new Set<string>()
    for (const user_tokens_enabled of [0, 1] as const) {
      for (const max_ttl_enabled of [0, 1] as const) {
        for (const most of [null, HOUR_MS]) {
          const limit = most ?? years
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
            expect([status, listed.json.data.length, own.json.data.length, other.status]).toEqual(
              isLetIn ? [200, 1, 1, 200] : [401, 0, 0, 404],
            )
            const tokens = await server.admin.get(
              `/organizations/${name}/team-tokens?filter[expiry_status]=active`,
            )
            expect([(await ofTeam.get(`/teams/${team}`)).status, tokens.json.data.length]).toEqual(
              isYoung ? [200, 1] : [401, 0],
            )
            seen.add(`${isLetIn} ${isYoung}`)
          }
        }
      }
    }
    expect(seen.size).toBe(3)
  })
})
