import { readConfig } from '../src/config.ts'
import { systemClock } from '../src/core/clock.ts'
import { examine } from '../src/operation/doctor.ts'
import { NOT_FOUND, type Client } from './support/client.ts'
import { expect, onTestFinished, test } from 'vitest'
import { onEachEngine } from './support/on-each-engine.ts'
import { settingsOf } from './support/purser.ts'
import { startNode } from './support/server.ts'
import {
  addMember,
  body,
  createTestOrganization,
  createUser,
  invitePerson,
  uniqueName,
} from './support/world.ts'

onEachEngine(
  'organizations that only administrators create',
  { organizationCreators: 'administrators' },
  (server) => {
    const attributes = () => body('organizations', { name: uniqueName('made'), email: 'a@example.com' })

    test('are missing for everybody else, and permissions say so before', async () => {
      const user = await createUser(server)
      const refused = await user.client.post('/organizations', attributes())
      expect([refused.status, refused.text]).toEqual([404, NOT_FOUND])
      expect((await user.client.post('/organizations', '{')).text).toBe(NOT_FOUND)
      const mayCreate = async (client: Client) => {
        const { permissions } = (await client.get('/account/details')).json.data.attributes
        return [permissions['can-create-organization'], permissions['can-create-organizations']]
      }
      expect(await mayCreate(user.client)).toEqual([false, false])
      expect(await mayCreate(server.admin)).toEqual([true, true])
      const made = await server.admin.post('/organizations', attributes())
      expect(made.status).toBe(201)
      await server.app.deps.refusals.flush()
      const refusals = await server.admin.get('/admin/refusals')
      expect(refusals.text).toContain('organizations:administer')
    })

    test('an owner of one creates no other, not by the token of owners either', async () => {
      const user = await createUser(server)
      const name = uniqueName('made')
      const made = await server.admin.post(
        '/organizations',
        body('organizations', { name, email: 'a@example.com' }),
      )
      expect(made.status).toBe(201)
      const [owners] = (await server.admin.get(`/organizations/${name}/teams`)).json.data
      const invited = { data: [{ type: 'teams', id: owners.id }] }
      const membership = await server.admin.post(
        `/organizations/${name}/organization-memberships`,
        body('organization-memberships', { email: user.email }, { teams: invited }),
      )
      const accept = `/organization-memberships/${membership.json.data.id}/actions/accept`
      expect((await user.client.post(accept)).status).toBe(200)
      const token = await server.admin.post(`/teams/${owners.id}/authentication-token`)
      for (const client of [user.client, server.client(token.json.data.attributes.token)]) {
        expect((await client.post('/organizations', attributes())).text).toBe(NOT_FOUND)
      }
    })
  },
)

