import { request, type ClientRequest } from 'node:http'
import { beforeAll, expect, test, vi } from 'vitest'
import { findStateVersion, type StateVersionRow } from '../src/state-versions/state-version-store.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { base64, createState, lock, md5Of, postState, stateText } from './support/states.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantWorkspace,
  type TestOrganization,
} from './support/world.ts'

const DAY_MS = 86_400_000
const outputs = '{"a": {"value": 1, "type": "number"}}'

onEachEngine('uploads of states', { stateVersionsKept: '2' }, (server) => {
  let organization: TestOrganization
  beforeAll(async () => {
    organization = await createTestOrganization(server)
  })

  const put = (url: string, content: string | Uint8Array) => server.client().request('PUT', url, content)
  /** A version that waits for its state, in a workspace that the owner has locked. */
  const pendingState = async (state = stateText(outputs), more: object = {}) => {
    const workspaceId = await createWorkspace(organization)
    const { client } = organization.owner
    await lock(client, workspaceId)
    const made = await postState(client, workspaceId, state, more)
    expect(made.status).toBe(201)
    const { id, attributes } = made.json.data
    return {
      workspaceId,
      id: id as string,
      stateUrl: attributes['hosted-state-upload-url'] as string,
      jsonUrl: attributes['hosted-json-state-upload-url'] as string,
    }
  }

  test('an upload is judged in one read, which takes its turn among those without a token', async () => {
    const { id, stateUrl } = await pendingState()
    const read = vi.spyOn(server.app.deps.database, 'read')
    try {
      expect((await put(stateUrl, stateText(outputs))).status).toBe(200)
      const turns = read.mock.calls.map(([, options]) => options).filter((one) => one?.withoutToken)
      expect(turns).toEqual([{ account: id, withoutToken: true }])
    } finally {
      read.mockRestore()
    }
  })

  test('upload URLs are shown to whom they were given, and to no other writer', async () => {
    const { workspaceId, id } = await pendingState()
    const teamId = await createTeam(organization)
    await grantWorkspace(organization, teamId, workspaceId, { access: 'write' })
    const writer = await addMember(server, organization, [teamId])
    const theirs = (await writer.client.get(`/state-versions/${id}`)).json.data.attributes
    expect([
      theirs.status,
      theirs['hosted-state-upload-url'],
      theirs['hosted-json-state-upload-url'],
    ]).toEqual(['pending', null, null])
    const own = (await organization.owner.client.get(`/state-versions/${id}`)).json.data.attributes
    expect([own['hosted-state-upload-url'], own['hosted-json-state-upload-url']]).toEqual([
      expect.stringContaining('/state'),
      expect.stringContaining('/json-state'),
    ])
  })

  test('after the lock has changed hands nothing arrives any more, beside what has arrived', async () => {
    const { client } = organization.owner
    const { workspaceId, stateUrl, jsonUrl } = await pendingState()
    expect((await put(stateUrl, stateText(outputs))).status).toBe(200)
    expect((await client.post(`/workspaces/${workspaceId}/actions/unlock`)).status).toBe(200)
    expect((await put(jsonUrl, '{}')).status).toBe(409)
    expect((await server.admin.post(`/workspaces/${workspaceId}/actions/lock`)).status).toBe(200)
    const late = await put(jsonUrl, '{}')
    expect([late.status, late.json.errors[0].detail]).toEqual([
      409,
      'the lock of the workspace has changed hands since this state version was created',
    ])
    expect((await put(stateUrl, stateText(outputs))).status).toBe(200)
  })

  test('a lock that ends while the bytes arrive is named before their hash', async () => {
    const { client } = organization.owner
    const { workspaceId, stateUrl } = await pendingState()
    const other = stateText('{"a": {"value": 2, "type": "number"}}')
    const answered = new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const headers = { 'content-length': Buffer.byteLength(other) }
      const sending = request(stateUrl, { method: 'PUT', headers }, (response) => {
        let text = ''
        response.on('data', (bytes: Buffer) => (text += bytes.toString()))
        response.on('end', () => resolve({ status: response.statusCode, text }))
      })
      sending.on('error', reject)
      sending.write(other.slice(0, 20))
      void (async () => {
        // The server has checked the lock before this one.
        await client.get(`/workspaces/${workspaceId}`)
        expect((await client.post(`/workspaces/${workspaceId}/actions/force-unlock`)).status).toBe(200)
        sending.end(other.slice(20))
      })().catch(reject)
    })
    const { status, text } = await answered
    expect([status, text]).toEqual([409, expect.stringContaining('this state version was discarded')])
  })

  test('of a version that was discarded nothing can be uploaded or downloaded', async () => {
    const { client } = organization.owner
    const { workspaceId, id, stateUrl, jsonUrl } = await pendingState()
    expect((await put(jsonUrl, '{}')).status).toBe(200)
    expect((await client.get(`/state-versions/${id}/json-download`)).text).toBe('{}')
    expect((await client.post(`/workspaces/${workspaceId}/actions/force-unlock`)).status).toBe(200)
    expect((await client.get(`/state-versions/${id}`)).json.data.attributes).toMatchObject({
      status: 'discarded',
      'hosted-state-upload-url': null,
      'hosted-json-state-upload-url': null,
      'hosted-json-state-download-url': null,
    })
    expect((await client.get(`/state-versions/${id}/json-download`)).status).toBe(404)
    expect((await client.get(`/state-versions/${id}/download`)).status).toBe(404)
    expect((await put(stateUrl, stateText(outputs))).status).toBe(409)
    expect((await put(jsonUrl, '{}')).status).toBe(409)
    // Nor is it offered when nothing was uploaded before.
    const empty = await pendingState()
    expect((await client.post(`/workspaces/${empty.workspaceId}/actions/force-unlock`)).status).toBe(200)
    expect((await client.get(`/state-versions/${empty.id}`)).json.data.attributes).toMatchObject({
      status: 'discarded',
      'hosted-state-upload-url': null,
      'hosted-json-state-upload-url': null,
    })
    expect((await put(empty.jsonUrl, '{}')).status).toBe(409)
  })

  test('a URL is good for 24 hours', async () => {
    const { id, stateUrl, jsonUrl } = await pendingState()
    server.clock.advance(DAY_MS - 60_000)
    expect((await put(jsonUrl, '{}')).status).toBe(200)
    server.clock.advance(60_001)
    for (const url of [stateUrl, jsonUrl]) expect((await put(url, stateText(outputs))).status).toBe(404)
    expect((await organization.owner.client.get(`/state-versions/${id}`)).json.data.attributes.status).toBe(
      'pending',
    )
  })

  test('one URL takes the same bytes from many at once, and one content of several', async () => {
    const { id, stateUrl, jsonUrl } = await pendingState()
    const states = await Promise.all(Array.from({ length: 10 }, () => put(stateUrl, stateText(outputs))))
    expect(states.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    const contents = ['{"n":0}', '{"n":1}']
    const jsons = await Promise.all(
      Array.from({ length: 10 }, (_, n) => put(jsonUrl, contents[n % 2] as string)),
    )
    const kept = (await organization.owner.client.get(`/state-versions/${id}/json-download`)).text
    expect(jsons.map(({ status }) => status)).toEqual(
      Array.from({ length: 10 }, (_, n) => (contents[n % 2] === kept ? 200 : 409)),
    )
  })

  test('one version has no more than sixteen uploads at once, and others are not kept waiting by them', async () => {
    const { stateUrl } = await pendingState()
    const stalled = new Set<ClientRequest>()
    let isOver = false
    const stall = () => {
      const upload = request(stateUrl, {
        method: 'PUT',
        headers: { 'content-length': 1_000, expect: '100-continue' },
      })
      upload.on('error', () => {})
      // The upload below may come first and take a place, so that this one is refused: then it tries again.
      upload.once('response', (response) => {
        response.resume()
        stalled.delete(upload)
        if (!isOver) stall()
      })
      upload.flushHeaders()
      stalled.add(upload)
    }
    for (let count = 0; count < 16; count++) stall()
    await vi.waitFor(async () => {
      const refused = await put(stateUrl, '{}')
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    }, 20_000)
    const { stateUrl: otherUrl } = await pendingState()
    expect((await put(otherUrl, stateText(outputs))).status).toBe(200)
    isOver = true
    for (const upload of stalled) upload.destroy()
    await vi.waitFor(async () => expect((await put(stateUrl, stateText(outputs))).status).toBe(200), 20_000)
  })

  test('many who create the same version at once get the same one', async () => {
    const { client } = organization.owner
    const state = stateText(outputs)
    for (const more of [{}, { state: base64(state) }]) {
      const workspaceId = await createWorkspace(organization)
      await lock(client, workspaceId)
      const made = await Promise.all(
        Array.from({ length: 10 }, () => postState(client, workspaceId, state, more)),
      )
      expect(
        new Set(made.map(({ status, json }) => `${status} ${json.data.id} ${json.data.attributes.status}`))
          .size,
      ).toBe(1)
    }
  })

  test('a create with `state` completes the version that awaits it, with the outputs that come beside it', async () => {
    const state = '{"meta":{},"encrypted_data":"AAAA","encryption_version":"v0","serial":1,"lineage":"l"}'
    const { workspaceId, id } = await pendingState(state)
    const { client } = organization.owner
    const completed = await postState(client, workspaceId, state, {
      state: base64(state),
      'json-state': base64('{"format_version":"1.0"}'),
      'json-state-outputs': base64('{"a":{"sensitive":false,"type":"string","value":"b"}}'),
    })
    expect([completed.status, completed.json.data.id, completed.json.data.attributes.status]).toEqual([
      201,
      id,
      'finalized',
    ])
    const current = await client.get(`/workspaces/${workspaceId}/current-state-version-outputs`)
    expect(current.json.data[0].attributes).toMatchObject({ name: 'a', value: 'b' })
    expect((await client.get(`/state-versions/${id}/json-download`)).text).toBe('{"format_version":"1.0"}')
  })

  test('the newest versions are kept, and those that never came to be drive out none of them', async () => {
    const workspaceId = await createWorkspace(organization)
    const { client } = organization.owner
    await lock(client, workspaceId)
    const versions: string[] = []
    for (let serial = 1; serial <= 4; serial++) {
      for (const failed of [10, 20, 30]) {
        await postState(client, workspaceId, stateText('{}', serial * 100 + failed))
        // Give the next create a later time.
        server.clock.advance(1)
      }
      const state = stateText(outputs, serial)
      const made = await postState(client, workspaceId, state, { state: base64(state), force: true })
      versions.push(made.json.data.id)
      server.clock.advance(1)
    }
    const found = await Promise.all(
      versions.map(async (id) => (await client.get(`/state-versions/${id}/download`)).status),
    )
    expect(found).toEqual([404, 404, 200, 200])
    const { name } = (await client.get(`/workspaces/${workspaceId}`)).json.data.attributes
    const list = `/state-versions?filter[organization][name]=${organization.name}&filter[workspace][name]=${name}`
    expect((await client.get(`${list}&filter[status]=discarded`)).json.data).toHaveLength(2)
    expect((await client.get(`${list}&filter[status]=finalized`)).json.data).toHaveLength(2)
    // Of 16 versions, 4 are there. The events of the writes that removed the others name them, each once.
    const events = await client.get(`/organizations/${organization.name}/audit-events?page[size]=100`)
    const details: Record<string, string | string[]>[] = events.json.data.map(
      (event: never) => event['attributes']['details'],
    )
    const removed = details
      .filter((each) => each['workspace-id'] === workspaceId)
      .flatMap((each) => each['removed-state-versions'] ?? [])
    expect([removed.length, new Set(removed).size]).toEqual([12, 12])
    expect(removed).toEqual(expect.arrayContaining(versions.slice(0, 2)))
    const unknown = await client.get(`${list}&filter[status]=gone`)
    expect([unknown.status, unknown.json.errors[0].source]).toEqual([400, { parameter: 'filter[status]' }])
  })

  test('the first version beyond those that are kept is deleted at once', async () => {
    const workspaceId = await createWorkspace(organization)
    const { client } = organization.owner
    await lock(client, workspaceId)
    const there: number[][] = []
    const versions: string[] = []
    for (const serial of [1, 2, 3, 4]) {
      const state = stateText(outputs, serial)
      versions.push((await postState(client, workspaceId, state, { state: base64(state) })).json.data.id)
      there.push(
        await Promise.all(versions.map(async (id) => (await client.get(`/state-versions/${id}`)).status)),
      )
    }
    expect(there).toEqual([[200], [200, 200], [404, 200, 200], [404, 404, 200, 200]])
  })

  test('attributes of a create that are broken are refused, and quickly', async () => {
    const workspaceId = await createWorkspace(organization)
    const { client } = organization.owner
    await lock(client, workspaceId)
    const create = (attributes: object) =>
      client.post(
        `/workspaces/${workspaceId}/state-versions`,
        body('state-versions', { serial: 1, md5: md5Of(''), ...attributes }),
      )
    const refused = await create({ lineage: 'a\u0000b', state: `${' '.repeat(1_000_000)}!` })
    expect(refused.status).toBe(422)
    expect(refused.json.errors.map((error: never) => error['source']['pointer'])).toEqual([
      '/data/attributes/lineage',
      '/data/attributes/state',
    ])
    const spaced = stateText(outputs)
    const made = await create({
      md5: md5Of(spaced),
      state: ` ${base64(spaced).replaceAll(/.{76}/g, '$&\r\n')}\n`,
    })
    expect([made.status, made.json.data.attributes.size]).toEqual([201, Buffer.byteLength(spaced)])
  })

  test('others have their turn between the chunks of a large download', async () => {
    const state = stateText(`{"a": {"value": "${'x'.repeat(3 * 1024 * 1024)}"}}`)
    const { id, stateUrl } = await pendingState(state)
    expect((await put(stateUrl, state)).status).toBe(200)
    const { states, database } = server.app.deps
    const row = (await database.read((tx) => findStateVersion(tx, id))) as StateVersionRow
    let turns = 0
    const turn = () => {
      turns++
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    let chunks = 0
    for await (const _ of states.content(row, 'state')) chunks++
    clearImmediate(next)
    expect(chunks).toBeGreaterThan(10)
    expect(turns).toBeGreaterThanOrEqual(chunks)
  })

  test('the audit trail says how large a state was that came with its create', async () => {
    const { stateVersionId } = await createState(organization, outputs)
    const events = await server.app.deps.database.read((tx) =>
      tx.db
        .selectFrom('audit_events')
        .where('resource_id', '=', stateVersionId)
        .where('action', '=', 'state-version.finalize')
        .select('details')
        .execute(),
    )
    expect(JSON.parse(events[0]?.details as string)).toMatchObject({
      serial: 1,
      size: Buffer.byteLength(stateText(outputs)),
    })
  })
})
