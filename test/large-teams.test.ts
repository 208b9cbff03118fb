import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client, Json } from './support/client.ts'
import { engines } from './support/engines.ts'
import { idOf } from './support/numbered-ids.ts'
import { countRows } from './support/rows-in-turn.ts'
import { startServer, type TestServer } from './support/server.ts'
import { createTestOrganization, uniqueName, type TestOrganization } from './support/world.ts'

const AT = '2026-01-01T00:00:00.000Z'
const PEOPLE = 1_200
const INVITED = 30
/** Each of these teams has all people as members, more than one answer contains at once. */
const LARGE_TEAMS = 8
/** The first person is in all of these teams, more than one turn reads. */
const SMALL_TEAMS = 2_300
const MAX_ROWS_IN_TURN = 6_500

const emptyTeam = {
  sso_team_id: null,
  visibility: 'organization',
  organization_access: 0,
  allow_member_token_management: 1,
  service_account_id: null,
  created_at: AT,
  updated_at: AT,
} as const

describe.each(engines)('teams with many members on %s', (engine) => {
  let server: TestServer
  let organization: TestOrganization
  let client: Client
  const people = Array.from({ length: PEOPLE }, (_, n) => ({
    user: `user-${idOf(n)}`,
    membership: `ou-${idOf(n)}`,
    isActive: n >= INVITED || n === 0,
  }))
  const teamIds = {
    large: Array.from({ length: LARGE_TEAMS }, (_, n) => `team-a${idOf(n).slice(1)}`),
    small: Array.from({ length: SMALL_TEAMS }, (_, n) => `team-b${idOf(n).slice(1)}`),
  }
  beforeAll(async () => {
    // No cache, so that every document is built again.
    server = await startServer(engine, { cacheBytes: '0', dialect: 'current' })
    organization = await createTestOrganization(server)
    ;({ client } = organization.owner)
    await server.app.deps.database.write(async ({ db }) => {
      const inSlices = async <Row>(
        rows: readonly Row[],
        insert: (some: readonly Row[]) => Promise<unknown>,
      ) => {
        for (let from = 0; from < rows.length; from += 500) await insert(rows.slice(from, from + 500))
      }
      const ofOrganization = { organization_id: organization.id }
      await inSlices(people, (some) =>
        db
          .insertInto('users')
          .values(
            some.map(({ user: id }) => ({
              id,
              username: id,
              username_key: id,
              email: `${id}@x.y`,
              email_key: `${id}@x.y`,
              password_hash: null,
              created_at: AT,
            })),
          )
          .execute(),
      )
      await inSlices(people, (some) =>
        db
          .insertInto('memberships')
          .values(
            some.map(({ user, membership: id, isActive }) => ({
              id,
              ...ofOrganization,
              user_id: user,
              status: isActive ? ('active' as const) : ('invited' as const),
              created_at: AT,
            })),
          )
          .execute(),
      )
      const team = (id: string, name: string, users_count: number) => ({
        ...emptyTeam,
        ...ofOrganization,
        id,
        name,
        users_count,
      })
      const active = people.filter(({ isActive }) => isActive).length
      await inSlices(
        [
          ...teamIds.large.map((id, n) => team(id, `large-${n}`, active)),
          ...teamIds.small.map((id) => team(id, id, 1)),
        ],
        (some) => db.insertInto('teams').values(some).execute(),
      )
      const member = (teamId: string, { user, membership, isActive }: (typeof people)[number]) => ({
        team_id: teamId,
        ...ofOrganization,
        user_id: user,
        membership_id: membership,
        is_active: isActive ? (1 as const) : (0 as const),
      })
      const [first] = people as [(typeof people)[number]]
      await inSlices(
        [
          ...teamIds.large.flatMap((id) => people.map((person) => member(id, person))),
          ...teamIds.small.map((id) => member(id, first)),
        ],
        (some) => db.insertInto('team_members').values(some).execute(),
      )
      await db
        .updateTable('organizations')
        .set({
          teams_count: 1 + LARGE_TEAMS + SMALL_TEAMS,
          visible_teams_count: LARGE_TEAMS + SMALL_TEAMS,
          version: 2,
        })
        .where('id', '=', organization.id)
        .execute()
    })
  })
  afterAll(() => server.stop())

  const ids = (items: Json[]): string[] => items.map(({ id }) => id)
  const ofType = (items: Json[], type: string): Json[] => items.filter((item) => item.type === type)
  const activeUsers = people.filter(({ isActive }) => isActive).map(({ user }) => user)
  const memberships = people.map(({ membership }) => membership)

  /** Requests a path, and checks that no turn of the event loop read too many rows. */
  const inTurns = async (path: string) => {
    const rows = countRows()
    try {
      const answer = await client.get(path)
      expect(rows.mostInTurn, path).toBeLessThanOrEqual(MAX_ROWS_IN_TURN)
      return { answer, rows: rows.all }
    } finally {
      rows.stop()
    }
  }

  test('are listed with all of them, in slices', async () => {
    const { answer, rows } = await inTurns(`/organizations/${organization.name}/teams?q=large`)
    expect(answer.status).toBe(200)
    expect(rows).toBeGreaterThan(LARGE_TEAMS * PEOPLE)
    expect(answer.headers.get('content-length')).toBeNull()
    expect(ids(answer.json.data)).toEqual(teamIds.large)
    for (const { id, ...team } of answer.json.data) {
      const single = await client.get(`/teams/${id}`)
      expect(single.headers.get('content-length')).not.toBeNull()
      expect(single.json.data).toEqual({ id, ...team })
      expect(ids(team.relationships.users.data)).toEqual(activeUsers)
      expect(ids(team.relationships['organization-memberships'].data)).toEqual(memberships)
      expect(team.attributes['users-count']).toBe(activeUsers.length)
    }
    expect(answer.json.meta.pagination['total-count']).toBe(LARGE_TEAMS)
  })

  test('include each user and membership once, as each is by itself', async () => {
    const path = `/organizations/${organization.name}/teams?q=large&include=users,organization-memberships`
    const { answer } = await inTurns(path)
    expect(answer.status).toBe(200)
    const { included } = answer.json
    expect(ids(ofType(included, 'users'))).toEqual(activeUsers)
    const given = ofType(included, 'organization-memberships')
    expect(ids(given)).toEqual(memberships)
    for (const place of [0, 1, INVITED, PEOPLE - 1]) {
      const single = await client.get(`/organization-memberships/${memberships[place]}`)
      const teams = (item: Json) => ids(item.relationships.teams.data).toSorted()
      expect(teams(given[place])).toEqual(teams(single.json.data))
      expect({ ...given[place], relationships: 0 }).toEqual({ ...single.json.data, relationships: 0 })
    }
    expect(given[0].relationships.teams.data).toHaveLength(LARGE_TEAMS + SMALL_TEAMS)
    const one = await inTurns(`/teams/${teamIds.large[0]}?include=users,organization-memberships`)
    expect(one.answer.json.included).toEqual(included)
  })

  test('are refused as an include of a list when they are too many, before anything is sent', async () => {
    const name = `/organizations/${organization.name}/teams`
    const { database } = server.app.deps
    const crowd = Array.from({ length: 20_001 }, (_, n) => `crowd-${String(n).padStart(5, '0')}`)
    const crowded = [uniqueName('crowd-a'), uniqueName('crowd-b')]
    await database.write(async ({ db }) => {
      const [membership] = memberships as [string]
      for (const teamName of crowded) {
        const team = { ...emptyTeam, id: teamName, name: teamName, organization_id: organization.id }
        await db.insertInto('teams').values(team).execute()
      }
      for (let from = 0; from < crowd.length; from += 1_000) {
        const rows = crowd.slice(from, from + 1_000).map((user) => ({
          team_id: crowded[0] as string,
          organization_id: organization.id,
          user_id: user,
          membership_id: membership,
          is_active: 0 as const,
        }))
        await db.insertInto('team_members').values(rows).execute()
      }
    })
    const { answer } = await inTurns(`${name}?q=crowd&include=users`)
    expect(answer.status).toBe(400)
    expect(answer.json.errors[0].detail).toBe(
      'more than 20000 resources would be included; request smaller pages',
    )
    await database.write(({ db }) => db.deleteFrom('teams').where('id', 'in', crowded).execute())
  })

  test('and members of many teams are listed with them, and include them, in slices', async () => {
    const list = `/organizations/${organization.name}/organization-memberships?page[size]=100`
    const { answer } = await inTurns(list)
    const [first] = answer.json.data.filter(({ id }: Json) => id === memberships[0])
    expect(first.relationships.teams.data).toHaveLength(LARGE_TEAMS + SMALL_TEAMS)
    const included = await inTurns(`${list}&include=teams`)
    expect(ids(included.answer.json.included).toSorted()).toEqual(
      ids(
        (await client.get(`/organization-memberships/${memberships[0]}?include=teams`)).json.included,
      ).toSorted(),
    )
    expect(included.answer.json.included.length).toBeGreaterThanOrEqual(LARGE_TEAMS + SMALL_TEAMS)
    const [large] = included.answer.json.included.filter(({ id }: Json) => id === teamIds.large[0])
    expect(large).toEqual((await client.get(`/teams/${teamIds.large[0]}`)).json.data)
  })
})