onEachEngine('organizations', { maxOrganizations: '3' }, (server) => {
  const organization = (attributes: object) => body('organizations', attributes)
  const names = (json: { data: { attributes: { name: string } }[] }) =>
    json.data.map(({ attributes }) => attributes.name)

  test('the default project is included for who may read it', async () => {
    const { name, owner, ...made } = await createTestOrganization(server)
    const member = await addMember(server, { name, owner, ...made })
    for (const include of ['default-project', 'default_project']) {
      const shown = (await owner.client.get(`/organizations/${name}?include=${include}`)).json
      const project = shown.data.relationships['default-project'].data
      expect(shown.included).toEqual([(await owner.client.get(`/projects/${project.id}`)).json.data])
      const seen = await member.client.get(`/organizations/${name}?include=${include}`)
      expect(seen.json.included).toEqual([])
    }
    const none = await owner.client.get(`/organizations/${name}?include=subscription`)
    expect([none.status, none.json.included]).toEqual([200, []])
    const unknown = await owner.client.get(`/organizations/${name}?include=teams`)
    expect([unknown.status, unknown.json.errors[0].title]).toEqual([400, 'Invalid include parameter'])
  })

  test('whoever makes one owns it, and it has a team owners and a default project', async () => {
    const user = await createUser(server)
    const name = uniqueName('organization')
    const made = await user.client.post(
      '/organizations',
      organization({ name, email: 'a@example.com', 'session-timeout': 30, unknown: 'ignored' }),
    )
    expect(made.status).toBe(201)
    const { data } = made.json
    expect(data).toMatchObject({ id: name, type: 'organizations' })
    expect(data.attributes).toMatchObject({
      name,
      email: 'a@example.com',
      'session-timeout': 30,
      'session-remember': null,
      'collaborator-auth-policy': 'password',
      'default-execution-mode': 'local',
      'delegated-team-management': false,
      'user-tokens-enabled': true,
      'saml-enabled': false,
      'trial-expires-at': null,
    })
    expect(data.attributes['external-id']).toMatch(/^org-[1-9A-HJ-NP-Za-km-z]{16}$/)
    expect(data.attributes['created-at']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(data.attributes.permissions).toMatchObject({
      'can-update': true,
      'can-destroy': true,
      'can-create-team': true,
      'can-update-api-token': true,
      'can-update-oauth': false,
    })
    expect(data.attributes).not.toHaveProperty('unknown')
    expect(data.relationships['default-project'].data.id).toMatch(/^prj-/)
    const teams = await user.client.get(`/organizations/${name}/teams?include=users`)
    expect(names(teams.json)).toEqual(['owners'])
    expect(teams.json.included[0].attributes.username).toBe(user.username)
    expect((await user.client.get(`/organizations/${name}`)).json).toEqual(made.json)
  })

  test('a taken name is said with the other problems', async () => {
    const first = await createTestOrganization(server)
    const { name, owner } = await createTestOrganization(server)
    const expected = ['/data/attributes/email', '/data/attributes/name']
    const bad = { name: first.name, email: 'nobody' }
    for (const refused of [
      await owner.client.post('/organizations', organization(bad)),
      await owner.client.patch(`/organizations/${name}`, organization(bad)),
    ]) {
      expect(refused.status).toBe(422)
      expect(
        refused.json.errors.map((error: { source: { pointer: string } }) => error.source.pointer).toSorted(),
      ).toEqual(expected)
    }
    const own = await owner.client.patch(`/organizations/${name}`, organization({ ...bad, name }))
    expect(own.json.errors).toHaveLength(1)
  })

  test('every problem of a body is said at its place', async () => {
    const user = await createUser(server)
    const refused = await user.client.post(
      '/organizations',
      organization({
        name: 'a b',
        'session-remember': 0,
        'user-tokens-enabled': 'no',
        'collaborator-auth-policy': 'two_factor_mandatory',
        'default-execution-mode': 'moon',
        'stacks-enabled': 'yes',
      }),
    )
    expect(refused.status).toBe(422)
    expect(refused.json.errors.map((error: never) => [error['source']['pointer'], error['detail']])).toEqual([
      ['/data/attributes/name', 'name must be 1 to 90 letters, numbers, - and _'],
      ['/data/attributes/email', 'email is missing'],
      ['/data/attributes/user-tokens-enabled', 'user-tokens-enabled must be true or false'],
      [
        '/data/attributes/collaborator-auth-policy',
        'collaborator-auth-policy must be "password": this server does not enforce another value',
      ],
      [
        '/data/attributes/default-execution-mode',
        'default-execution-mode must be "remote" or "local" or "agent"',
      ],
      ['/data/attributes/session-remember', 'session-remember must be a whole number of minutes, or null'],
      ['/data/attributes/stacks-enabled', expect.stringContaining('stacks-enabled')],
    ])
    for (const email of ['', 'nobody', 'a@b@c', 'a @b', 'a\u0000@b', 5, null]) {
      const answer = await user.client.post('/organizations', organization({ name: 'x', email }))
      expect(answer.status).toBe(422)
      expect(answer.json.errors[0].detail).toBe('email must be an email address')
    }
  })

  test('a name is taken once, in any case', async () => {
    const first = await createTestOrganization(server)
    const other = await createTestOrganization(server)
    const taken = await other.owner.client.post(
      '/organizations',
      organization({ name: first.name, email: 'a@example.com' }),
    )
    expect(taken.status).toBe(422)
    expect(taken.json.errors).toEqual([
      {
        status: '422',
        title: 'invalid attribute',
        detail: 'name is already used by another organization',
        source: { pointer: '/data/attributes/name' },
      },
    ])
    const renamed = await other.owner.client.patch(
      `/organizations/${other.name}`,
      organization({ name: first.name }),
    )
    expect(renamed.status).toBe(422)
    expect(renamed.json).toEqual(taken.json)
    const upper = await other.owner.client.post(
      '/organizations',
      organization({ name: first.name.toUpperCase(), email: 'a@example.com' }),
    )
    expect(upper.status).toBe(422)
    expect(upper.json.errors).toEqual([
      {
        status: '422',
        title: 'invalid attribute',
        detail: 'name differs from that of another organization only by upper and lower case',
        source: { pointer: '/data/attributes/name' },
      },
    ])
    const changed = organization({ name: first.name.toUpperCase() })
    const path = `/organizations/${other.name}`
    expect((await other.owner.client.patch(path, changed)).json).toEqual(upper.json)
    const own = organization({ name: other.name.toUpperCase() })
    expect((await other.owner.client.patch(path, own)).status).toBe(200)
  })

  test('of two creates at once with names that differ by case, one is accepted', async () => {
    const node = await startNode(server)
    onTestFinished(node.stop)
    const users = await Promise.all([1, 2, 3, 4].map(() => createUser(server)))
    const name = uniqueName('twice')
    const spelled = [name, name.toUpperCase(), name.replace('t', 'T'), name.replace('w', 'W')]
    const answers = await Promise.all(
      users.map(({ client }, at) => {
        const { client: clientOf } = at % 2 === 0 ? server : node
        const attributes = { name: spelled[at], email: 'a@example.com' }
        return clientOf(client.token).post('/organizations', organization(attributes))
      }),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422, 422, 422])
  })

  test('an organization from before this rule keeps its name', async () => {
    const first = await createTestOrganization(server)
    const other = await createTestOrganization(server)
    const name = first.name.toUpperCase()
    await server.app.deps.database.write((tx) =>
      tx.db.updateTable('organizations').set({ name }).where('id', '=', other.id).execute(),
    )
    const kept = await other.owner.client.patch(
      `/organizations/${name}`,
      organization({ name, email: 'new@example.com' }),
    )
    expect(kept.status).toBe(200)
    const third = organization({ name: name.replace('O', 'o') })
    expect((await other.owner.client.patch(`/organizations/${name}`, third)).status).toBe(422)
    const findings = await examine(readConfig({}, settingsOf(server)), {}, systemClock)
    const detail = `the names of the organizations ${name} and ${first.name} differ only by case: rename one`
    expect(findings).toContainEqual({ check: 'names', result: 'note', detail })
  })

  test('one user is in so many organizations and makes no more', async () => {
    const user = await createUser(server)
    const make = () =>
      user.client.post(
        '/organizations',
        organization({ name: uniqueName('organization'), email: 'a@example.com' }),
      )
    for (let count = 0; count < 3; count++) expect((await make()).status).toBe(201)
    const refused = await make()
    expect(refused.status).toBe(422)
    expect(refused.json.errors[0].detail).toContain('PURSER_MAX_ORGANIZATIONS')
  })

  test('lists: one’s own, without those one is only invited to; all for an administrator', async () => {
    const one = await createTestOrganization(server)
    const other = await createTestOrganization(server)
    const member = await addMember(server, one)
    await invitePerson(other, member)
    const outsider = await createUser(server)
    const own = await member.client.get('/organizations')
    expect(names(own.json)).toEqual([one.name])
    expect(own.json.meta.pagination).toEqual({
      'current-page': 1,
      'page-size': 1,
      'prev-page': null,
      'next-page': null,
      'total-pages': 1,
      'total-count': 1,
    })
    expect(own.json.links).toMatchObject({ self: '/api/v2/organizations', prev: null, next: null })
    expect((await outsider.client.get('/organizations')).json.data).toEqual([])
    const all = await server.admin.get('/organizations?page%5Bsize%5D=100')
    expect(names(all.json)).toEqual(expect.arrayContaining([one.name, other.name]))
    expect(names(all.json)).toEqual([...names(all.json)].sort())
  })

  test('lists are filtered by parts of name and email, and paged', async () => {
    const part = uniqueName('Part_')
    const user = await createUser(server)
    for (const [name, email] of [
      [`a${part}`, 'one@example.com'],
      [`b${part}`, `two+${part}@example.com`],
      [`c-${part.slice(1)}`, 'three@example.com'],
    ]) {
      expect((await user.client.post('/organizations', organization({ name, email }))).status).toBe(201)
    }
    const found = async (query: string) => names((await user.client.get(`/organizations?${query}`)).json)
    expect(await found(`q=${part.toLowerCase()}`)).toEqual([`a${part}`, `b${part}`])
    expect(await found(`q=TWO%2B`)).toEqual([`b${part}`])
    expect(await found(`q[name]=two`)).toEqual([])
    expect(await found(`q%5Bemail%5D=TWO`)).toEqual([`b${part}`])
    expect(await found('q=%25')).toEqual([])
    expect(await found('q=%00')).toEqual([])
    const page = await user.client.get(`/organizations?q=example&page[size]=2&page[number]=2`)
    expect(names(page.json)).toEqual([`c-${part.slice(1)}`])
    expect(page.json.meta.pagination).toMatchObject({
      'current-page': 2,
      'prev-page': 1,
      'next-page': null,
      'total-count': 3,
    })
    expect(page.json.links.prev).toBe('/api/v2/organizations?q=example&page%5Bnumber%5D=1&page%5Bsize%5D=2')
    expect((await user.client.get('/organizations?page[number]=0')).status).toBe(400)
  })

  test('a member reads it and its entitlements, and changes nothing; who is outside or only invited finds nothing', async () => {
    const own = await createTestOrganization(server)
    const member = await addMember(server, own)
    const invited = await createUser(server)
    await invitePerson(own, invited)
    const outsider = await createUser(server)
    const missing = uniqueName('missing')
    const path = `/organizations/${own.name}`
    expect((await member.client.get(path)).json.data.attributes.permissions).toMatchObject({
      'can-traverse': true,
      'can-update': false,
      'can-create-team': false,
      'can-view-users': false,
    })
    const entitlements = await member.client.get(`${path}/entitlement-set`)
    expect(entitlements.status).toBe(200)
    expect(entitlements.json.data.id).toBe(own.id)
    expect(entitlements.json.data.attributes).toMatchObject({
      operations: false,
      teams: true,
      'state-storage': true,
      sso: false,
    })
    const change = organization({ email: 'b@example.com' })
    expect((await member.client.patch(path, change)).text).toBe(NOT_FOUND)
    expect((await member.client.delete(path)).text).toBe(NOT_FOUND)
    for (const { client } of [invited, outsider]) {
      for (const hidden of [path, `/organizations/${missing}`, '/organizations/a%20b']) {
        expect((await client.get(hidden)).text).toBe(NOT_FOUND)
        expect((await client.get(`${hidden}/entitlement-set`)).text).toBe(NOT_FOUND)
        expect((await client.patch(hidden, '{')).text).toBe(NOT_FOUND)
        expect((await client.delete(hidden)).text).toBe(NOT_FOUND)
      }
    }
  })

  test('an update changes what it names, also the name', async () => {
    const own = await createTestOrganization(server, { 'session-timeout': 5 })
    const name = uniqueName('renamed')
    const listed = await own.owner.client.get(`/organizations/${own.name}/teams`)
    const changed = await own.owner.client.patch(`/organizations/${own.name}`, {
      data: {
        type: 'organizations',
        id: own.name,
        attributes: { name, 'delegated-team-management': true, 'assessments-enforced': true },
      },
    })
    expect(changed.status).toBe(200)
    expect(changed.json.data.id).toBe(name)
    expect(changed.json.data.attributes).toMatchObject({
      name,
      email: 'o@example.com',
      'external-id': own.id,
      'delegated-team-management': true,
      'assessments-enforced': true,
      'session-timeout': 5,
    })
    expect((await own.owner.client.get(`/organizations/${own.name}`)).text).toBe(NOT_FOUND)
    expect((await own.owner.client.get(`/organizations/${name}`)).json).toEqual(changed.json)
    const relisted = await own.owner.client.get(`/organizations/${name}/teams`)
    const renamed = listed.text.replaceAll(`"${own.name}"`, `"${name}"`)
    expect(relisted.json.data).toEqual(JSON.parse(renamed).data)
    expect(relisted.json.links.self).toContain(name)
    const wrongId = await own.owner.client.patch(`/organizations/${name}`, {
      data: { type: 'organizations', id: own.name, attributes: {} },
    })
    expect(wrongId.json.errors[0].source.pointer).toBe('/data/id')
    const cleared = await own.owner.client.patch(
      `/organizations/${name}`,
      organization({ 'session-timeout': null }),
    )
    expect(cleared.json.data.attributes['session-timeout']).toBeNull()
  })
})
