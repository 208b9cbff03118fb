import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from './support/client.ts'
import { onlyPostgres } from './support/engines.ts'
import { Forwarder } from './support/forwarder.ts'
import { onPostgres } from './support/on-each-engine.ts'
import { PostgresCluster } from './support/postgres-cluster.ts'
import { startServer, type TestServer } from './support/server.ts'
import { addMember, body, createTeam, createTestOrganization } from './support/world.ts'

/** A server whose database is reached by a name that can be moved from the primary to the standby. */
async function start() {
  const primary = await PostgresCluster.start()
  const standby = await primary.addSynchronousStandby()
  const name = await Forwarder.start(primary.port)
  onTestFinished(async () => {
    await name.close()
    await standby.remove()
    await primary.remove()
  })
  const server = await startServer('postgres', { databaseUrl: primary.url(name.port) })
  onTestFinished(() => server.stop())
  const organization = await createTestOrganization(server)
  const team = await createTeam(organization)
  const member = await addMember(server, organization, [team])
  return { primary, standby, name, server, organization, owner: organization.owner.client, team, member }
}

async function untilReady({ address }: TestServer): Promise<void> {
  while ((await fetch(`${address}/readyz`)).status !== 200) await pause(50)
}

/** The statuses of the same read, many times. */
function statuses(client: Client, path: string): Promise<number[]> {
  return Promise.all(Array.from({ length: 20 }, async () => (await client.get(path)).status))
}

onPostgres('versions', (server, query) => {
  test('never rise by one step, wherever they are raised', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const versions = async () => {
      const { rows } = await query(
        `select organizations.version as own, workspaces.version as workspaces, max(blocks.version) as names
         from organizations join workspace_versions workspaces on workspaces.organization_id = id
         join team_name_blocks blocks on blocks.organization_id = id where id = $1 group by 1, 2`,
        [organization.id],
      )
      return Object.entries<number>(rows[0])
    }
    const make = async (name: string) => {
      await client.post(`/organizations/${organization.name}/teams`, body('teams', { name }))
      await client.post(`/organizations/${organization.name}/workspaces`, body('workspaces', { name }))
    }
    await make('first')
    const before = new Map(await versions())
    for (const name of ['second', 'third', 'fourth']) await make(name)
    // Three steps of one would be three.
    for (const [name, version] of await versions())
      expect([name, version - (before.get(name) ?? 0) > 100]).toEqual([name, true])
  })
})

describe.each(onlyPostgres)('a change of the server on %s', () => {
  test('no read stays on a server that is a standby', { timeout: 90_000 }, async () => {
    const { primary, standby, name, server, owner, team, member } = await start()
    const path = `/teams/${team}`
    expect(new Set(await statuses(member.client, path))).toEqual(new Set([200]))
    name.target = standby.port
    name.cut()
    // What reads here is refused: each connection finds out where it leads.
    expect(new Set(await statuses(member.client, path))).toEqual(new Set([503]))
    name.target = primary.port
    await untilReady(server)
    await standby.query('select pg_wal_replay_pause()')
    await primary.query("alter system set synchronous_standby_names = ''")
    await primary.query('select pg_reload_conf()')
    const members = { data: [{ type: 'users', id: member.username }] }
    expect((await owner.delete(`${path}/relationships/users`, members)).status).toBe(204)
    expect(new Set(await statuses(member.client, path))).toEqual(new Set([404]))
  })

  test(
    'a right that a failover lost does not come back with the next change',
    { timeout: 90_000 },
    async () => {
      const { primary, standby, name, server, organization, owner, team, member } = await start()
      await primary.query("alter system set synchronous_standby_names = ''")
      await primary.query('select pg_reload_conf()')
      const secret = `/teams/${await createTeam(organization, { visibility: 'secret' })}`
      const list = await owner.get(`/organizations/${organization.name}/teams?filter[names]=owners`)
      // What is written from now on is lost.
      await pause(1_000)
      await standby.stop('fast')
      const members = { data: [{ type: 'users', id: member.username }] }
      const owners = `/teams/${list.json.data[0].id}/relationships/users`
      expect((await owner.post(owners, members)).status).toBe(204)
      expect(new Set(await statuses(member.client, secret))).toEqual(new Set([200]))
      await primary.stop('immediate')
      await standby.start()
      await standby.promote()
      name.target = standby.port
      await untilReady(server)
      expect((await owner.patch(`/teams/${team}`, body('teams', { name: 'renamed' }))).status).toBe(200)
      expect(new Set(await statuses(member.client, secret))).toEqual(new Set([404]))
    },
  )

  test.each(['notice', 'error'])(
    'a commit that a standby does not have is no success, with client_min_messages = %s',
    { timeout: 60_000 },
    async (level) => {
      const cluster = await PostgresCluster.start({ client_min_messages: level })
      onTestFinished(() => cluster.remove())
      const server = await startServer('postgres', { databaseUrl: cluster.url() })
      onTestFinished(() => server.stop())
      const { name, owner } = await createTestOrganization(server)
      await cluster.query("alter system set synchronous_standby_names = 'nobody'")
      await cluster.query('select pg_reload_conf()')
      const cancel = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'"
      const create = async (team: string) => {
        const made = owner.client.post(`/organizations/${name}/teams`, body('teams', { name: team }))
        while ((await Promise.race([made, pause(100)])) === undefined) await cluster.query(cancel)
        return made
      }
      // Commits do not wait at once: PostgreSQL tells its processes one by one of the new setting.
      let made = await create('waits')
      for (let tries = 0; made.status === 200 && tries < 100; tries += 1)
        made = await create(`waits-${tries}`)
      await cluster.query("alter system set synchronous_standby_names = ''")
      await cluster.query('select pg_reload_conf()')
      const { status, text } = made
      expect(status, text).toBe(503)
      expect(text).toMatch(/whether it was made is not known/)
      await untilReady(server)
    },
  )
})
