import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import type { Client } from './support/client.ts'
import { numberedIds, numbersUpTo } from './support/numbered-ids.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  createTeam,
  createTestOrganization,
  createUser,
  invitePerson,
  type TestOrganization,
} from './support/world.ts'

/** More values than SQLite accepts in one statement. */
const MANY = 33_000
const WHEN = '2026-01-01T00:00:00.000Z'

/** Written directly to the database, because requests would take minutes. */
const numbers = numbersUpTo(MANY)

const [firstIds, secondIds] = [numberedIds(1), numberedIds(2)]

onEachEngine('an organization that has grown large', { maxTeamMembers: '100000' }, (server) => {
  let organization: TestOrganization
  /** A team with very many members. */
  let team: string
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    team = await createTeam(organization, { name: 'large' })
    await createTeam(organization, { name: 'little' })
    const { id } = organization
    await server.app.deps.database.write(async ({ db }) => {
      await sql`insert into users (id, username, created_at) ${numbers} select 'user-' || ${firstIds}, 'user-' || n, ${WHEN} from numbers`.execute(
        db,
      )
      await sql`insert into memberships (id, organization_id, user_id, status, created_at) ${numbers} select 'ou-' || ${firstIds}, ${id}, 'user-' || ${firstIds}, 'active', ${WHEN} from numbers`.execute(
        db,
      )
      await sql`insert into team_members (team_id, membership_id, user_id, organization_id, is_active) ${numbers} select ${team}, 'ou-' || ${firstIds}, 'user-' || ${firstIds}, ${id}, 1 from numbers`.execute(
        db,
      )
      // It does so by itself within a minute. Until then it reads whole tables.
      if (server.engine === 'postgres') await sql`analyze memberships, users, team_members`.execute(db)
    })
  })

  test('a team shows its members whole; a list that would include too many is refused', async () => {
    const { client } = organization.owner
    const shown = await client.get(`/teams/${team}?include=organization-memberships`)
    expect(shown.status).toBe(200)
    expect(shown.json.included).toHaveLength(MANY)
    const path = `/organizations/${organization.name}/teams`
    const refused = await client.get(`${path}?include=users`)
    expect([refused.status, refused.json]).toEqual([
      400,
      {
        errors: [
          {
            status: '400',
            title: 'Invalid include parameter',
            detail: 'more than 20000 resources would be included; request smaller pages',
            source: { parameter: 'include' },
          },
        ],
      },
    ])
    const alone = await client.get(`${path}?include=users&page[size]=1`)
    expect(alone.json.included).toHaveLength(MANY)
  })

  /** The order of the answers to a request of a client, and to five of somebody else that begin later. */
  const orderBeside = async (client: Client, path: string): Promise<string[]> => {
    const other = await createTestOrganization(server)
    const teamId = await createTeam(other, { name: 'other' })
    const order: string[] = []
    const asked = client.get(path).then(({ status }) => order.push(`asked: ${status}`))
    for (let number = 0; number < 5; number++) {
      const { status } = await other.owner.client.get(`/teams/${teamId}`)
      order.push(`team: ${status}`)
    }
    await asked
    return order
  }
  const othersFirst = [...Array.from({ length: 5 }, () => 'team: 200'), 'asked: 200']

  test('a list that looks at very many rows does not delay the requests of others', async () => {
    const path = `/organizations/${organization.name}/organization-memberships?q=zzz`
    expect(await orderBeside(organization.owner.client, path)).toEqual(othersFirst)
  })

  test('somebody in very many secret teams sees them in every list', async () => {
    const organization = await createTestOrganization(server)
    const member = await addMember(server, organization)
    await server.app.deps.database.write(async ({ db }) => {
      await sql`insert into teams (id, organization_id, name, visibility, created_at, updated_at) ${numbers} select 'team-' || ${firstIds}, ${organization.id}, 'team-' || n, 'secret', ${WHEN}, ${WHEN} from numbers`.execute(
        db,
      )
      await sql`insert into team_members (team_id, membership_id, user_id, organization_id, is_active) ${numbers} select 'team-' || ${firstIds}, ${member.membershipId}, ${member.id}, ${organization.id}, 1 from numbers`.execute(
        db,
      )
      await sql`update organizations set version = version + 1 where id = ${organization.id}`.execute(db)
    })
    const teams = await member.client.get(`/organizations/${organization.name}/teams`)
    expect([teams.status, teams.json?.meta.pagination['total-count']]).toEqual([200, MANY])
    const tokens = await member.client.get(`/organizations/${organization.name}/team-tokens`)
    expect([tokens.status, tokens.json?.data]).toEqual([200, []])
    const access = `/organizations/${organization.name}/effective-access?user=${member.id}`
    expect(await orderBeside(organization.owner.client, access)).toEqual(othersFirst)

    const stored = () =>
      server.app.deps.database.read(({ db }) =>
        db
          .selectFrom('teams')
          .where('organization_id', '=', organization.id)
          .where('is_owners', '=', 0)
          .select((eb) => [
            eb.fn.sum<number | string>('users_count').as('members'),
            eb.fn.min<number>('version').as('version'),
          ])
          .executeTakeFirstOrThrow(),
      )
    await server.app.deps.database.write(({ db }) =>
      db
        .updateTable('teams')
        .set({ users_count: 1 })
        .where('organization_id', '=', organization.id)
        .execute(),
    )
    const before = await stored()
    const path = `/organization-memberships/${member.membershipId}`
    expect((await organization.owner.client.delete(path)).status).toBe(204)
    expect((await member.client.get(`/organizations/${organization.name}/teams`)).status).toBe(404)
    const after = await stored()
    expect([Number(before.members), Number(after.members)]).toEqual([MANY, 0])
    expect(after.version).toBeGreaterThan(before.version)
  })

  test('a person who was invited into very many teams is in all of them after accepting', async () => {
    const organization = await createTestOrganization(server)
    const person = await createUser(server)
    const membershipId = await invitePerson(organization, person)
    await server.app.deps.database.write(async ({ db }) => {
      await sql`insert into teams (id, organization_id, name, visibility, created_at, updated_at) ${numbers} select 'team-' || ${secondIds}, ${organization.id}, 'team-' || n, 'secret', ${WHEN}, ${WHEN} from numbers`.execute(
        db,
      )
      await sql`insert into team_members (team_id, membership_id, user_id, organization_id, is_active) ${numbers} select 'team-' || ${secondIds}, ${membershipId}, ${person.id}, ${organization.id}, 0 from numbers`.execute(
        db,
      )
    })
    const accepted = await person.client.post(`/organization-memberships/${membershipId}/actions/accept`)
    expect(accepted.status).toBe(200)
    const teams = await person.client.get(`/organizations/${organization.name}/teams?page[size]=1`)
    expect(teams.json.meta.pagination['total-count']).toBe(MANY)
    expect(teams.json.data[0].attributes['users-count']).toBe(1)
  })
})
