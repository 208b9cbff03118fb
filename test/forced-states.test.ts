import { expect, test } from 'vitest'
import type { Json, Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { base64, lock, md5Of, postState, stateText } from './support/states.ts'
import {
  body,
  createTestOrganization,
  createWorkspace,
  made,
  type TestOrganization,
} from './support/world.ts'

const valued = (value: string, serial: number) =>
  stateText(`{"a": {"value": "${value}", "type": "string"}}`, serial)

onEachEngine('states that are pushed by force', (server) => {
  /** A locked workspace with the serials 1 to 4, whose output has the serial as its text. */
  async function history(): Promise<{
    organization: TestOrganization
    id: string
    name: string
    versions: string[]
    push: (state: string, more?: object) => Promise<Response>
    current: () => Promise<[serial: number, value: string]>
    serials: () => Promise<number[]>
  }> {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const id = await createWorkspace(organization, { name: 'network' })
    await lock(client, id)
    const push = (state: string, more: object = {}) =>
      postState(client, id, state, { state: base64(state), ...more })
    const versions: string[] = []
    for (const serial of [1, 2, 3, 4]) {
      versions.push(made(await push(valued(String(serial), serial)), 201).json.data.id)
    }
    return {
      organization,
      id,
      name: 'network',
      versions,
      push,
      current: async () => {
        const version = made(await client.get(`/workspaces/${id}/current-state-version`), 200).json.data
        const outputs = made(await client.get(`/workspaces/${id}/current-state-version-outputs`), 200)
        return [version.attributes.serial, outputs.json.data[0].attributes.value]
      },
      serials: async () => {
        const filter = `filter[organization][name]=${organization.name}&filter[workspace][name]=network`
        const { data } = made(await client.get(`/state-versions?${filter}`), 200).json
        return data.map((each: Json) => each.attributes.serial)
      },
    }
  }

  test('a serial that exists is accepted, becomes current, and without force names the rollback', async () => {
    const { push, current, serials, organization } = await history()
    const edited = valued('edited', 2)
    const refused = await push(edited)
    expect([refused.status, refused.json.errors[0].detail]).toEqual([
      409,
      'The MD5 hash of the state provided does not match what is currently known for the same serial number. ' +
        'To make an older state the current one, roll back to its version, or push it with force',
    ])
    expect(await current()).toEqual([4, '4'])
    const forced = made(await push(edited, { force: true }), 201)
    expect(await current()).toEqual([2, 'edited'])
    expect(await serials()).toEqual([2, 4, 3, 2, 1])
    // A retry changes nothing, with force and without.
    for (const more of [{ force: true }, {}]) {
      expect(made(await push(edited, more), 201).json.data.id).toBe(forced.json.data.id)
    }
    expect(await serials()).toEqual([2, 4, 3, 2, 1])
    const events = await organization.owner.client.get(
      `/organizations/${organization.name}/audit-events?filter[resource-id]=${forced.json.data.id}`,
    )
    const created = events.json.data.find((each: Json) => each.attributes.action === 'state-version.create')
    expect(created.attributes.details).toMatchObject({ serial: 2, force: true })
  })

  test('the serial of the current state is accepted, too', async () => {
    const { push, current } = await history()
    expect((await push(valued('other', 4))).status).toBe(409)
    made(await push(valued('other', 4), { force: true }), 201)
    expect(await current()).toEqual([4, 'other'])
  })

  test('the bytes of an older version become current as a new version', async () => {
    const { id, organization, versions, push, current, serials } = await history()
    const { client } = organization.owner
    const old = valued('2', 2)
    // Without force it is the answer to a repeated request, and nothing changes.
    expect(made(await push(old), 201).json.data.id).toBe(versions[1])
    expect(await current()).toEqual([4, '4'])
    // As OpenTofu does: the version first, then its bytes.
    const pending = made(await push(old, { force: true, state: undefined }), 201).json.data
    expect([pending.attributes.status, versions.includes(pending.id)]).toEqual(['pending', false])
    const again = made(await push(old, { force: true, state: undefined }), 201).json.data
    expect(again.id).toBe(pending.id)
    const uploaded = await fetch(pending.attributes['hosted-state-upload-url'], { method: 'PUT', body: old })
    expect(uploaded.status).toBe(200)
    expect(await current()).toEqual([2, '2'])
    expect(await serials()).toEqual([2, 4, 3, 2, 1])
    const shown = made(await client.get(`/state-versions/${pending.id}`), 200).json.data
    expect(shown.relationships['previous-state-version'].data.id).toBe(versions[3])
    expect(made(await client.post(`/workspaces/${id}/actions/unlock`), 200).status).toBe(200)
  })

  test('the next serials need no force, although versions of the past have them', async () => {
    const { push, current, serials } = await history()
    made(await push(valued('1', 1), { force: true }), 201)
    // Byte for byte the old version with serial 2, and other bytes than the old one with serial 3.
    made(await push(valued('2', 2)), 201)
    expect(await current()).toEqual([2, '2'])
    made(await push(valued('new', 3)), 201)
    expect(await current()).toEqual([3, 'new'])
    expect(await serials()).toEqual([3, 2, 1, 4, 3, 2, 1])
    expect((await push(valued('newer', 3))).status).toBe(409)
    expect((await push(valued('lower', 1))).status).toBe(409)
    const foreign = stateText('{}', 4, 'another lineage')
    expect((await push(foreign)).json.errors[0].detail).toContain('lineage')
    expect((await push(stateText('{}', 0))).status).toBe(412)
  })

  test('a pending version with the serial is discarded by force, and stays in the way without', async () => {
    const { push, current, organization } = await history()
    const pending = made(await push(valued('five', 5), { state: undefined }), 201).json.data
    expect((await push(valued('other', 5))).status).toBe(409)
    made(await push(valued('other', 5), { force: true }), 201)
    expect(await current()).toEqual([5, 'other'])
    const shown = await organization.owner.client.get(`/state-versions/${pending.id}`)
    expect(shown.json.data.attributes.status).toBe('discarded')
  })

  test('a rollback after it gets a serial that was never used', async () => {
    const { id, organization, versions, push, current } = await history()
    made(await push(valued('1', 1), { force: true }), 201)
    const relation = { 'rollback-state-version': { data: { type: 'state-versions', id: versions[2] } } }
    const rolled = await organization.owner.client.patch(
      `/workspaces/${id}/state-versions`,
      body('state-versions', {}, relation),
    )
    expect(made(rolled, 201).json.data.attributes.serial).toBe(5)
    expect(await current()).toEqual([5, '3'])
  })

  test('deleting safely judges the state that force made current', async () => {
    const { id, organization, push } = await history()
    const { client } = organization.owner
    const managed = stateText('{}', 2).replace(
      '"resources": []',
      '"resources": [{"mode": "managed", "type": "t", "name": "n", "provider": "p", "instances": []}]',
    )
    made(await push(managed, { force: true, md5: md5Of(managed) }), 201)
    made(await client.post(`/workspaces/${id}/actions/unlock`), 200)
    const kept = await client.post(`/workspaces/${id}/actions/safe-delete`)
    expect([kept.status, kept.text]).toEqual([409, expect.stringContaining('managed resource')])
  })
})
