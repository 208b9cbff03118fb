import { expect, onTestFinished, test, vi } from 'vitest'
import { NOT_FOUND, type Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { body, createTeam, createTestOrganization, createUser, uniqueName } from './support/world.ts'

const UNAUTHORIZED = '{"errors":[{"status":"401","title":"unauthorized"}]}'
const DAY_MS = 86_400_000

onEachEngine('tokens of users and organizations', { maxTokens: '4' }, (server) => {
  const token = (attributes?: object) => ({
    data: { type: 'authentication-tokens', ...(attributes === undefined ? {} : { attributes }) },
  })
  const create = (client: Client, userId: string, body?: unknown) =>
    client.post(`/users/${userId}/authentication-tokens`, body)

  test('the text is shown once, and nowhere else', async () => {
    const { id, client } = await createUser(server)
    const made = await create(client, id, token({ description: 'laptop' }))
    expect(made.status).toBe(201)
    expect(made.headers.get('cache-control')).toBe('no-store')
    const { attributes, relationships } = made.json.data
    expect(attributes).toMatchObject({ description: 'laptop', 'last-used-at': null })
    expect(attributes.token).toMatch(/^purser_user_[1-9A-HJ-NP-Za-km-z]{32}[0-9a-z]{7}$/)
    expect(relationships).toEqual({
      'created-by': { data: { id, type: 'users' } },
      team: { data: null },
    })
    const years =
      (Date.parse(attributes['expired-at']) - Date.parse(attributes['created-at'])) / DAY_MS / 365.25
    expect(years).toBeCloseTo(2, 1)
    expect((await server.client(attributes.token).get('/account/details')).json.data.id).toBe(id)
    const shown = await client.get(`/authentication-tokens/${made.json.data.id}`)
    expect(shown.json.data).toEqual({ ...made.json.data, attributes: { ...attributes, token: null } })
    const list = await client.get(`/users/${id}/authentication-tokens`)
    expect(list.json.data).toHaveLength(2)
    expect(list.json.meta.pagination['total-count']).toBe(2)
    expect(list.text).not.toContain(attributes.token)
  })

  test('bodies that clients send are taken: none, empty, without a type, with an empty one', async () => {
    for (const body of [undefined, {}, { data: {} }, { data: { type: '' } }, token({ description: null })]) {
      const { id, client } = await createUser(server)
      expect((await create(client, id, body)).status).toBe(201)
    }
  })

  test('an expiry is in the future and is kept in UTC', async () => {
    const { id } = await createUser(server)
    const client = server.admin
    const made = await create(client, id, token({ 'expired-at': '2099-02-28T23:30:00.25-02:00' }))
    expect(made.json.data.attributes['expired-at']).toBe('2099-03-01T01:30:00.250Z')
    for (const [given, detail] of [
      ['2000-01-01T00:00:00Z', 'expired-at must be in the future'],
      ...['2099-02-30T00:00:00Z', '2099-01-01', 'soon', '9999-12-31T23:59:59-10:00', 7].map((text) => [
        text,
        'expired-at must be a time such as 2030-01-31T12:00:00Z, or null for two years from now',
      ]),
    ]) {
      const refused = await create(client, id, token({ 'expired-at': given }))
      expect(refused.status).toBe(422)
      expect(refused.json.errors).toEqual([
        {
          status: '422',
          title: 'invalid attribute',
          detail,
          source: { pointer: '/data/attributes/expired-at' },
        },
      ])
    }
    const both = await create(
      client,
      id,
      token({ description: 'x'.repeat(256), 'expired-at': '2000-01-01T00:00:00Z' }),
    )
    expect(both.json.errors.map((error: { source: object }) => error.source)).toEqual([
      { pointer: '/data/attributes/description' },
      { pointer: '/data/attributes/expired-at' },
    ])
    expect((await create(client, id, token({ description: 'a\u0000' }))).status).toBe(422)
  })

  test('a description has up to 255 characters', async () => {
    const { id, client } = await createUser(server)
    for (const character of ['x', '😀']) {
      const [longest, tooLong] = [character.repeat(255), character.repeat(256)]
      const made = await create(client, id, token({ description: longest }))
      expect(made.json.data.attributes.description).toBe(longest)
      const refused = await create(client, id, token({ description: tooLong }))
      expect([refused.status, refused.json.errors]).toMatchObject([
        422,
        [{ source: { pointer: '/data/attributes/description' } }],
      ])
    }
  })

  test('the reads of all tokens of an account take turns as one, and those of strangers as their address', async () => {
    const { database } = server.app.deps
    const accounts: unknown[] = []
    const read = database.read.bind(database)
    const spy = vi.spyOn(database, 'read').mockImplementation((work, options) => {
      accounts.push(options?.account)
      return read(work, options)
    })
    onTestFinished(() => spy.mockRestore())
    const { id, client } = await createUser(server)
    const { data: token } = (await create(client, id)).json
    const other = server.client(token.attributes.token)
    const invented = [server.client('invented'), server.client('another')]
    for (const each of [client, other, ...invented]) {
      await each.get('/account/details')
      accounts.length = 0
      await each.get('/account/details')
      expect(accounts).toEqual([invented.includes(each) ? 'address 127.0.0.1' : `user ${id}`])
    }
    await client.delete(`/authentication-tokens/${token.id}`)
    await other.get('/account/details')
    accounts.length = 0
    await other.get('/account/details')
    expect(accounts).toEqual(['address 127.0.0.1'])
    const link = 'invented'
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'terraform-cli',
      code: 'invented',
      code_verifier: 'x'.repeat(43),
      redirect_uri: 'http://localhost:10000/login',
    })
    for (const ask of [
      () => server.client().post('/sessions', body('sessions', { login: 'nobody', password: 'a password' })),
      () => server.client().post('/sessions', body('sessions', { link, password: 'a long password' })),
      () => server.client().post('/password-links/show', body('password-links', { link })),
      () => server.client().get('/no/such/path'),
      () => fetch(`${server.address}/login/token`, { method: 'POST', body: form }),
    ]) {
      accounts.length = 0
      expect([400, 401]).toContain((await ask()).status)
      expect(accounts).toEqual(['address 127.0.0.1'])
    }
  })

  /** Makes a token, and returns a function that uses it and then reads its last use, in milliseconds. */
  const newToken = async () => {
    const { id, client } = await createUser(server)
    const { data } = (await create(client, id)).json
    const used = server.client(data.attributes.token)
    return async () => {
      expect((await used.get('/account/details')).status).toBe(200)
      await server.app.deps.lastUsed.flush()
      const shown = await client.get(`/authentication-tokens/${data.id}`)
      return Date.parse(shown.json.data.attributes['last-used-at'])
    }
  }

  test('last-used-at changes at most once a minute', async () => {
    const lastUsed = await newToken()
    const first = await lastUsed()
    expect(first).toBeGreaterThan(0)
    server.clock.advance(20_000)
    expect(await lastUsed()).toBe(first)
    server.clock.advance(60_000)
    expect(await lastUsed()).toBeGreaterThanOrEqual(first + 80_000)
  })

  test('last-used-at is right again after a clock that was ahead', async () => {
    const stored = await newToken()
    const lastUsed = async () => (await stored()) - server.clock.now().getTime()
    server.clock.advance(DAY_MS)
    expect(await lastUsed()).toBeGreaterThan(-60_000)
    server.clock.advance(-DAY_MS)
    expect(await lastUsed()).toBeLessThanOrEqual(0)
  })

  test('a token that is made with a user token ends no later than that one', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const team = await createTeam(organization)
    const owners = (await owner.client.get(`/organizations/${name}/teams?filter[names]=owners`)).json.data[0]
      .id
    const inHours = (hours: number) =>
      new Date(server.clock.now().getTime() + hours * 3_600_000).toISOString()
    const until = (end: string) => body('authentication-tokens', { 'expired-at': end })
    const end = inHours(1)
    const own = `/users/${owner.id}/authentication-tokens`
    const short = server.client((await owner.client.post(own, until(end))).json.data.attributes.token)
    const paths = [
      own,
      `/teams/${team}/authentication-token`,
      `/teams/${team}/authentication-tokens`,
      `/organizations/${name}/authentication-token`,
      `/organizations/${name}/authentication-token?token=audit-trails`,
    ]
    for (const path of paths) {
      const refused = await short.post(path, until('9999-12-31T00:00:00Z'))
      expect(refused.status, path).toBe(422)
      expect(refused.json.errors[0]).toMatchObject({
        detail: `expired-at must not be later than ${end}: that is the end of the token that it is made with`,
        source: { pointer: '/data/attributes/expired-at' },
      })
      expect((await short.post(path)).json.data.attributes['expired-at'], path).toBe(end)
      const sooner = until(new Date(Date.parse(end) - 60_000).toISOString())
      expect((await short.post(path, sooner)).status, path).toBe(201)
    }
    // Tokens of a team or an organization that were created this way pass the same end on.
    const [ofTeam, ofOrganization] = await Promise.all(
      [`/teams/${owners}/authentication-tokens`, `/organizations/${name}/authentication-token`].map(
        async (path) => server.client((await short.post(path)).json.data.attributes.token),
      ),
    )
    for (const maker of [ofTeam, ofOrganization] as Client[]) {
      const other = await createTeam(organization)
      const made = `/teams/${other}/authentication-tokens`
      expect((await maker.post(made, until('9999-12-31T00:00:00Z'))).status).toBe(422)
      const described = body('authentication-tokens', { description: uniqueName('made') })
      const bounded = await maker.post(made, described)
      expect([bounded.status, bounded.json.data?.attributes['expired-at']], bounded.text).toEqual([201, end])
    }
    // A site administrator is exempt, so that someone can renew tokens.
    const other = await createUser(server)
    expect((await create(server.admin, other.id, until(inHours(24)))).status).toBe(201)
    const administrator = (await server.admin.get('/account/details')).json.data.id
    const renewing = `/users/${administrator}/authentication-tokens`
    const brief = server.client((await server.admin.post(renewing, until(end))).json.data.attributes.token)
    expect((await brief.post(renewing, until(inHours(24)))).status).toBe(201)
  })

  test('expired or deleted it is void from the next request on', async () => {
    const { id, client } = await createUser(server)
    const soon = new Date(server.clock.now().getTime() + 60_000).toISOString()
    const made = await create(client, id, token({ 'expired-at': soon }))
    const short = server.client(made.json.data.attributes.token)
    expect((await short.get('/account/details')).status).toBe(200)
    server.clock.advance(61_000)
    expect((await short.get('/account/details')).text).toBe(UNAUTHORIZED)
    const other = await create(client, id)
    const second = server.client(other.json.data.attributes.token)
    expect((await second.delete(`/authentication-tokens/${other.json.data.id}`)).status).toBe(204)
    expect((await second.get('/account/details')).text).toBe(UNAUTHORIZED)
    expect((await client.delete(`/authentication-tokens/${other.json.data.id}`)).text).toBe(NOT_FOUND)
  })

  test('one has so many tokens', async () => {
    const { id, client } = await createUser(server)
    for (let count = 1; count < 4; count++) expect((await create(client, id)).status).toBe(201)
    const refused = await create(client, id)
    expect(refused.status).toBe(422)
    expect(refused.json.errors[0].detail).toContain('PURSER_MAX_TOKENS')
    const page = await client.get(`/users/${id}/authentication-tokens?page[size]=3&page[number]=2`)
    expect(page.json.data).toHaveLength(1)
  })

  test('tokens are one’s own; a site administrator manages everyone’s', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const user = await createUser(server)
    const made = await create(server.admin, user.id)
    const tokenId = made.json.data.id
    expect((await user.client.get(`/authentication-tokens/${tokenId}`)).status).toBe(200)
    expect((await server.admin.get(`/users/${user.id}/authentication-tokens`)).json.data).toHaveLength(2)
    expect((await create(owner.client, user.id, '{')).text).toBe(NOT_FOUND)
    expect((await create(owner.client, 'user-1111111111111111', '{')).text).toBe(NOT_FOUND)
    expect((await owner.client.get(`/users/${user.id}/authentication-tokens`)).text).toBe(NOT_FOUND)
    expect((await owner.client.get(`/authentication-tokens/${tokenId}`)).text).toBe(NOT_FOUND)
    expect((await owner.client.delete(`/authentication-tokens/${tokenId}`)).text).toBe(NOT_FOUND)
    expect((await server.admin.delete(`/authentication-tokens/${tokenId}`)).status).toBe(204)
  })

  test('an organization has one token and, apart, one for audit trails', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const path = `/organizations/${organization.name}/authentication-token`
    expect((await client.get(path)).text).toBe(NOT_FOUND)
    expect((await client.delete(path)).text).toBe(NOT_FOUND)
    const first = await client.post(path)
    expect(first.status).toBe(201)
    expect(first.json.data.attributes.token).toMatch(/^purser_org_/)
    expect(first.json.data.relationships['created-by'].data.id).toBe(organization.owner.id)
    const audit = await client.post(`${path}?token=audit-trails`)
    expect(audit.status).toBe(201)
    const second = await client.post(path)
    const old = server.client(first.json.data.attributes.token)
    expect((await old.get('/account/details')).text).toBe(UNAUTHORIZED)
    const shown = await client.get(path)
    expect(shown.json.data.id).toBe(second.json.data.id)
    expect(shown.json.data.attributes.token).toBeNull()
    expect((await client.get(`${path}?token=audit-trails`)).json.data.id).toBe(audit.json.data.id)
    expect((await client.post(`${path}?token=other`)).status).toBe(400)

    const auditor = server.client(audit.json.data.attributes.token)
    for (const hidden of [
      `/organizations/${organization.name}`,
      '/organizations',
      '/account/details',
      path,
    ]) {
      expect((await auditor.get(hidden)).text).toBe(NOT_FOUND)
    }

    const own = server.client(second.json.data.attributes.token)
    const details = await own.get('/account/details')
    expect(details.json.data).toMatchObject({
      id: `api-org_${organization.id.slice(4)}`,
      attributes: { 'is-service-account': true, username: `api-org_${organization.id.slice(4)}` },
      relationships: {
        'authenticated-resource': { data: { id: organization.name, type: 'organizations' } },
      },
    })
    expect((await own.get('/organizations')).json.data).toHaveLength(1)
    expect((await own.get(`/organizations/${organization.name}/organization-memberships`)).status).toBe(200)
    expect((await own.get(`/users/${organization.owner.id}`)).status).toBe(200)
    for (const [method, hidden] of [
      ['GET', path],
      ['POST', path],
      ['DELETE', path],
      ['GET', `/authentication-tokens/${second.json.data.id}`],
      ['PATCH', `/organizations/${organization.name}`],
      ['DELETE', `/organizations/${organization.name}`],
      ['POST', '/organizations'],
      ['GET', `/users/${organization.owner.id}/authentication-tokens`],
    ] as const) {
      expect((await own.request(method, hidden)).text).toBe(NOT_FOUND)
    }
    expect((await client.delete(path)).status).toBe(204)
    expect((await own.get('/account/details')).text).toBe(UNAUTHORIZED)
    expect((await client.delete(`/authentication-tokens/${audit.json.data.id}`)).status).toBe(204)
    expect((await auditor.get('/organizations')).text).toBe(UNAUTHORIZED)
  })

  test('the tokens of a deleted organization are void at once', async () => {
    const organization = await createTestOrganization(server)
    const made = await organization.owner.client.post(
      `/organizations/${organization.name}/authentication-token`,
    )
    expect((await organization.owner.client.delete(`/organizations/${organization.name}`)).status).toBe(204)
    const own = server.client(made.json.data.attributes.token)
    expect((await own.get('/account/details')).text).toBe(UNAUTHORIZED)
  })
})
