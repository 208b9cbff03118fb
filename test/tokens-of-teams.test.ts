import { expect, test } from 'vitest'
import type { Client, Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  uniqueName,
  type TestOrganization,
} from './support/world.ts'

const HOUR_MS = 3_600_000

onEachEngine('the team tokens of an organization', (server) => {
  const make = async (client: Client, team: string, attributes: object = {}) => {
    const made = await client.post(`/teams/${team}/authentication-tokens`, body('', attributes))
    expect(made.status).toBe(201)
    return made.json.data as { id: string; attributes: { token: string } }
  }
  const ids = ({ json }: Response): string[] => json.data.map(({ id }: { id: string }) => id)
  const path = ({ name }: TestOrganization) => `/organizations/${name}/team-tokens`
  const identifiers = (...tokenIds: string[]) => ({
    data: tokenIds.map((id) => ({ type: 'authentication-tokens', id })),
  })

  test('several described, expiring tokens stand beside the single one; any can be read and deleted alone', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const single = (await client.post(`/teams/${team}/authentication-token`)).json.data.id
    const build = await make(client, team, { description: 'build' })
    const deploy = await make(server.admin, team, {
      description: 'deploy',
      'expired-at': '2099-01-01T00:00:00Z',
    })
    const shown = await client.get(`/authentication-tokens/${deploy.id}`)
    expect(shown.json.data.attributes).toMatchObject({
      description: 'deploy',
      'expired-at': '2099-01-01T00:00:00.000Z',
      token: null,
    })
    expect(ids(await client.get(`/teams/${team}/authentication-tokens`))).toEqual([
      single,
      build.id,
      deploy.id,
    ])
    expect((await client.delete(`/authentication-tokens/${build.id}`)).status).toBe(204)
    expect((await client.get(`/teams/${team}/authentication-token`)).json.data.id).toBe(single)
    expect((await server.client(deploy.attributes.token).get(`/teams/${team}`)).status).toBe(200)
  })

  test('q, sort, expiry and pages', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const late = '2099-01-01T00:00:00Z'
    const ofOwner = `/users/${owner.id}/authentication-tokens`
    const client = server.client(
      (await server.admin.post(ofOwner, body('', { 'expired-at': late }))).json.data.attributes.token,
    )
    const alpha = await createTeam(organization, { name: uniqueName('alpha') })
    const beta = await createTeam(organization, { name: uniqueName('Beta_x') })
    const member = await addMember(server, organization, [beta])
    const soon = new Date(server.clock.now().getTime() + HOUR_MS).toISOString()
    const first = await make(client, beta, { 'expired-at': late })
    server.clock.advance(10)
    const second = await make(member.client, beta, { 'expired-at': soon })
    server.clock.advance(10)
    const third = await make(client, alpha)
    const organizationToken = await client.post(`/organizations/${name}/authentication-token`)
    server.clock.advance(10)
    const fourth = await make(server.client(organizationToken.json.data.attributes.token), alpha)
    await server.client(third.attributes.token).get('/account/details')
    await server.app.deps.lastUsed.flush()
    const list = async (query: string) => ids(await client.get(`${path(organization)}?${query}`))
    const all = [first.id, second.id, third.id, fourth.id]
    expect(await list('')).toEqual(all)
    expect(await list('sort=created-at')).toEqual(all)
    expect(await list('sort=-created-at')).toEqual(all.toReversed())
    // Sorted by bytes: upper case comes before lower case.
    expect(await list('sort=team-name')).toEqual([first.id, second.id, third.id, fourth.id])
    expect(await list('sort=-team-name')).toEqual([third.id, fourth.id, first.id, second.id])
    expect(await list('sort=expired-at')).toEqual([second.id, third.id, fourth.id, first.id])
    expect(await list('sort=-expired-at')).toEqual([first.id, fourth.id, third.id, second.id])
    expect((await list('sort=last-used-at')).at(-1)).toBe(third.id)
    expect((await list('sort=-last-used-at'))[0]).toBe(third.id)
    // The names sort as member-… < organization-… < owner-…
    expect(await list('sort=created-by')).toEqual([second.id, fourth.id, first.id, third.id])
    expect(await list('sort=-created-by')).toEqual([first.id, third.id, fourth.id, second.id])
    expect(await list('q=bETA_')).toEqual([first.id, second.id])
    expect(await list('q=%25')).toEqual([])
    expect(await list('filter[expiry_status]=active')).toEqual(all)
    expect(await list('filter[expiry_status]=expired')).toEqual([])
    server.clock.advance(HOUR_MS + 1)
    expect(await list('filter[expiry_status]=active')).toEqual([first.id, third.id, fourth.id])
    expect(await list('filter[expiry_status]=expired&q=beta')).toEqual([second.id])
    const page = await client.get(`${path(organization)}?sort=-created-at&page[size]=3&page[number]=2`)
    expect(ids(page)).toEqual([first.id])
    expect(page.json.meta.pagination['total-count']).toBe(4)
    expect(page.json.links.prev).toContain('sort=-created-at')
    for (const query of ['sort=name', 'sort=--created-at', 'filter[expiry_status]=soon', 'page[size]=0']) {
      expect((await client.get(`${path(organization)}?${query}`)).status).toBe(400)
    }
    const both = await client.get(`${path(organization)}?sort=x&filter[expiry_status]=y`)
    expect(both.json.errors).toHaveLength(2)
  })

  test('a member’s list and its order say nothing of hidden teams and their tokens', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const own = await createTeam(organization, { name: uniqueName('own') })
    const hidden = await createTeam(organization, { name: uniqueName('hidden') })
    const member = await addMember(server, organization, [own])
    const plain = await addMember(server, organization)
    await make(owner.client, hidden)
    const [{ id: owners }] = (await owner.client.get(`/organizations/${name}/teams?filter[names]=owners`))
      .json.data
    const ownersToken = await make(owner.client, owners)
    const byOwners = await make(server.client(ownersToken.attributes.token), own)
    const byOrganization = await make(
      server.client(
        (await owner.client.post(`/organizations/${name}/authentication-token`)).json.data.attributes.token,
      ),
      own,
    )
    const mine = await make(member.client, own)
    // The member may not see the owners' team, so its tokens have no creator and come first.
    const sorted = await member.client.get(`${path(organization)}?sort=created-by`)
    expect(ids(sorted)).toEqual([byOwners.id, mine.id, byOrganization.id])
    expect(sorted.json.meta.pagination['total-count']).toBe(3)
    const asOwner = await owner.client.get(`${path(organization)}?sort=created-by&q=own`)
    expect(ids(asOwner).indexOf(mine.id)).toBeLessThan(ids(asOwner).indexOf(byOwners.id))
    const searched = await member.client.get(`${path(organization)}?q=hidden`)
    expect(searched.json.data).toEqual([])
    expect(searched.json.meta.pagination['total-count']).toBe(0)
    expect((await plain.client.get(path(organization))).json.data).toEqual([])
    expect((await server.client(mine.attributes.token).get(path(organization))).json.data).toEqual([])
  })

  test('the organization’s token names the team whose token made it, wherever an owner reads it', async () => {
    const { owner, name } = await createTestOrganization(server)
    const teams = await owner.client.get(`/organizations/${name}/teams?filter[names]=owners`)
    const owners = { id: teams.json.data[0].id, type: 'teams' }
    const ownersToken = await make(owner.client, owners.id)
    const place = `/organizations/${name}/authentication-token`
    const made = await server.client(ownersToken.attributes.token).post(place)
    const read = await owner.client.get(place)
    const shown = await owner.client.get(`/authentication-tokens/${made.json.data.id}`)
    for (const { json } of [made, read, shown]) {
      expect(json.data.relationships['created-by']).toEqual({ data: owners })
    }
  })

  test('many are deleted at once: all that are named, or none', async () => {
    const organization = await createTestOrganization(server)
    const other = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const secret = await createTeam(organization)
    const member = await addMember(server, organization, [team])
    const tokens = [await make(client, team), await make(client, team), await make(client, secret)] as const
    const foreign = await make(other.owner.client, await createTeam(other))
    const organizationToken = (await client.post(`/organizations/${organization.name}/authentication-token`))
      .json.data.id
    const list = () => client.get(path(organization))
    const detail = 'id does not name a team token that the caller may delete here'
    for (const bad of [foreign.id, organizationToken, 'at-1111111111111111', 'at-\u0000', 'x']) {
      const refused = await client.delete(path(organization), identifiers(tokens[0].id, bad))
      expect(refused.status).toBe(422)
      expect(refused.json.errors).toEqual([
        { status: '422', title: 'invalid attribute', detail, source: { pointer: '/data/1/id' } },
      ])
    }
    // A token of a team that the member cannot see counts as missing.
    const hidden = await member.client.delete(path(organization), identifiers(tokens[2].id))
    const missing = await member.client.delete(path(organization), identifiers('at-1111111111111111'))
    expect([hidden.status, hidden.text]).toEqual([422, missing.text])
    expect(ids(await list())).toHaveLength(3)
    for (const body of [{}, { data: {} }, { data: [{ type: 'teams', id: tokens[0].id }] }, '{']) {
      expect((await client.delete(path(organization), body)).status).toBe(422)
    }
    const many = Array.from({ length: 501 }, () => tokens[0].id)
    const tooMany = await client.delete(path(organization), identifiers(...many))
    expect(tooMany.json.errors[0].detail).toBe('data may hold at most 500 items')
    expect((await other.owner.client.delete(path(organization), identifiers(tokens[0].id))).status).toBe(404)
    const { name } = organization
    expect((await client.delete(`/organizations/${name}/team-tokens`, { data: [] })).status).toBe(204)
    expect(ids(await list())).toHaveLength(3)

    expect((await member.client.delete(path(organization), identifiers(tokens[0].id))).status).toBe(204)
    const first = server.client(tokens[0].attributes.token)
    expect((await first.get('/account/details')).status).toBe(401)
    const rest = identifiers(tokens[1].id, tokens[2].id, tokens[1].id)
    expect((await client.delete(path(organization), rest)).status).toBe(204)
    expect(ids(await list())).toEqual([])
    // The service account of a team is deleted with its last token.
    for (const id of [team, secret]) {
      const shown = await client.get(`/teams/${id}?include=users`)
      expect(shown.text).not.toContain('api-team_')
    }
    const events = await server.app.deps.database.read(({ db }) =>
      db
        .selectFrom('audit_events')
        .where('organization_id', '=', organization.id)
        .where('action', '=', 'team-token.delete')
        .selectAll()
        .execute(),
    )
    expect(events.map((event) => event.resource_id).toSorted()).toEqual(tokens.map(({ id }) => id).toSorted())
  })
})
