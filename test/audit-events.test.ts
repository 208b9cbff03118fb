import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { MAX_LISTED_EVENTS } from '../src/audit/audit-event-store.ts'
import { NOT_FOUND, type Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  body,
  createProject,
  createTeam,
  createTestOrganization,
  grantProject,
  type TestOrganization,
} from './support/world.ts'

type Event = {
  id: string
  attributes: {
    'created-at': string
    action: string
    actor: { kind: string; id: string | null; name: string | null; 'token-id': string | null }
    resource: { type: string; id: string }
    'request-id': string | null
    details: Record<string, unknown> | null
    position: number
    mac: string
  }
}

onEachEngine('audit events', (server) => {
  const pathOf = ({ name }: TestOrganization) => `/organizations/${name}/audit-events`
  const read = async (client: Client, path: string): Promise<Event[]> => {
    const answer = await client.get(path)
    expect(answer.status, answer.text).toBe(200)
    return answer.json.data
  }
  const actionsOf = (events: readonly Event[]) => events.map(({ attributes }) => attributes.action)

  test('a member of a body that Purser does not know is not in the trail either', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const unknown = { 'from-a-newer-client': 'secret-of-nobody', padding: 'x'.repeat(100_000) }
    const attributes = { 'organization-access': { 'manage-workspaces': true, ...unknown }, ...unknown }
    const team = await createTeam(organization, attributes)
    await client.patch(`/teams/${team}`, body('teams', attributes))
    const project = await createProject(organization)
    const grant = await grantProject(organization, team, project, {
      access: 'custom',
      'workspace-access': { runs: 'read', ...unknown },
      'project-access': { settings: 'read', ...unknown },
    })
    await client.patch(
      `/team-projects/${grant}`,
      body('team-projects', { 'project-access': { settings: 'update', ...unknown } }),
    )
    const { text } = await client.get(`/organizations/${organization.name}/audit-events`)
    expect(text).toContain('manage-workspaces')
    expect(text).not.toContain('secret-of-nobody')
    expect(text.length).toBeLessThan(100_000)
  })

  test('say who did what to what, newest first, and to owners and site administrators alone', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const created = await owner.client.post(
      `/organizations/${organization.name}/teams`,
      body('teams', { name: 'alpha' }),
    )
    const team = created.json.data.id as string
    const member = await addMember(server, organization, [team])
    const events = await read(owner.client, pathOf(organization))
    expect(actionsOf(events)).toEqual([
      'membership.accept',
      'membership.invite',
      'team.create',
      'organization.create',
    ])
    expect(events[2]).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      type: 'audit-events',
      attributes: {
        'created-at': expect.stringMatching(/^20.*Z$/),
        action: 'team.create',
        actor: {
          kind: 'user',
          id: owner.id,
          name: owner.username,
          'token-id': expect.stringMatching(/^at-/),
        },
        resource: { type: 'teams', id: team },
        address: '127.0.0.1',
        'request-id': created.headers.get('x-request-id'),
        details: expect.objectContaining({ name: 'alpha' }),
        position: 2,
        mac: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
      relationships: { organization: { data: { id: organization.name, type: 'organizations' } } },
    })
    expect(await read(server.admin, pathOf(organization))).toEqual(events)
    const token = await owner.client.post(`/organizations/${organization.name}/authentication-token`)
    const other = await createTestOrganization(server)
    for (const client of [
      member.client,
      other.owner.client,
      server.client(token.json.data.attributes.token),
    ]) {
      expect((await client.get(pathOf(organization))).text).toBe(NOT_FOUND)
    }
  })

  test('are found by actor, action, resource, request and time, page by page', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const [first] = [await createTeam(organization, { name: 'first' }), await createTeam(organization)]
    // Otherwise the last event could be from exactly the requested millisecond.
    server.clock.advance(1000)
    const start = server.clock.now().toISOString()
    server.clock.advance(60_000)
    const answer = await server.admin.delete(`/teams/${first}`)
    const find = async (query: string) =>
      actionsOf(await read(owner.client, `${pathOf(organization)}?${query}`))
    expect(await find(`filter[actor]=${owner.id}`)).toEqual([
      'team.create',
      'team.create',
      'organization.create',
    ])
    expect(await find('filter[actor]=admin')).toEqual(['team.delete'])
    expect(await find(`filter[actor]=${owner.username}&filter[action]=team.create`)).toHaveLength(2)
    expect(await find('filter[action]=team.create')).toHaveLength(2)
    expect(await find('filter[resource-type]=organizations')).toEqual(['organization.create'])
    expect(await find(`filter[resource-id]=${first}`)).toEqual(['team.delete', 'team.create'])
    expect(await find(`filter[request-id]=${answer.headers.get('x-request-id')}`)).toEqual(['team.delete'])
    expect(await find('filter[request-id]=other')).toEqual([])
    expect(await find(`filter[since]=${start}`)).toEqual(['team.delete'])
    expect(await find(`filter[until]=${start}`)).toHaveLength(3)
    expect(await find(`filter[since]=${encodeURIComponent(start.replace('Z', '+00:00'))}`)).toHaveLength(1)
    const [newest] = await read(owner.client, pathOf(organization))
    const newestAt = newest?.attributes['created-at']
    expect(await find(`filter[since]=${newestAt}&filter[until]=${newestAt}`)).toEqual(['team.delete'])

    const page = await owner.client.get(
      `${pathOf(organization)}?filter[action]=team.create&page[size]=1&page[number]=2`,
    )
    expect(page.json.meta.pagination).toEqual({
      'current-page': 2,
      'page-size': 1,
      'prev-page': 1,
      'next-page': null,
      'total-pages': 2,
      'total-count': 2,
    })
    expect(page.json.data[0].attributes.resource.id).toBe(first)
    expect(page.json.links.prev).toContain('filter%5Baction%5D=team.create&page%5Bnumber%5D=1')
    expect(await find('page[number]=1000')).toEqual([])
    for (const wrong of ['filter[since]=yesterday', 'filter[until]=2030-02-30T00:00:00Z', 'page[size]=0']) {
      const refused = await owner.client.get(`${pathOf(organization)}?${wrong}`)
      expect(refused.status).toBe(400)
      expect(refused.json.errors[0].source.parameter).toBe(wrong.split('=')[0])
    }
  })

  test('hold no value and no token, and no details that are too long for a list', async () => {
    const organization = await createTestOrganization(server)
    const made = await organization.owner.client.post(
      `/organizations/${organization.name}/authentication-token`,
    )
    const answer = await organization.owner.client.get(pathOf(organization))
    expect(answer.json.data[0].attributes.details).toMatchObject({ organization: organization.name })
    expect(answer.text).not.toContain(made.json.data.attributes.token)
    const { database } = server.app.deps
    const details = JSON.stringify({ outputs: ['x'.repeat(20_000)], 'command-line-user': 'root' })
    await database.write((tx) =>
      tx.db
        .updateTable('audit_events')
        .set({ details })
        .where('action', '=', 'organization-token.create')
        .execute(),
    )
    const long = await organization.owner.client.get(pathOf(organization))
    expect(long.json.data[0].attributes.details).toBeNull()
    await database.write((tx) =>
      tx.db
        .updateTable('audit_events')
        .set({ details: '{"a":1,"command-line-user":"root"}' })
        .where('action', '=', 'organization-token.create')
        .execute(),
    )
    expect((await read(organization.owner.client, pathOf(organization)))[0]?.attributes.details).toEqual({
      a: 1,
    })
  })

  test('are listed though one of them was tampered with', async () => {
    const organization = await createTestOrganization(server)
    const team = await createTeam(organization)
    for (const details of ['{', '[]', '7', 'null', '']) {
      await server.app.deps.database.write((tx) =>
        tx.db.updateTable('audit_events').set({ details }).where('resource_id', '=', team).execute(),
      )
      const [event, ...others] = await read(organization.owner.client, pathOf(organization))
      expect(event?.attributes.details, details).toBeNull()
      expect(others).toHaveLength(1)
    }
  })

  test('of one organization never go back in time, even if a clock does', async () => {
    const organization = await createTestOrganization(server)
    await createTeam(organization)
    server.clock.advance(-30_000)
    await createTeam(organization)
    server.clock.advance(30_000)
    const times = (await read(organization.owner.client, pathOf(organization))).map(
      ({ attributes }) => attributes['created-at'],
    )
    expect(times[0]).toBe(times[1])
    // A clock that was wrong by more than that does not hold up later events.
    server.clock.advance(3_600_000)
    await createTeam(organization)
    server.clock.advance(-3_600_000)
    await createTeam(organization)
    const [wrong, newest] = await read(organization.owner.client, pathOf(organization))
    expect([newest?.attributes.position, wrong?.attributes.position]).toEqual([5, 4])
  })

  test('reach a bounded way back, with and without a filter', async () => {
    const organization = await createTestOrganization(server)
    const { database } = server.app.deps
    const count = MAX_LISTED_EVENTS + 50
    await database.write(async (tx) => {
      const sample = await tx.db
        .selectFrom('audit_events')
        .where('organization_id', '=', organization.id)
        .selectAll()
        .executeTakeFirstOrThrow()
      const { number: top } = await tx.db
        .selectFrom('audit_events')
        .select((eb) => eb.fn.max('number').as('number'))
        .executeTakeFirstOrThrow()
      for (let from = 0; from < count; from += 1_000) {
        const rows = Array.from({ length: Math.min(1_000, count - from) }, (_, place) => ({
          ...sample,
          number: top + 1 + from + place,
          position: 2 + from + place,
          action: from === 0 && place === 0 ? 'the.first' : 'some.act',
          mac: randomBytes(16),
        }))
        await tx.db.insertInto('audit_events').values(rows).execute()
      }
      await tx.db
        .updateTable('audit_chains')
        .set({ position: count + 1 })
        .where('organization_id', '=', organization.id)
        .execute()
    })
    const total = async (query: string) =>
      (await organization.owner.client.get(`${pathOf(organization)}?${query}`)).json.meta.pagination[
        'total-count'
      ]
    expect(await total('')).toBe(MAX_LISTED_EVENTS)
    expect(await total('filter[action]=some.act')).toBe(MAX_LISTED_EVENTS)
    expect(await total('filter[action]=the.first')).toBe(0)
    const last = await organization.owner.client.get(
      `${pathOf(organization)}?page[size]=100&page[number]=1000`,
    )
    expect(last.json.data).toHaveLength(100)
    expect(
      (await organization.owner.client.get(`${pathOf(organization)}?page[number]=100000`)).json.data,
    ).toEqual([])
  }, 120_000)
})

