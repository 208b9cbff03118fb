import { request } from 'node:http'
import { expect, test } from 'vitest'
import { onEachEngine } from './support/on-each-engine.ts'
import type { TestServer } from './support/server.ts'
import { base64, createState, lock, md5Of, postState, stateText } from './support/states.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantWorkspace,
} from './support/world.ts'
import type { Client } from './support/client.ts'

const outputs = `{
  "url": {"value": "https://example.com/\\u00e9", "type": "string"},
  "big": {"value": 123456789012345678901234567890.10, "type": "number"},
  "password": {"value": "hunter2", "type": "string", "sensitive": true},
  "pair": {"value": ["a", 1.0], "type": ["tuple", ["string", "number"]]}
}`

/** Where the download URL and the upload URL of a version of this server begin, for a request with these headers. */
async function originsOf(server: TestServer, headers: Record<string, string>) {
  const organization = await createTestOrganization(server)
  const { client } = organization.owner
  const { workspaceId, stateVersionId } = await createState(organization, outputs)
  await lock(client, workspaceId)
  const pending = await postState(client, workspaceId, stateText(outputs, 2))
  const urlIn = async (id: string, name: string) =>
    (await client.get(`/state-versions/${id}`, headers)).json.data.attributes[name] as string
  const urls = [
    await urlIn(stateVersionId, 'hosted-state-download-url'),
    await urlIn(pending.json.data.id, 'hosted-state-upload-url'),
  ]
  return new Set(urls.map((url) => new URL(url).origin))
}

const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'proxy.example.com' }

onEachEngine('URLs of a server without a public address', (server) => {
  test('begin with the Host of the request, whatever is said to be forwarded', async () => {
    expect(await originsOf(server, forwarded)).toEqual(new Set([server.address]))
  })
})

onEachEngine('URLs of a server that trusts its proxy', { trustProxy: 'true' }, (server) => {
  test('begin with the forwarded scheme and host', async () => {
    expect(await originsOf(server, forwarded)).toEqual(new Set(['https://proxy.example.com']))
    const shouted = { ...forwarded, 'x-forwarded-proto': 'HTTPS' }
    expect(await originsOf(server, shouted)).toEqual(new Set(['https://proxy.example.com']))
    expect(await originsOf(server, {})).toEqual(new Set([server.address]))
  })
})

const publicAddress = { publicUrl: 'https://purser.example.com', trustProxy: 'true' }
onEachEngine('URLs of a server with a public address', publicAddress, (server) => {
  test('begin with that address', async () => {
    expect(await originsOf(server, forwarded)).toEqual(new Set([publicAddress.publicUrl]))
  })
})

