import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import type { Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { countTurnsWithinWrites } from './support/rows-in-turn.ts'
import {
  addMember,
  createTeam,
  createTestOrganization,
  createWorkspace,
  type TestOrganization,
} from './support/world.ts'

/** A fast machine must still need several turns for them. */
const MANY = 40_000
const AT = '2026-01-01T00:00:00.000Z'

onEachEngine('a write of very many rows', (server, engine) => {
  let organization: TestOrganization
  let client: Client
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    ;({ client } = organization.owner)
  })

  const run = (...statements: ReturnType<typeof sql>[]) =>
    server.app.deps.database.write(async ({ db }) => {
      for (const statement of statements) await statement.execute(db)
    })
  const count = async (from: ReturnType<typeof sql>) => {
    const { rows } = await server.app.deps.database.read(({ db }) =>
      sql<{ count: number }>`select count(*) as count from ${from}`.execute(db),
    )
    return rows[0]?.count
  }
  /** The numbers 1, 2, … as a table `n` with a column `n`. */
  const numbers =
    engine === 'sqlite'
      ? sql`(with recursive n(n) as (select 1 union all select n + 1 from n where n < ${MANY}) select n from n) as n`
      : sql`generate_series(1, ${MANY}) as n(n)`

  /** The deletion must let reads run in between. A read sees the whole object or nothing. */
  const expectToGiveWay = async (path: string) => {
    const turns = countTurnsWithinWrites()
    const deletion = { isOver: false }
    const deleting = client.delete(path).finally(() => (deletion.isOver = true))
    const seen: number[] = []
    do {
      seen.push((await client.get(path)).status)
      expect((await client.get('/account/details')).status).toBe(200)
    } while (!deletion.isOver)
    turns.stop()
    expect((await deleting).status).toBe(204)
    if (engine === 'sqlite') expect(turns.all).toBeGreaterThan(2)
    expect(seen.toSorted((a, b) => a - b)).toEqual(seen)
    expect((await client.get(path)).status).toBe(404)
  }

  test('gives way when a workspace with many versions is deleted', async () => {
    const id = await createWorkspace(organization)
    await run(sql`
      insert into state_versions (id, workspace_id, organization_id, output_key, serial, md5, status, wrapped_key, created_at, number)
      select ${`sv-${id}-`} || n, ${id}, ${organization.id}, ${`${id}-`} || n, n, 'x', 'discarded', ${Buffer.from('x')}, ${AT}, n from ${numbers}`)
    await expectToGiveWay(`/workspaces/${id}`)
    expect(await count(sql`state_versions where workspace_id = ${id}`)).toBe(0)
  })

  test('gives way when a team with many members is deleted', async () => {
    const id = await createTeam(organization)
    const { membershipId } = await addMember(server, organization)
    await run(sql`
      insert into team_members (team_id, membership_id, user_id, organization_id, is_active)
      select ${id}, ${membershipId}, 'user-' || n, ${organization.id}, 0 from ${numbers}`)
    await expectToGiveWay(`/teams/${id}`)
    expect(await count(sql`team_members where team_id = ${id}`)).toBe(0)
  })

  test('gives way when somebody who is in many teams leaves', async () => {
    const { membershipId, id } = await addMember(server, organization)
    await run(
      sql`
        insert into teams (id, organization_id, name, visibility, users_count, created_at, updated_at)
        select 'team-' || n, ${organization.id}, 'many-' || n, 'organization', 1, ${AT}, ${AT} from ${numbers}`,
      sql`
        insert into team_members (team_id, membership_id, user_id, organization_id, is_active)
        select 'team-' || n, ${membershipId}, ${id}, ${organization.id}, 1 from ${numbers}`,
    )
    await expectToGiveWay(`/organization-memberships/${membershipId}`)
    expect(await count(sql`team_members where membership_id = ${membershipId}`)).toBe(0)
    expect(await count(sql`teams where name like 'many-%' and users_count = 0`)).toBe(MANY)
  })
})
