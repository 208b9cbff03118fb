import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { NOT_FOUND, type Client, type Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  organizationBody,
  policiesBody,
  policiesPath,
  TWO_YEARS_MS,
} from './support/organization-tokens.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  type TestOrganization,
} from './support/world.ts'

const problemsOf = ({ json }: Response) =>
  json.errors.map((error: { detail: string; source: { pointer: string } }) => ({
    detail: error.detail,
    pointer: error.source.pointer,
  }))

const kindDetail = 'token-type must be "organization" or "team" or "user" or "audit_trails"'
const timeDetail =
  'max-ttl-ms must be a whole number from 60000 (a minute) to 3153600000000 (a hundred years)'
const typeDetail = 'type must be "organization-token-ttl-policies"'
const listPointer = '/data/attributes/token-ttl-policies'
const noList = { detail: 'token-ttl-policies must be a list of 1 to 100 policies', pointer: listPointer }

onEachEngine('token policies', (server) => {
  describe('of an organization', () => {
    const initial = {
      organization: TWO_YEARS_MS,
      team: TWO_YEARS_MS,
      user: TWO_YEARS_MS,
      audit_trails: TWO_YEARS_MS,
    }
    let organization: TestOrganization
    let client: Client
    let path: string
    beforeEach(async () => {
      organization = await createTestOrganization(server)
      client = organization.owner.client
      path = policiesPath(organization)
    })

    const timesByKind = async () => {
      const list = await client.get(path)
      expect(list.status).toBe(200)
      return Object.fromEntries(
        list.json.data.map(({ attributes }: { attributes: Record<string, unknown> }) => [
          attributes['token-type'],
          attributes['max-ttl-ms'],
        ]),
      )
    }

    test('are two years for each kind at first', async () => {
      expect(await timesByKind()).toEqual(initial)
    })

    test('are set by one resource with a list, and keep the other kinds', async () => {
      const changed = await client.patch(path, policiesBody({ team: DAY_MS, audit_trails: MINUTE_MS }))
      expect(changed.status).toBe(200)
      expect(changed.json.data).toHaveLength(4)
      expect(changed.json.data[1]).toEqual({
        id: `ttl-team-${organization.id.slice(4)}`,
        type: 'organization-token-ttl-policies',
        attributes: { 'token-type': 'team', 'max-ttl-ms': DAY_MS },
      })
      expect(await timesByKind()).toEqual({ ...initial, team: DAY_MS, audit_trails: MINUTE_MS })
    })

    test('are set by a list of resources, and keep the other kinds', async () => {
      await client.patch(path, policiesBody({ team: DAY_MS }))
      const attributes = { 'token-type': 'user', 'max-ttl-ms': 2 * DAY_MS }
      const data = [{ type: 'organization-token-ttl-policies', attributes }]
      expect((await client.patch(path, { data })).status).toBe(200)
      expect(await timesByKind()).toEqual({ ...initial, team: DAY_MS, user: 2 * DAY_MS })
    })

    test('are listed in pages', async () => {
      const page = await client.get(`${path}?page[size]=3&page[number]=2`)
      expect(page.json.data).toHaveLength(1)
      expect(page.json.meta.pagination['total-count']).toBe(4)
    })

    test('are 404 for plain members', async () => {
      const member = await addMember(server, organization)
      expect((await member.client.get(path)).text).toBe(NOT_FOUND)
      expect((await member.client.patch(path, '{')).text).toBe(NOT_FOUND)
    })

    test.for([
      { title: 'an empty list', sent: policiesBody({}), problems: [noList] },
      { title: 'no list', sent: body('organization-token-ttl-policies', {}), problems: [noList] },
      {
        title: 'another type',
        sent: body('teams', {}),
        problems: [{ detail: typeDetail, pointer: '/data/type' }, noList],
      },
      { title: 'no data', sent: {}, problems: [{ detail: typeDetail, pointer: '/data/type' }, noList] },
      {
        title: 'no resources',
        sent: { data: [] },
        problems: [{ detail: 'data must be a list of 1 to 100 policies', pointer: '/data' }],
      },
      {
        title: 'null as a resource',
        sent: { data: [null] },
        problems: [
          { detail: typeDetail, pointer: '/data/0/type' },
          { detail: kindDetail, pointer: '/data/0/attributes/token-type' },
          { detail: timeDetail, pointer: '/data/0/attributes/max-ttl-ms' },
        ],
      },
      {
        title: 'an unknown kind and wrong times',
        sent: policiesBody({ 'audit-trails': DAY_MS, team: 59_999, user: 1.5e7 + 0.5, organization: '1d' }),
        problems: [
          { detail: kindDetail, pointer: `${listPointer}/0/token-type` },
          { detail: timeDetail, pointer: `${listPointer}/1/max-ttl-ms` },
          { detail: timeDetail, pointer: `${listPointer}/2/max-ttl-ms` },
          { detail: timeDetail, pointer: `${listPointer}/3/max-ttl-ms` },
        ],
      },
    ])('are 422 with every problem of a request with $title', async ({ sent, problems }) => {
      const refused = await client.patch(path, sent)
      expect(refused.status).toBe(422)
      expect(problemsOf(refused)).toEqual(problems)
    })
  })

  describe('for new tokens', () => {
    const kinds = [
      { kind: 'team', maximumMs: DAY_MS, path: '/teams/TEAM/authentication-token' },
      { kind: 'team', maximumMs: DAY_MS, path: '/teams/TEAM/authentication-tokens' },
      { kind: 'organization', maximumMs: 2 * DAY_MS, path: '/organizations/NAME/authentication-token' },
      {
        kind: 'audit_trails',
        maximumMs: 3 * DAY_MS,
        path: '/organizations/NAME/authentication-token?token=audit-trails',
      },
    ]
    let organization: TestOrganization
    let owner: Client
    let team: string
    beforeAll(async () => {
      organization = await createTestOrganization(server)
      owner = organization.owner.client
      team = await createTeam(organization)
      const times = Object.fromEntries(kinds.map(({ kind, maximumMs }) => [kind, maximumMs]))
      const { name } = organization
      await owner.patch(`/organizations/${name}/token-ttl-policies`, policiesBody(times))
      await owner.patch(`/organizations/${name}`, organizationBody({ 'max-ttl-enabled': true }))
    })

    const filledIn = (path: string) => path.replace('TEAM', team).replace('NAME', organization.name)
    const expiringAfter = (milliseconds: number) =>
      body('', { 'expired-at': new Date(server.clock.now().getTime() + milliseconds).toISOString() })

    describe.for(kinds)('of $path', ({ path, maximumMs }) => {
      test('refuse a later expired-at', async () => {
        const refused = await owner.post(filledIn(path), expiringAfter(maximumMs + HOUR_MS))
        expect(refused.status).toBe(422)
        const reason = `the organization lets such tokens live ${maximumMs} ms`
        expect(problemsOf(refused)).toEqual([
          {
            detail: expect.stringMatching(
              new RegExp(`^expired-at must not be later than .*Z: ${reason}$`),
            ) as string,
            pointer: '/data/attributes/expired-at',
          },
        ])
      })

      test('accept an earlier expired-at', async () => {
        expect((await owner.post(filledIn(path), expiringAfter(maximumMs - HOUR_MS))).status).toBe(201)
      })

      test('give the latest expired-at if none is sent', async () => {
        const { attributes } = (await owner.post(filledIn(path))).json.data
        const livesMs = Date.parse(attributes['expired-at']) - Date.parse(attributes['created-at'])
        expect(livesMs).toBe(maximumMs)
      })
    })

    test('do not rule the tokens of users', async () => {
      const path = `/users/${organization.owner.id}/authentication-tokens`
      expect((await server.admin.post(path, expiringAfter(900 * DAY_MS))).status).toBe(201)
    })

    test('have no effect before max-ttl-enabled is set', async () => {
      const other = await createTestOrganization(server)
      const { client } = other.owner
      await client.patch(policiesPath(other), policiesBody({ team: DAY_MS }))
      const path = `/teams/${await createTeam(other)}/authentication-token`
      expect((await client.post(path, expiringAfter(30 * DAY_MS))).status).toBe(201)
    })
  })
})