onEachEngine('state versions', (server) => {
  test('a state that is posted is current at once, and its outputs are read to the digit', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const { workspaceId, stateVersionId } = await createState(organization, outputs)
    const current = await client.get(`/workspaces/${workspaceId}/current-state-version?include=outputs`)
    expect(current.status).toBe(200)
    expect(current.json.data.id).toBe(stateVersionId)
    expect(current.json.data.attributes).toMatchObject({
      status: 'finalized',
      'resources-processed': true,
      serial: 1,
    })
    expect(current.json.included).toHaveLength(4)
    const list = await client.get(`/state-versions/${stateVersionId}/outputs`)
    expect(list.text).toContain('"value":123456789012345678901234567890.10')
    expect(list.text).toContain(
      '"value":["a",1.0],"detailed-type":["tuple",["string","number"]],"detailed_type"',
    )
    expect(list.json.data.map((item: never) => item['attributes']['name'])).toEqual([
      'big',
      'pair',
      'password',
      'url',
    ])
    const password = list.json.data[2]
    const shown = await client.get(`/state-version-outputs/${password.id}`)
    expect(shown.json.data.attributes).toMatchObject({
      name: 'password',
      sensitive: true,
      value: 'hunter2',
      type: 'string',
    })
    expect(shown.headers.get('cache-control')).toBe('no-store')
  })

  test('a member without grants reads current outputs, sensitive ones as null, and nothing else of the state', async () => {
    const organization = await createTestOrganization(server)
    const { workspaceId, stateVersionId } = await createState(organization, outputs)
    const member = await addMember(server, organization)
    const current = await member.client.get(`/workspaces/${workspaceId}/current-state-version-outputs`)
    expect(current.status).toBe(200)
    const byName = Object.fromEntries(
      current.json.data.map((item: never) => [item['attributes']['name'], item['attributes']['value']]),
    )
    expect(byName).toMatchObject({ password: null, pair: ['a', 1] })
    const again = await member.client.get(`/workspaces/${workspaceId}/current-state-version-outputs`, {
      'if-none-match': current.headers.get('etag') as string,
    })
    expect(again.status).toBe(304)
    for (const path of [
      `/state-versions/${stateVersionId}/outputs`,
      `/state-versions/${stateVersionId}`,
      `/state-versions/${stateVersionId}/download`,
      `/workspaces/${workspaceId}/current-state-version`,
      `/state-version-outputs/${current.json.data[0].id}`,
    ]) {
      expect((await member.client.get(path)).status).toBe(404)
    }
  })

  test('read-outputs lets a team read every output, and no state', async () => {
    const organization = await createTestOrganization(server)
    const { workspaceId, stateVersionId } = await createState(organization, outputs)
    const teamId = await createTeam(organization)
    const access = { access: 'custom', 'state-versions': 'read-outputs' }
    await grantWorkspace(organization, teamId, workspaceId, access)
    const reader = await addMember(server, organization, [teamId])
    const list = await reader.client.get(`/state-versions/${stateVersionId}/outputs`)
    expect(list.json.data[2].attributes.value).toBe('hunter2')
    expect((await reader.client.get(`/workspaces/${workspaceId}/current-state-version`)).status).toBe(404)
  })

  test('a state is uploaded to its URL, repeated there, and refused with other bytes', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    const state = stateText(outputs)
    const unlocked = await postState(client, workspaceId, state)
    expect(unlocked.status).toBe(409)
    expect(unlocked.json.errors[0].detail).toContain('not locked')
    await lock(client, workspaceId)
    const made = await postState(client, workspaceId, state)
    expect(made.status).toBe(201)
    expect(made.json.data.attributes.status).toBe('pending')
    const url = made.json.data.attributes['hosted-state-upload-url']
    const anyone = server.client()
    expect((await client.post(`/workspaces/${workspaceId}/actions/unlock`)).status).toBe(400)
    const wrong = await anyone.request('PUT', url, stateText('{}'))
    expect(wrong.status).toBe(422)
    expect((await client.get(`/workspaces/${workspaceId}/current-state-version`)).status).toBe(404)
    const broken = await anyone.request('PUT', url, state.slice(0, -5))
    expect(broken.status).toBe(422)
    const put = await anyone.request('PUT', url, state, { 'content-type': 'application/octet-stream' })
    expect([put.status, put.text]).toEqual([200, ''])
    expect((await anyone.request('PUT', url, state)).status).toBe(200)
    expect((await anyone.request('PUT', url, stateText('{}'))).status).toBe(409)
    expect((await anyone.request('PUT', url.replace(/uploads\/./, 'uploads/~'), state)).status).toBe(404)
    const shown = await client.get(`/state-versions/${made.json.data.id}`)
    expect(shown.json.data.attributes).toMatchObject({
      status: 'finalized',
      size: Buffer.byteLength(state),
      'hosted-state-upload-url': null,
    })
    const download = await client.request('GET', shown.json.data.attributes['hosted-state-download-url'])
    expect(download.text).toBe(state)
    expect(md5Of(download.text)).toBe(md5Of(state))
    const jsonUrl = shown.json.data.attributes['hosted-json-state-upload-url']
    expect((await anyone.request('PUT', jsonUrl, '{"format_version":"1.0"}')).status).toBe(200)
    expect((await client.get(`/state-versions/${made.json.data.id}/json-download`)).text).toBe(
      '{"format_version":"1.0"}',
    )
    expect((await client.post(`/workspaces/${workspaceId}/actions/unlock`)).status).toBe(200)
  })

  test('serial, lineage and md5 are judged in their order', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const { workspaceId, stateVersionId } = await createState(organization, outputs)
    await lock(client, workspaceId)
    const same = stateText(outputs)
    const repeated = await postState(client, workspaceId, same, { state: base64(same) })
    expect([repeated.status, repeated.json.data.id]).toEqual([201, stateVersionId])
    const other = stateText('{}')
    expect((await postState(client, workspaceId, other, { state: base64(other) })).status).toBe(409)
    const next = stateText('{}', 2)
    const mistaken = await postState(client, workspaceId, next, { state: base64(next), md5: md5Of(same) })
    expect([mistaken.status, mistaken.json.errors[0].source]).toEqual([
      422,
      { pointer: '/data/attributes/md5' },
    ])
    const older = stateText('{}', 0)
    expect((await postState(client, workspaceId, older, { state: base64(older) })).status).toBe(412)
    const foreign = stateText('{}', 2, 'another')
    const refused = await postState(client, workspaceId, foreign, { state: base64(foreign) })
    expect([refused.status, refused.json.errors[0].detail]).toEqual([
      409,
      'The lineage provided in the state file does not match the value currently known',
    ])
    const forced = await postState(client, workspaceId, foreign, { state: base64(foreign), force: true })
    expect(forced.status).toBe(201)
    const half = { lineage: 'half a pair \ud800', force: true }
    const third = stateText('{}', 3)
    const halved = await postState(client, workspaceId, third, { ...half, state: base64(third) })
    expect(halved.status).toBe(201)
    const fourth = stateText('{}', 4)
    const again = { lineage: half.lineage, state: base64(fourth) }
    expect((await postState(client, workspaceId, fourth, again)).status).toBe(201)
    const bad = await postState(client, workspaceId, other, {
      serial: 'x',
      md5: undefined,
      state: base64('['),
    })
    expect(bad.status).toBe(422)
    expect(bad.json.errors.map((error: never) => error['source']['pointer'])).toEqual([
      '/data/attributes/serial',
      '/data/attributes/md5',
    ])
  })

  test('outputs too large for the finalizing transaction are processed a moment later', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const many = Array.from(
      { length: 3_000 },
      (_, n) => `"o${n}": {"value": "${'x'.repeat(500)}", "type": "string"}`,
    )
    const { workspaceId } = await createState(organization, `{${many.join(',')}}`)
    let answer = await client.get(`/workspaces/${workspaceId}/current-state-version-outputs`)
    for (let tries = 0; answer.status === 503 && tries < 500; tries++) {
      expect(answer.headers.get('retry-after')).toBe('1')
      await new Promise((resolve) => setTimeout(resolve, 20))
      answer = await client.get(`/workspaces/${workspaceId}/current-state-version-outputs`)
    }
    expect(answer.status).toBe(200)
    expect(answer.json.data).toHaveLength(3_000)
    expect(answer.json.data[0].attributes.name).toBe('o0')
  })

  test("a workspace's outputs are included as outputs:read or outputs:read-current lets the caller read them", async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const { workspaceId } = await createState(organization, outputs)
    const locking = await createTeam(organization)
    await grantWorkspace(organization, locking, workspaceId, { access: 'custom', 'workspace-locking': true })
    const member = await addMember(server, organization, [locking])
    const token = await client.post(`/organizations/${organization.name}/authentication-token`)
    const asOrganization = server.client(token.json.data.attributes.token)
    const path = `/workspaces/${workspaceId}`
    const included = async (who: Client) => {
      const { json } = await who.get(`${path}?include=outputs`)
      expect(json.data.relationships.outputs.data).toHaveLength(json.included.length)
      const items = json.included as { attributes: { name: string; value: unknown } }[]
      return Object.fromEntries(items.map(({ attributes: { name, value } }) => [name, value]))
    }
    expect((await included(client)).password).toBe('hunter2')
    expect(await included(member.client)).toMatchObject({ password: null, pair: ['a', 1] })
    // An organization token may not read outputs, on either route.
    expect((await asOrganization.get(`${path}/current-state-version-outputs`)).status).toBe(404)
    const { relationships } = (await asOrganization.get(path)).json.data
    expect(relationships['current-state-version'].data).toBeNull()
    expect(await included(asOrganization)).toEqual({})
  })

  test('an encrypted state has the outputs that came beside it', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    const state = '{"serial":1,"lineage":"l","meta":{},"encrypted_data":"AAAA","encryption_version":"v0"}'
    const beside = base64('{"a":{"sensitive":false,"type":"string","value":"b"}}')
    const made = await postState(client, workspaceId, state, {
      state: base64(state),
      'json-state-outputs': beside,
    })
    expect(made.status).toBe(201)
    const current = await client.get(`/workspaces/${workspaceId}/current-state-version-outputs`)
    expect(current.json.data[0].attributes).toMatchObject({ name: 'a', value: 'b' })
  })

  test('outputs beside an encrypted state may come twice: before the state, and with it', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    const state = '{"serial":1,"lineage":"l","meta":{},"encrypted_data":"AAAA","encryption_version":"v0"}'
    const beside = { 'json-state-outputs': base64('{"a":{"sensitive":false,"type":"string","value":"b"}}') }
    const pending = await postState(client, workspaceId, state, beside)
    expect([pending.status, pending.json.data.attributes.status]).toEqual([201, 'pending'])
    const made = await postState(client, workspaceId, state, { ...beside, state: base64(state) })
    expect([made.status, made.json.data?.id]).toEqual([201, pending.json.data.id])
    const current = await client.get(`/workspaces/${workspaceId}/current-state-version-outputs`)
    expect(current.json.data[0].attributes).toMatchObject({ name: 'a', value: 'b' })
  })

  test('a lock that is taken away while the body arrives is missing at its end', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    const state = stateText('{}')
    const attributes = { serial: 1, md5: md5Of(state), state: base64(state) }
    const text = JSON.stringify(body('state-versions', attributes))
    const answered = new Promise<number | undefined>((resolve, reject) => {
      const sending = request(
        `${server.address}/api/v2/workspaces/${workspaceId}/state-versions`,
        {
          method: 'POST',
          headers: {
            authorization: `Bearer ${client.token}`,
            'content-type': 'application/vnd.api+json',
            'content-length': String(text.length),
          },
        },
        (response) => {
          response.resume()
          resolve(response.statusCode)
        },
      )
      sending.on('error', reject)
      sending.write(text.slice(0, 20))
      void (async () => {
        // The server has checked the lock before this one.
        await client.get(`/workspaces/${workspaceId}`)
        expect((await client.post(`/workspaces/${workspaceId}/actions/force-unlock`)).status).toBe(200)
        sending.end(text.slice(20))
      })().catch(reject)
    })
    expect(await answered).toBe(409)
    expect((await client.get(`/workspaces/${workspaceId}/current-state-version`)).status).toBe(404)
  })

  test('a state that is not encrypted has its own outputs, not those that came beside it', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    const state = stateText('{"a":{"value":"own","type":"string"}}')
    const beside = base64('{"a":{"sensitive":false,"type":"string","value":"beside"},"b":{"value":1}}')
    const made = await postState(client, workspaceId, state, {
      state: base64(state),
      'json-state-outputs': beside,
    })
    expect([made.status, made.text]).toEqual([201, made.text])
    const current = await client.get(`/workspaces/${workspaceId}/current-state-version-outputs`)
    expect(current.json.data.map(({ attributes }: never) => attributes)).toEqual([
      expect.objectContaining({ name: 'a', value: 'own' }),
    ])
  })

  test('a discarded version gives its serial free', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const { workspaceId } = await createState(organization, outputs)
    await lock(client, workspaceId)
    const text = stateText(outputs, 2)
    const discarded = (await postState(client, workspaceId, text)).json.data.id
    expect((await client.post(`/workspaces/${workspaceId}/actions/force-unlock`)).status).toBe(200)
    await lock(client, workspaceId)
    const again = await postState(client, workspaceId, text)
    expect([again.status, again.json.data.attributes.status]).toEqual([201, 'pending'])
    expect(again.json.data.id).not.toBe(discarded)
    expect((await client.post(`/workspaces/${workspaceId}/actions/force-unlock`)).status).toBe(200)
    await lock(client, workspaceId)
    const other = stateText('{}', 2)
    expect((await postState(client, workspaceId, other, { state: base64(other) })).status).toBe(201)
  })

  test('name a secret team as their creator only to callers who may see it', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const workspaceId = await createWorkspace(organization)
    const secret = await createTeam(organization)
    const readers = await createTeam(organization, { visibility: 'organization' })
    await grantWorkspace(organization, secret, workspaceId, { access: 'write' })
    await grantWorkspace(organization, readers, workspaceId, { access: 'read' })
    const token = await owner.client.post(`/teams/${secret}/authentication-token`)
    const writer = server.client(token.json.data.attributes.token)
    await lock(writer, workspaceId)
    const made = await postState(writer, workspaceId, stateText(outputs), {
      state: base64(stateText(outputs)),
    })
    const own = { id: secret, type: 'teams' }
    expect(made.json.data.relationships['created-by'].data).toEqual(own)
    const reader = await addMember(server, organization, [readers])
    const member = await addMember(server, organization, [secret])
    const list = `/state-versions?filter[organization][name]=${organization.name}&filter[workspace][name]=`
    const workspace = (await owner.client.get(`/workspaces/${workspaceId}`)).json.data.attributes.name
    for (const path of [
      `/state-versions/${made.json.data.id}`,
      `/workspaces/${workspaceId}/current-state-version`,
      list + workspace,
    ]) {
      for (const [client, creator] of [
        [owner.client, own],
        [member.client, own],
        [reader.client, null],
      ] as const) {
        const [shown] = [(await client.get(path)).json.data].flat()
        expect(shown.relationships['created-by'].data, path).toEqual(creator)
      }
    }
  })
})