onEachEngine('the audit trail for tools', (server) => {
  const auditorOf = async ({ name, owner }: TestOrganization) => {
    const made = await owner.client.post(`/organizations/${name}/authentication-token?token=audit-trails`)
    expect(made.status).toBe(201)
    return server.client(made.json.data.attributes.token)
  }

  test('is read with a token whose kind is given: an empty one must not make the stronger kind', async () => {
    const { name, owner } = await createTestOrganization(server)
    const made = await owner.client.post(`/organizations/${name}/authentication-token?token=`)
    expect([made.status, made.json.errors[0].source.parameter]).toEqual([400, 'token'])
  })

  test("is the platform's document, of the token's organization alone", async () => {
    const organization = await createTestOrganization(server)
    await createTestOrganization(server)
    const auditor = await auditorOf(organization)
    const answer = await auditor.get('/organization/audit-trail')
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const [newest, oldest] = answer.json.data
    expect(newest).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      version: '0',
      type: 'Resource',
      timestamp: expect.stringMatching(/^20.*\.\d{3}Z$/),
      auth: {
        accessor_id: organization.owner.id,
        description: organization.owner.username,
        type: 'Client',
        impersonator_id: null,
        organization_id: organization.id,
      },
      request: { id: expect.any(String) },
      resource: {
        id: expect.stringMatching(/^at-/),
        type: 'authentication_token',
        action: 'create',
        meta: expect.objectContaining({ event: 'audit-trails-token.create' }),
      },
    })
    expect(oldest.resource).toMatchObject({ type: 'organization', action: 'create', id: organization.id })
    expect(answer.json.pagination).toEqual({
      current_page: 1,
      prev_page: null,
      next_page: null,
      total_pages: 1,
      total_count: 2,
    })
    const events = await organization.owner.client.get(`/organizations/${organization.name}/audit-events`)
    expect(events.json.data.map(({ id }: Event) => id)).toEqual(answer.json.data.map(({ id }: Event) => id))
  })

  test('asked from the time of its newest event on, misses nothing', async () => {
    const organization = await createTestOrganization(server)
    const auditor = await auditorOf(organization)
    const poll = async (since: string) =>
      (await auditor.get(`/organization/audit-trail?since=${since}`)).json.data as {
        id: string
        timestamp: string
      }[]
    const before = await poll('2020-01-01T00:00:00.000Z')
    await createTeam(organization)
    const seen = new Set(before.map(({ id }) => id))
    const since = before[0]?.timestamp as string
    const fresh = (await poll(since)).filter(({ id }) => !seen.has(id))
    expect(fresh).toHaveLength(1)
    expect((await auditor.get('/organization/audit-trail?since=now')).status).toBe(400)
    expect((await auditor.get('/organization/audit-trail?page[number]=x')).status).toBe(400)
    const page = await auditor.get('/organization/audit-trail?page[size]=2&page[number]=2')
    expect(page.json.data).toHaveLength(1)
    expect(page.json.pagination).toMatchObject({
      current_page: 2,
      prev_page: 1,
      total_pages: 2,
      total_count: 3,
    })
  })

  test('is for audit-trails tokens alone, and they are for nothing else', async () => {
    const organization = await createTestOrganization(server)
    const auditor = await auditorOf(organization)
    const path = `/organizations/${organization.name}/authentication-token`
    const own = await organization.owner.client.post(path)
    for (const client of [
      organization.owner.client,
      server.admin,
      server.client(own.json.data.attributes.token),
    ]) {
      expect((await client.get('/organization/audit-trail')).text).toBe(NOT_FOUND)
    }
    expect((await server.client().get('/organization/audit-trail')).status).toBe(401)
    for (const hidden of [
      '/organizations',
      '/account/details',
      '/organization-memberships',
      `/organizations/${organization.name}`,
      `/organizations/${organization.name}/audit-events`,
      `/organizations/${organization.name}/teams`,
      path,
    ]) {
      expect((await auditor.get(hidden)).text).toBe(NOT_FOUND)
    }
    const made = { name: 'by-auditor', email: 'a@example.com' }
    expect((await auditor.post('/organizations', body('organizations', made))).text).toBe(NOT_FOUND)
    expect((await auditor.get('/organization/audit-trail')).status).toBe(200)
    // A new token replaces the old one. A deleted token is invalid.
    const next = await auditorOf(organization)
    expect((await auditor.get('/organization/audit-trail')).status).toBe(401)
    expect((await organization.owner.client.delete(`${path}?token=audit-trails`)).status).toBe(204)
    expect((await next.get('/organization/audit-trail')).status).toBe(401)
    expect((await organization.owner.client.get(path)).status).toBe(200)
  })
})
