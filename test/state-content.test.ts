import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pino from 'pino'
import { beforeAll, expect, test, vi } from 'vitest'
import { endJob, renewLease, takeJob } from '../src/outputs/output-job-store.ts'
import { StateSweep } from '../src/state-content/state-sweep.ts'
import { uploadPath } from '../src/state-versions/upload-urls.ts'
import type { Client, Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { base64, lock, postState, stateText } from './support/states.ts'
import { createTestOrganization, createWorkspace, type TestOrganization } from './support/world.ts'

const DAY_MS = 86_400_000
const outputs = (value: string) =>
  `{"open":{"value":"${value}","type":"string"},"secret":{"value":"${value}","type":"string","sensitive":true}}`

onEachEngine('deleting the content of a state version', (server, engine) => {
  let organization: TestOrganization
  let client: Client
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    ;({ client } = organization.owner)
  })

  const act = (id: string, action: string, sent?: unknown): Promise<Response> =>
    client.post(`/state-versions/${id}/actions/${action}_backing_data`, sent)
  /** Creates a workspace with two versions: an older one and the current one. */
  const twoVersions = async (value = 'canary') => {
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    const make = async (serial: number) => {
      const text = stateText(outputs(`${value}-${serial}`), serial)
      const made = await postState(client, workspaceId, text, {
        state: base64(text),
        'json-state': base64('{"a":1}'),
      })
      expect(made.status).toBe(201)
      return made.json.data.id as string
    }
    return { workspaceId, older: await make(1), current: await make(2) }
  }
  const readAll = async (id: string) => {
    const paths = ['outputs', 'download', 'json-download'].map((part) => `/state-versions/${id}/${part}`)
    const answers = []
    for (const path of paths) answers.push(await client.get(path))
    return answers
  }
  const rowsOf = (id: string) =>
    server.app.deps.database.read(async (tx) => {
      const chunks = tx.db.selectFrom('state_chunks').where('state_version_id', '=', id).select('number')
      const blocks = tx.db
        .selectFrom('output_blocks')
        .where('state_version_id', '=', id)
        .select('first_position')
      return (await chunks.execute()).length + (await blocks.execute()).length
    })
  const eventsOf = async (id: string) => {
    const rows = await server.app.deps.database.read((tx) =>
      tx.db
        .selectFrom('audit_events')
        .where('resource_id', '=', id)
        .where('action', 'like', '%-content')
        .select(['action', 'actor_kind'])
        .orderBy('number')
        .execute(),
    )
    return rows.map(({ action, actor_kind: kind }) => `${kind} ${action.replace('state-version.', '')}`)
  }

  test('softly: nothing of it is readable, from no cache either, until it is restored', async () => {
    const { older } = await twoVersions()
    const before = await readAll(older)
    const [first, second] = (before[0] as Response).json.data as { id: string }[]
    const outputPaths = [first, second].map((output) => `/state-version-outputs/${output?.id}`)
    for (const path of outputPaths) expect((await client.get(path)).status).toBe(200)
    const deleted = await act(older, 'soft_delete')
    expect(deleted.status, deleted.text).toBe(200)
    expect(deleted.json.data.attributes).toMatchObject({
      status: 'backing_data_soft_deleted',
      serial: 1,
      'resources-processed': true,
      'hosted-state-download-url': null,
      'hosted-json-state-download-url': null,
      'hosted-state-upload-url': null,
      'hosted-json-state-upload-url': null,
    })
    expect((await readAll(older)).map(({ status }) => status)).toEqual([404, 404, 404])
    for (const path of outputPaths) expect((await client.get(path)).status).toBe(404)
    const shown = await client.get(`/state-versions/${older}?include=outputs`)
    expect(shown.json.data.relationships.outputs.data).toEqual([])
    expect(shown.json.included).toEqual([])
    expect(shown.text).not.toContain('canary')
    expect(await rowsOf(older)).toBeGreaterThan(0)

    const restored = await act(older, 'restore')
    expect([restored.status, restored.json.data.attributes.status]).toEqual([200, 'finalized'])
    expect((await readAll(older)).map(({ text }) => text)).toEqual(before.map(({ text }) => text))
    expect(await eventsOf(older)).toEqual(['user soft-delete-content', 'user restore-content'])
  })

  test('for good: its key, chunks and outputs are gone, and it stays in the list as what it was', async () => {
    const { workspaceId, older, current } = await twoVersions()
    const { database } = server.app.deps
    const keyOf = () =>
      database.read((tx) =>
        tx.db
          .selectFrom('state_versions')
          .where('id', '=', older)
          .select(['wrapped_key', 'upload_id', 'json_upload_id'])
          .executeTakeFirstOrThrow(),
      )
    const before = await keyOf()
    expect((await act(older, 'soft_delete')).status).toBe(200)
    const sealed = await database.read((tx) =>
      tx.db.selectFrom('state_chunks').where('state_version_id', '=', older).select('sealed').execute(),
    )
    const deleted = await act(older, 'permanently_delete')
    expect([deleted.status, deleted.json.data.attributes.status]).toEqual([
      200,
      'backing_data_permanently_deleted',
    ])
    await vi.waitFor(async () => expect(await rowsOf(older)).toBe(0), 10_000)
    const after = await keyOf()
    expect(Buffer.from(after.wrapped_key).equals(Buffer.from(before.wrapped_key))).toBe(false)
    expect([after.upload_id, after.json_upload_id]).toEqual([null, null])
    expect(await rowsOf(current)).toBeGreaterThan(0)
    if (engine === 'sqlite') {
      // An operator would do this to remove deleted data from free pages.
      const file = join(server.folder, 'purser.sqlite')
      const other = new DatabaseSync(file)
      other.exec('vacuum')
      // Wait until no read of this turn is open.
      await vi.waitFor(() =>
        expect(other.prepare('pragma wal_checkpoint(truncate)').get()).toMatchObject({ busy: 0 }),
      )
      other.close()
      const bytes = readFileSync(file)
      expect(sealed.length).toBe(2)
      for (const chunk of sealed) expect(bytes.includes(Buffer.from(chunk.sealed))).toBe(false)
      expect(bytes.includes(Buffer.from(before.wrapped_key))).toBe(false)
      expect(bytes.includes(Buffer.from(after.wrapped_key))).toBe(true)
    }
    expect((await readAll(older)).map(({ status }) => status)).toEqual([404, 404, 404])
    const again = await act(older, 'permanently_delete')
    expect([again.status, again.json]).toEqual([200, deleted.json])
    for (const action of ['restore', 'soft_delete']) {
      const refused = await act(older, action)
      expect([refused.status, refused.json.errors[0].title]).toEqual([400, 'bad request'])
    }
    const listed = async (status: string) => {
      const filter = new URLSearchParams({
        'filter[organization][name]': organization.name,
        'filter[workspace][name]': workspace.json.data.attributes.name,
        'filter[status]': status,
      })
      return (await client.get(`/state-versions?${filter.toString()}`)).json.data.map(
        ({ id }: { id: string }) => id,
      )
    }
    const workspace = await client.get(`/workspaces/${workspaceId}`)
    expect(await listed('backing_data_permanently_deleted')).toEqual([older])
    expect(await listed('finalized')).toEqual([current])
    expect(await eventsOf(older)).toEqual(['user soft-delete-content', 'user permanently-delete-content'])
  })

  test('only in this order, never of what is current, and what is done already stays done', async () => {
    const { workspaceId, older, current } = await twoVersions()
    const pending = await postState(client, workspaceId, stateText('{}', 3))
    const refusals = [
      [current, 'soft_delete', 'the content of the current state version cannot be deleted'],
      [current, 'permanently_delete', 'deleted softly'],
      [older, 'permanently_delete', 'deleted softly'],
      [pending.json.data.id, 'soft_delete', 'only a finalized state version'],
      [pending.json.data.id, 'restore', 'deleted softly'],
    ] as const
    for (const [id, action, reason] of refusals) {
      const refused = await act(id, action)
      expect([refused.status, refused.json.errors[0].detail]).toEqual([400, expect.stringContaining(reason)])
    }
    expect((await act(older, 'restore')).json.data.attributes.status).toBe('finalized')
    const deleted = await act(older, 'soft_delete')
    expect((await act(older, 'soft_delete')).json).toEqual(deleted.json)
    expect(await eventsOf(older)).toEqual(['user soft-delete-content'])
    expect((await readAll(current)).map(({ status }) => status)).toEqual([200, 200, 200])
  })

  test('nothing is uploaded into it again, and its serial stays taken', async () => {
    const { workspaceId, older } = await twoVersions()
    const row = await server.app.deps.database.read((tx) =>
      tx.db.selectFrom('state_versions').where('id', '=', older).selectAll().executeTakeFirstOrThrow(),
    )
    await act(older, 'soft_delete')
    for (const kind of ['state', 'json-state'] as const) {
      const url = server.address + uploadPath(server.app.deps.config.secretKey, row.id, kind)
      const put = await client.request('PUT', url, stateText(outputs('canary-1'), 1))
      expect([put.status, put.json.errors[0].detail]).toEqual([
        409,
        'the content of this state version was deleted',
      ])
    }
    const other = stateText('{}', 1)
    expect((await postState(client, workspaceId, other, { state: base64(other) })).status).toBe(409)
    const same = stateText(outputs('canary-1'), 1)
    const repeated = await postState(client, workspaceId, same, { state: base64(same) })
    expect([repeated.status, repeated.json.data.attributes.status]).toEqual([
      201,
      'backing_data_soft_deleted',
    ])
  })

  test('how long it can be restored is the server’s to say', async () => {
    const { older } = await twoVersions()
    const sent = { data: { attributes: { 'delete-older-than-n-days': 23 } } }
    const refused = await act(older, 'soft_delete', sent)
    expect(refused.status).toBe(422)
    expect(refused.json.errors[0]).toMatchObject({
      detail: expect.stringContaining('PURSER_DELETED_STATE_DAYS'),
      source: { pointer: '/data/attributes/delete-older-than-n-days' },
    })
    expect((await act(older, 'soft_delete', {})).status).toBe(200)
    const { database, config } = server.app.deps
    const sweep = new StateSweep(database, config, server.clock, pino({ level: 'silent' }))
    await server.passTime(30 * DAY_MS - 60_000)
    await sweep.sweep()
    expect(await rowsOf(older)).toBeGreaterThan(0)
    await server.passTime(120_000)
    await sweep.sweep()
    expect(await rowsOf(older)).toBe(0)
    expect(await eventsOf(older)).toEqual(['user soft-delete-content', 'system permanently-delete-content'])
    const shown = await client.get(`/state-versions/${older}`)
    expect(shown.json.data.attributes.status).toBe('backing_data_permanently_deleted')
  })

  test('while its outputs are being processed: nothing of them is written afterwards', async () => {
    const { older } = await twoVersions()
    const { database } = server.app.deps
    const lease = '2999-01-01T00:00:00.000Z'
    await database.write(async (tx) => {
      await tx.db
        .updateTable('state_versions')
        .set({ resources_processed: 0 })
        .where('id', '=', older)
        .execute()
      expect(await takeJob(tx, older, '2998', lease)).toBeDefined()
    })
    await act(older, 'soft_delete')
    await database.write(async (tx) => {
      expect(await renewLease(tx, { id: older, lease }, lease)).toBe(false)
      expect(await endJob(tx, { id: older, lease }, { outputsCount: 9, failure: null })).toBe(false)
      expect(await takeJob(tx, older, '3000', lease)).toBeUndefined()
    })
    await act(older, 'restore')
    await database.write(async (tx) => expect(await takeJob(tx, older, '3000', lease)).toBeDefined())
  })
})
