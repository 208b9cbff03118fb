import pino from 'pino'
import { beforeAll, expect, test, vi } from 'vitest'
import { StateSweep } from '../src/state-content/state-sweep.ts'
import type { Client, Response } from './support/client.ts'
import { differenceOf } from './support/difference.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { base64, lock, md5Of, postState, stateText } from './support/states.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantWorkspace,
  type TestOrganization,
} from './support/world.ts'

const POINTER = '/data/relationships/rollback-state-version'

function rollBack(client: Client, workspaceId: string, id: string): Promise<Response> {
  const relationships = { 'rollback-state-version': { data: { type: 'state-versions', id } } }
  return client.patch(`/workspaces/${workspaceId}/state-versions`, body('state-versions', {}, relationships))
}

onEachEngine('rolling back', (server) => {
  let organization: TestOrganization
  let client: Client
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    ;({ client } = organization.owner)
  })

  /** Stores a state through its upload URL, with any attributes. Returns its id. */
  const store = async (workspaceId: string, state: string, attributes: object) => {
    const more = { md5: md5Of(state), ...attributes }
    const made = await client.post(`/workspaces/${workspaceId}/state-versions`, body('state-versions', more))
    expect(made.status, made.text).toBe(201)
    const put = await client.request('PUT', made.json.data.attributes['hosted-state-upload-url'], state)
    expect(put.status, put.text).toBe(200)
    return made.json.data.id as string
  }
  const lockedWorkspace = async () => {
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    return workspaceId
  }
  const download = async (id: string) => (await client.get(`/state-versions/${id}/download`)).text

  test('answers 404 when the workspace is deleted meanwhile', async () => {
    const workspaceId = await lockedWorkspace()
    const old = await store(workspaceId, stateText('{}', 1, 'l'), { serial: 1, lineage: 'l' })
    const { database } = server.app.deps
    const write = database.write.bind(database)
    vi.spyOn(database, 'write').mockImplementationOnce(async (work) => {
      await write((tx) => tx.db.deleteFrom('workspaces').where('id', '=', workspaceId).execute())
      return write(work)
    })
    expect((await rollBack(client, workspaceId, old)).status).toBe(404)
  })

  test('makes a new current version with the next serial, in the file as in the row, every other byte as it was', async () => {
    const workspaceId = await lockedWorkspace()
    const first =
      '\n{"lineage":"l",\t"outputs":{"a":{"value":1.10,"type":"number"},"s":{"value":"serial","type":"string","sensitive":true}},\r\n "version":4 , "serial" :\n7 ,"resources":[{"serial":7}]}\n '
    const jsonState = '{"format_version":"1.0","serial":7}'
    const old = await store(workspaceId, first, { serial: 7, lineage: 'l' })
    const shown = await client.get(`/state-versions/${old}`)
    expect(
      (await client.request('PUT', shown.json.data.attributes['hosted-json-state-upload-url'], jsonState))
        .status,
    ).toBe(200)
    await store(workspaceId, stateText('{}', 99, 'l'), { serial: 99, lineage: 'l' })

    const back = await rollBack(client, workspaceId, old)
    expect(back.status, back.text).toBe(201)
    const { id, attributes, relationships } = back.json.data
    const expected = first.replace('"serial" :\n7 ', '"serial" :\n100 ')
    expect(attributes).toMatchObject({
      serial: 100,
      status: 'finalized',
      size: Buffer.byteLength(expected),
      'resources-processed': true,
      'state-version': 4,
      'hosted-state-upload-url': null,
    })
    expect(relationships['rollback-state-version']).toEqual({ data: { id: old, type: 'state-versions' } })
    expect(await download(id)).toBe(expected)
    expect(await download(old)).toBe(first)
    expect((await client.get(`/state-versions/${id}/json-download`)).text).toBe(jsonState)
    const current = await client.get(`/workspaces/${workspaceId}/current-state-version`)
    expect(current.json.data.id).toBe(id)
    const outputs = await client.get(`/workspaces/${workspaceId}/current-state-version-outputs`)
    expect(outputs.text).toContain('"value":1.10')
    expect(outputs.json.data.map((item: never) => item['attributes']['name'])).toEqual(['a', 's'])

    // The row has the hash of the new bytes, so a create with the same state returns this version.
    const again = await postState(client, workspaceId, expected.trim(), { md5: md5Of(expected) })
    expect([again.status, again.json.data.id]).toEqual([201, id])
    // A client can continue with the next serial.
    const next = stateText('{}', 101, 'l')
    expect((await postState(client, workspaceId, next, { state: base64(next) })).status).toBe(201)
    const events = await server.app.deps.database.read((tx) =>
      tx.db
        .selectFrom('audit_events')
        .where('resource_id', '=', id)
        .where('action', '=', 'state-version.rollback')
        .select('details')
        .execute(),
    )
    expect(events.map(({ details }) => JSON.parse(details))).toMatchObject([
      { serial: 100, size: Buffer.byteLength(expected), 'workspace-id': workspaceId, to: old },
    ])
  })

  test.each([
    ['a serial without beginning or end of a chunk', 0],
    ['one that lies across two chunks', 256 * 1024 - 14],
    ['one at the end of a chunk', 256 * 1024 - 16],
    ['one at the beginning of a chunk', 256 * 1024 - 11],
  ])('rewrites %s, and no digit of it is lost', async (_, filler) => {
    const workspaceId = await lockedWorkspace()
    const state = (serial: string) =>
      `{${' '.repeat(filler)}"serial":${serial},"version":4,"outputs":{"big":{"value":"${'x'.repeat(300_000)}"}}}`
    const old = await store(workspaceId, state('18446744073709551615'), { serial: 9007199254740989 })
    const back = await rollBack(client, workspaceId, old)
    expect(back.json.data.attributes.serial).toBe(9007199254740990)
    expect(back.text).toContain('"serial":9007199254740990')
    const text = await download(back.json.data.id)
    expect(differenceOf(text, state('9007199254740990'))).toBeUndefined()
    expect((await rollBack(client, workspaceId, back.json.data.id)).status).toBe(201)
    const over = await rollBack(client, workspaceId, old)
    expect([over.status, over.json.errors[0].detail]).toEqual([
      409,
      'there is no higher serial number than the present one',
    ])
  })

  test('of a serial that comes twice it is the last one that counts', async () => {
    const workspaceId = await lockedWorkspace()
    const old = await store(workspaceId, '{"serial":1,"version":4,"serial":2}', { serial: 2 })
    const back = await rollBack(client, workspaceId, old)
    expect(await download(back.json.data.id)).toBe('{"serial":1,"version":4,"serial":3}')
  })

  test('a state whose serial cannot be written is refused, and nothing is changed', async () => {
    const encrypted = '{"serial":1,"lineage":"l","meta":{},"encrypted_data":"AAAA","encryption_version":"v0"}'
    for (const [state, reason] of [
      [encrypted, 'the state is encrypted'],
      ['{"version":4}', 'no serial number'],
      ['{"version":4,"serial":"1"}', 'no serial number'],
      ['{"version":4,"serial":1.0}', 'no serial number'],
    ] as const) {
      const workspaceId = await lockedWorkspace()
      const id = await store(workspaceId, state, { serial: 1 })
      const refused = await rollBack(client, workspaceId, id)
      expect(refused.status).toBe(422)
      expect(refused.json.errors[0]).toMatchObject({ source: { pointer: POINTER } })
      expect(refused.json.errors[0].detail).toContain(reason)
      const current = await client.get(`/workspaces/${workspaceId}/current-state-version`)
      expect(current.json.data.id).toBe(id)
    }
  })

  test('only to a finalized version of the same workspace, with one text for all others', async () => {
    const workspaceId = await lockedWorkspace()
    const old = await store(workspaceId, stateText('{}', 1), { serial: 1 })
    await store(workspaceId, stateText('{}', 2), { serial: 2 })
    const elsewhere = await store(await lockedWorkspace(), stateText('{}', 1), { serial: 1 })
    const stranger = await createTestOrganization(server)
    const theirs = await createWorkspace(stranger)
    await lock(stranger.owner.client, theirs)
    const text = stateText('{}', 1)
    const hidden = await postState(stranger.owner.client, theirs, text, { state: base64(text) })
    const pending = await postState(client, workspaceId, stateText('{}', 3))
    await client.post(`/state-versions/${old}/actions/soft_delete_backing_data`)
    const answers = new Set<string>()
    for (const id of [
      elsewhere,
      hidden.json.data.id,
      pending.json.data.id,
      old,
      'sv-zzzzzzzzzzzzzzzz',
      'x',
    ]) {
      const refused = await rollBack(client, workspaceId, id)
      expect(refused.status).toBe(422)
      answers.add(refused.text)
    }
    expect(answers.size).toBe(1)
    await client.post(`/state-versions/${old}/actions/restore_backing_data`)
    expect((await rollBack(client, workspaceId, old)).status).toBe(201)
    // A newer version discards the one that waits for its upload.
    expect((await client.get(`/state-versions/${pending.json.data.id}`)).json.data.attributes.status).toBe(
      'discarded',
    )
  })

  test('by whoever holds the lock and may write states, with a body that says to what', async () => {
    const workspaceId = await lockedWorkspace()
    const old = await store(workspaceId, stateText('{}', 1), { serial: 1 })
    const [writers, readers] = [await createTeam(organization), await createTeam(organization)]
    await grantWorkspace(organization, writers, workspaceId, { access: 'write' })
    await grantWorkspace(organization, readers, workspaceId, { access: 'read' })
    const writer = await addMember(server, organization, [writers])
    const reader = await addMember(server, organization, [readers])
    const locked = await rollBack(writer.client, workspaceId, old)
    expect([locked.status, locked.json.errors[0].detail]).toEqual([
      409,
      expect.stringContaining('is locked by User'),
    ])
    expect((await rollBack(reader.client, workspaceId, old)).status).toBe(404)
    const path = `/workspaces/${workspaceId}/state-versions`
    for (const [sent, pointer] of [
      [{ data: { type: 'state-versions' } }, POINTER],
      [body('runs', {}, { 'rollback-state-version': { data: null } }), '/data/type'],
      ['[', ''],
      [undefined, ''],
    ] as const) {
      const refused = await client.patch(path, sent)
      expect([refused.status, refused.json.errors[0].source.pointer]).toEqual([422, pointer])
    }
    await client.post(`/workspaces/${workspaceId}/actions/unlock`)
    const unlocked = await rollBack(client, workspaceId, old)
    expect([unlocked.status, unlocked.json.errors[0].detail]).toEqual([
      409,
      'This workspace is not locked and will only accept state uploads when locked',
    ])
    await lock(writer.client, workspaceId)
    expect((await rollBack(writer.client, workspaceId, old)).status).toBe(201)
  })

  test('the next serial is above every version, also where an older one was made current by force', async () => {
    const workspaceId = await lockedWorkspace()
    const old = await store(workspaceId, stateText('{}', 5), { serial: 5 })
    await store(workspaceId, stateText('{}', 2), { serial: 2, force: true })
    expect((await rollBack(client, workspaceId, old)).json.data.attributes.serial).toBe(6)
  })

  test('one after the other: of many at once those that come in the way of another are told so', async () => {
    const workspaceId = await lockedWorkspace()
    const old = await store(workspaceId, stateText('{}', 1), { serial: 1 })
    const answers = await Promise.all(Array.from({ length: 20 }, () => rollBack(client, workspaceId, old)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses).toContain(201)
    expect(statuses.filter((status) => status !== 201 && status !== 409 && status !== 503)).toEqual([])
    const made = statuses.filter((status) => status === 201).length
    const current = await client.get(`/workspaces/${workspaceId}/current-state-version`)
    expect(current.json.data.attributes.serial).toBe(1 + made)
    expect((await rollBack(client, workspaceId, old)).status).toBe(201)
  })

  test('one that its server left in the middle counts for nothing, and is in nobody’s way', async () => {
    const workspaceId = await lockedWorkspace()
    const old = await store(workspaceId, stateText('{}', 1), { serial: 1 })
    const { states, database } = server.app.deps
    const receive = vi.spyOn(states, 'receive')
    const [left, reached] = [Promise.withResolvers<never>(), Promise.withResolvers<void>()]
    receive.mockImplementationOnce(() => {
      reached.resolve()
      return left.promise
    })
    const first = rollBack(client, workspaceId, old)
    await reached.promise
    const second = await rollBack(client, workspaceId, old)
    expect([second.status, second.json.errors[0].detail]).toEqual([
      409,
      'another rollback of this workspace is under way',
    ])
    // Only a discarded version is left, and a client can use the same serial.
    const next = stateText('{}', 2)
    expect((await postState(client, workspaceId, next, { state: base64(next) })).status).toBe(201)
    await server.passTime(61_000)
    expect((await rollBack(client, workspaceId, old)).json.data.attributes.serial).toBe(3)
    expect((await client.post(`/workspaces/${workspaceId}/actions/unlock`)).status).toBe(200)
    left.reject(new Error('gone'))
    expect((await first).status).toBe(500)
    const rows = await database.read((tx) =>
      tx.db
        .selectFrom('state_versions')
        .where('workspace_id', '=', workspaceId)
        .select(['serial', 'status'])
        .orderBy('serial')
        .orderBy('status')
        .execute(),
    )
    expect(rows.map(({ serial, status }) => `${serial} ${status}`)).toEqual([
      '1 finalized',
      '2 discarded',
      '2 finalized',
      '3 finalized',
    ])
  })

  test('a slow one is not swept away while it is written', async () => {
    const workspaceId = await lockedWorkspace()
    const state = (serial: number) => `{"version":4,"serial":${serial},"filler":"${'x'.repeat(1_000_000)}"}`
    const old = await store(workspaceId, state(1), { serial: 1 })
    const { states, database, config } = server.app.deps
    const sweep = new StateSweep(database, config, server.clock, pino({ level: 'silent' }))
    const content = states.content.bind(states)
    const slow = vi.spyOn(states, 'content').mockImplementation(async function* (...args) {
      for await (const bytes of content(...args)) {
        yield bytes
        await server.passTime(30_000)
        await sweep.sweep()
      }
    })
    const back = await rollBack(client, workspaceId, old)
    slow.mockRestore()
    expect(back.status, back.text).toBe(201)
    expect(differenceOf(await download(back.json.data.id), state(2))).toBeUndefined()
  })

  test('when its source is deleted for good meanwhile it is refused as for any other', async () => {
    const workspaceId = await lockedWorkspace()
    const old = await store(workspaceId, stateText('{}', 1), { serial: 1 })
    await store(workspaceId, stateText('{}', 2), { serial: 2 })
    const { states, database } = server.app.deps
    const receive = states.receive.bind(states)
    vi.spyOn(states, 'receive').mockImplementationOnce(async (...args) => {
      for (const action of ['soft_delete', 'permanently_delete']) {
        const done = await client.post(`/state-versions/${old}/actions/${action}_backing_data`)
        expect(done.status).toBe(200)
      }
      await vi.waitFor(async () => {
        const chunks = await database.read((tx) =>
          tx.db.selectFrom('state_chunks').where('state_version_id', '=', old).select('number').execute(),
        )
        expect(chunks).toEqual([])
      }, 10_000)
      return receive(...args)
    })
    const refused = await rollBack(client, workspaceId, old)
    expect([refused.status, refused.json.errors[0].source.pointer]).toEqual([422, POINTER])
  })

  test.each(['the lock is taken away', 'the content of its source is deleted'])(
    'nothing is rolled back if %s meanwhile',
    async (what) => {
      const workspaceId = await lockedWorkspace()
      const old = await store(workspaceId, stateText('{}', 1), { serial: 1 })
      await store(workspaceId, stateText('{}', 2), { serial: 2 })
      const { states } = server.app.deps
      const receive = states.receive.bind(states)
      vi.spyOn(states, 'receive').mockImplementationOnce(async (...args) => {
        const received = await receive(...args)
        const path = what.startsWith('the lock')
          ? `/workspaces/${workspaceId}/actions/force-unlock`
          : `/state-versions/${old}/actions/soft_delete_backing_data`
        expect((await client.post(path)).status).toBe(200)
        return received
      })
      const refused = await rollBack(client, workspaceId, old)
      expect([refused.status, refused.text]).toEqual([what.startsWith('the lock') ? 409 : 422, refused.text])
      const current = await client.get(`/workspaces/${workspaceId}/current-state-version`)
      expect(current.json.data.attributes).toMatchObject({ serial: 2 })
    },
  )

  test('a version that was made meanwhile is not covered by it', async () => {
    const workspaceId = await lockedWorkspace()
    const old = await store(workspaceId, stateText('{}', 1), { serial: 1 })
    const { states } = server.app.deps
    const receive = states.receive.bind(states)
    vi.spyOn(states, 'receive').mockImplementationOnce(async (...args) => {
      const next = stateText('{}', 2)
      expect((await postState(client, workspaceId, next, { state: base64(next) })).status).toBe(201)
      return receive(...args)
    })
    const refused = await rollBack(client, workspaceId, old)
    expect([refused.status, refused.json.errors[0].detail]).toEqual([
      409,
      'the state has changed since this rollback began; try it again',
    ])
    const current = await client.get(`/workspaces/${workspaceId}/current-state-version`)
    expect(current.json.data.attributes).toMatchObject({ serial: 2 })
    await vi.waitFor(async () => expect((await rollBack(client, workspaceId, old)).status).toBe(201))
  })
})
