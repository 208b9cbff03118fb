import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Tables } from '../src/database/tables.ts'
import { StateSweep } from '../src/state-content/state-sweep.ts'
import { readConfig } from '../src/config.ts'
import { systemClock } from '../src/core/clock.ts'
import { examine } from '../src/operation/doctor.ts'
import { NOT_FOUND, type Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { settingsOf } from './support/purser.ts'
import { startNode, type TestServer } from './support/server.ts'
import { base64, lock, postState, stateText } from './support/states.ts'
import { body, createTestOrganization, createWorkspace, made } from './support/world.ts'

const MIB = 1024 * 1024
const SETTINGS = { maxOrganizationBytes: String(MIB), stateVersionsKept: '3' }

/** A state that takes more than this many bytes, however it is compressed. */
const largeState = (serial: number, bytes: number) =>
  stateText(`{"filler":{"value":"${randomBytes(bytes / 2).toString('hex')}","type":"string"}}`, serial)

/** The bytes as they are kept, and as they are: of all chunks and outputs, also of deleted versions. */
async function bytesOf({ app }: TestServer, organizationId: string) {
  return app.deps.database.read(async ({ db, engine }) => {
    const length = sql.raw(engine === 'sqlite' ? 'length' : 'octet_length')
    const sumOf = async (table: keyof Tables) => {
      const { rows } = await sql<{ bytes: number | null }>`
        select cast(sum(${length}(sealed)) as integer) as bytes from ${sql.table(table)}
        where state_version_id in
          (select state_version_id from state_version_bytes where organization_id = ${organizationId})`.execute(
        db,
      )
      return rows[0]?.bytes ?? 0
    }
    const kept = await db
      .selectFrom('organization_bytes')
      .where('organization_id', '=', organizationId)
      .select('bytes')
      .executeTakeFirst()
    return { kept: kept?.bytes ?? 0, real: (await sumOf('state_chunks')) + (await sumOf('output_blocks')) }
  })
}

/** The kept bytes, which must be those that are there. */
async function exactBytes(server: TestServer, organizationId: string): Promise<number> {
  const { kept, real } = await bytesOf(server, organizationId)
  expect(kept).toBe(real)
  return kept
}

async function push(client: Client, workspaceId: string, serial: number, bytes = 1_000) {
  const state = largeState(serial, bytes)
  return postState(client, workspaceId, state, { state: base64(state) })
}

/** Creates a pending version. Returns what uploads its content. */
async function pending(client: Client, workspaceId: string, state: string) {
  const { data } = made(await postState(client, workspaceId, state), 201).json
  const url: string = data.attributes['hosted-state-upload-url']
  return { id: data.id as string, upload: () => client.request('PUT', url, state) }
}

onEachEngine('the bytes of the states of an organization', SETTINGS, (server) => {
  test('are exact after each change', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    expect(await exactBytes(server, organization.id)).toBe(0)
    const first = made(await push(client, workspaceId, 1), 201).json.data
    const one = await exactBytes(server, organization.id)
    expect(one).toBeGreaterThan(1_000)
    // Sent again, it is not stored again.
    const large = await pending(client, workspaceId, largeState(2, 300_000))
    expect(await exactBytes(server, organization.id)).toBe(one)
    expect((await large.upload()).status).toBe(200)
    const two = await exactBytes(server, organization.id)
    expect(two).toBeGreaterThan(one + 300_000)
    expect((await large.upload()).status).toBe(200)
    expect(await exactBytes(server, organization.id)).toBe(two)
    const rollback = { 'rollback-state-version': { data: { type: 'state-versions', id: first.id } } }
    made(
      await client.patch(`/workspaces/${workspaceId}/state-versions`, body('state-versions', {}, rollback)),
      201,
    )
    const three = await exactBytes(server, organization.id)
    expect(three).toBeGreaterThan(two)
    const actions = `/state-versions/${large.id}/actions`
    made(await client.post(`${actions}/soft_delete_backing_data`), 200)
    expect(await exactBytes(server, organization.id)).toBe(three)
    made(await client.post(`${actions}/permanently_delete_backing_data`), 200)
    await vi.waitUntil(async () => (await bytesOf(server, organization.id)).kept < three - 300_000)
    await exactBytes(server, organization.id)
  })

  test('are those that are there until the sweep deletes them', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    for (const serial of [1, 2]) made(await push(client, workspaceId, serial), 201)
    const before = await exactBytes(server, organization.id)
    made(await client.delete(`/workspaces/${workspaceId}`), 204)
    expect(await exactBytes(server, organization.id)).toBe(before)
    const { database, config, clock, log } = server.app.deps
    await new StateSweep(database, config, clock, log).sweep()
    expect(await exactBytes(server, organization.id)).toBe(0)
  })

  test('are exact when two nodes write at the same time', async () => {
    const node = await startNode(server, SETTINGS)
    onTestFinished(node.stop)
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspaces = await Promise.all([1, 2, 3, 4].map(() => createWorkspace(organization)))
    await Promise.all(
      workspaces.map(async (workspaceId, at) => {
        const own = at % 2 === 0 ? client : node.client(client.token)
        await lock(own, workspaceId)
        for (const serial of [1, 2, 3, 4]) made(await push(own, workspaceId, serial, 2_000), 201)
        const later = await pending(own, workspaceId, largeState(5, 20_000))
        expect((await later.upload()).status).toBe(200)
      }),
    )
    expect(await exactBytes(server, organization.id)).toBeGreaterThan(80_000)
  })

  test('go with the organization', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    made(await push(client, workspaceId, 1), 201)
    made(await client.delete(`/organizations/${organization.name}`), 204)
    const rows = () =>
      server.app.deps.database.read(({ db }) =>
        db
          .selectFrom('organization_bytes')
          .where('organization_id', '=', organization.id)
          .selectAll()
          .execute(),
      )
    await vi.waitUntil(async () => (await rows()).length === 0, { timeout: 20_000, interval: 100 })
  })

  test('are limited: what would be too much is refused, and takes nothing', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    made(await push(client, workspaceId, 1, 600_000), 201)
    const before = await exactBytes(server, organization.id)
    const refused = await push(client, workspaceId, 2, 600_000)
    expect(refused.status).toBe(422)
    expect(refused.json.errors[0].detail).toContain(`at most ${MIB} bytes (PURSER_MAX_ORGANIZATION_BYTES)`)
    expect(await exactBytes(server, organization.id)).toBe(before)
    const later = await pending(client, workspaceId, largeState(2, 600_000))
    expect((await later.upload()).json).toEqual(refused.json)
    // What had arrived is deleted beside the requests.
    await vi.waitUntil(async () => (await bytesOf(server, organization.id)).kept === before)
    expect((await push(client, workspaceId, 3, 100_000)).status).toBe(201)
  })

  test('are compared with what is stored by doctor --content', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    made(await push(client, workspaceId, 1), 201)
    const bytes = await exactBytes(server, organization.id)
    const count = (kept: number) =>
      server.app.deps.database.write(({ db }) =>
        db
          .updateTable('organization_bytes')
          .set({ bytes: kept })
          .where('organization_id', '=', organization.id)
          .execute(),
      )
    const config = readConfig({}, { ...settingsOf(server), PURSER_MAX_ORGANIZATION_BYTES: String(MIB) })
    const ofBytes = async () => {
      const findings = await examine(config, {}, systemClock, () => {})
      return findings.filter(({ check }) => check === 'size of states')
    }
    expect(await ofBytes()).toContainEqual({
      check: 'size of states',
      result: 'good',
      detail: 'as it is counted',
    })
    await count(MIB)
    const findings = await ofBytes()
    await count(bytes)
    expect(findings).toEqual(
      expect.arrayContaining([
        {
          check: 'size of states',
          result: 'note',
          detail: `the states of ${organization.name} take ${MIB} of ${MIB} bytes (PURSER_MAX_ORGANIZATION_BYTES)`,
        },
        {
          check: 'size of states',
          result: 'problem',
          detail: `${organization.id}: ${MIB} bytes are counted, and ${bytes} are stored`,
        },
      ]),
    )
  })

  test('are listed for administrators of the site, the largest first', async () => {
    const organization = await createTestOrganization(server)
    const { owner, id, name } = organization
    const workspaceId = await createWorkspace(organization)
    await lock(owner.client, workspaceId)
    made(await push(owner.client, workspaceId, 1, 400_000), 201)
    const found = await server.admin.get(`/admin/organizations?q=${name}`)
    expect(found.json.data).toEqual([
      {
        id: name,
        type: 'organization-usages',
        attributes: {
          name,
          'external-id': id,
          email: 'o@example.com',
          'created-at': expect.any(String),
          'state-bytes': await exactBytes(server, id),
          'workspaces-count': 1,
          'members-count': 1,
          'owners-count': 1,
          owners: [owner.username],
        },
        relationships: { organization: { data: { id: name, type: 'organizations' } } },
      },
    ])
    const all = (await server.admin.get('/admin/organizations?page[size]=100')).json.data
    const sizes = all.map(
      ({ attributes }: { attributes: Record<string, number> }) => attributes['state-bytes'],
    )
    expect(sizes).toEqual(sizes.toSorted((one: number, other: number) => other - one))
    expect((await owner.client.get('/admin/organizations')).text).toBe(NOT_FOUND)
  })

  test('that are used up are refused before more arrive', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    const waiting = await pending(client, workspaceId, largeState(2, 1_000))
    const bytes = 2 * MIB
    await server.app.deps.database.write(({ db }) =>
      db.insertInto('organization_bytes').values({ organization_id: organization.id, bytes }).execute(),
    )
    const refused = await client.post(`/workspaces/${workspaceId}/state-versions`, '{')
    expect([refused.status, refused.json.errors[0].detail]).toEqual([
      422,
      expect.stringContaining('PURSER_MAX_ORGANIZATION_BYTES'),
    ])
    expect((await waiting.upload()).json).toEqual(refused.json)
    const rollback = { 'rollback-state-version': { data: { type: 'state-versions', id: waiting.id } } }
    const path = `/workspaces/${workspaceId}/state-versions`
    expect((await client.patch(path, body('state-versions', {}, rollback))).json).toEqual(refused.json)
  })
})
