import { expect, test } from 'vitest'
import { outputId } from '../src/outputs/output-ids.ts'
import { findStateVersion } from '../src/state-versions/state-version-store.ts'
import { existing } from '../src/core/existing.ts'
import type { Json } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { base64, createState, lock, postState } from './support/states.ts'
import { addMember, createTestOrganization, createWorkspace, made } from './support/world.ts'

const encrypted = (serial: number) =>
  `{"serial":${serial},"lineage":"l","meta":{},"encrypted_data":"AAAA","encryption_version":"v0"}`
const beside = (outputs: string) => ({ 'json-state-outputs': base64(outputs) })

onEachEngine('outputs of an encrypted state that came without them', (server) => {
  async function world(more: object = {}) {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const id = await createWorkspace(organization, { name: 'network' })
    await lock(client, id)
    const state = encrypted(1)
    const version = made(await postState(client, id, state, { state: base64(state), ...more }), 201).json.data
    return { organization, client, id, version }
  }
  const problem = (version: string) => ({
    status: '409',
    title: 'conflict',
    detail: `the outputs of the state version ${version} cannot be read: OpenTofu has encrypted its state, and the upload had no json-state-outputs`,
  })

  test('are refused with the reason in every list, in every include, and by id', async () => {
    const { organization, client, id, version } = await world()
    expect(version.attributes).toMatchObject({
      'resources-processed': true,
      'outputs-unreadable-reason': 'encrypted',
    })
    const row = await server.app.deps.database.read((tx) => findStateVersion(tx, version.id))
    const workspaces = `/organizations/${organization.name}/workspaces`
    for (const path of [
      `/workspaces/${id}/current-state-version-outputs`,
      `/workspaces/${id}/current-output-previews`,
      `/workspaces/${id}/current-output-previews?q=a`,
      `/state-versions/${version.id}/outputs`,
      `/state-versions/${version.id}/output-previews`,
      `/state-versions/${version.id}/output-changes`,
      `/state-versions/${version.id}?include=outputs`,
      `/workspaces/${id}/current-state-version?include=outputs`,
      `/workspaces/${id}?include=outputs`,
      `/workspaces/${id}?include=current_state_version.outputs`,
      `${workspaces}/network?include=outputs`,
      `${workspaces}?include=outputs`,
      `/state-version-outputs/${outputId(existing(row).output_key, 0)}`,
    ]) {
      const answer = await client.get(path)
      expect([path, answer.status, answer.json.errors]).toEqual([path, 409, [problem(version.id)]])
    }
    const plain = (await addMember(server, organization)).client
    expect((await plain.get(`/workspaces/${id}/current-state-version-outputs`)).status).toBe(409)
    const outsider = (await createTestOrganization(server)).owner.client
    expect((await outsider.get(`/workspaces/${id}/current-state-version-outputs`)).status).toBe(404)
    // What needs no outputs is answered.
    for (const path of [`/workspaces/${id}?include=current_state_version`, workspaces]) {
      expect((await client.get(path)).status).toBe(200)
    }
    const filter = `filter[organization][name]=${organization.name}&filter[workspace][name]=network`
    const { data } = (await client.get(`/state-versions?${filter}`)).json
    expect(data[0].attributes['outputs-unreadable-reason']).toBe('encrypted')
  })

  test('are named in the audit event of the upload, with the state in the request and at its URL', async () => {
    const { organization, client, id, version } = await world()
    const state = encrypted(2)
    const pending = made(await postState(client, id, state), 201).json.data
    expect(pending.attributes['outputs-unreadable-reason']).toBeNull()
    const uploaded = await fetch(pending.attributes['hosted-state-upload-url'], {
      method: 'PUT',
      body: state,
    })
    expect(uploaded.status).toBe(200)
    const readable = encrypted(3)
    const given = { state: base64(readable), ...beside('{}') }
    const third = made(await postState(client, id, readable, given), 201).json.data
    const { data } = (
      await client.get(
        `/organizations/${organization.name}/audit-events?filter[action]=state-version.finalize`,
      )
    ).json
    const reasons = Object.fromEntries(
      data.map(({ attributes }: Json) => [
        attributes.resource.id,
        attributes.details['outputs-unreadable-reason'],
      ]),
    )
    expect(reasons).toEqual({ [version.id]: 'encrypted', [pending.id]: 'encrypted', [third.id]: undefined })
  })

  test('are outputs again once a state has them, and a state with none stays an empty list', async () => {
    const { organization, client, id, version } = await world()
    const path = `/workspaces/${id}/current-state-version-outputs`
    const second = encrypted(2)
    made(await postState(client, id, second, { state: base64(second), ...beside('{}') }), 201)
    expect((await client.get(path)).json.data).toEqual([])
    const third = encrypted(3)
    const outputs = beside('{"a":{"sensitive":false,"type":"string","value":"b"}}')
    const read = made(await postState(client, id, third, { state: base64(third), ...outputs }), 201).json.data
    expect(read.attributes['outputs-unreadable-reason']).toBeNull()
    expect((await client.get(path)).json.data[0].attributes.value).toBe('b')
    // A comparison with a version whose outputs are unknown names that version.
    const changes = await client.get(`/state-versions/${read.id}/output-changes?since=${version.id}`)
    expect([changes.status, changes.json.errors]).toEqual([409, [problem(version.id)]])
    const open = await createState(organization, '{}')
    const plain = await client.get(`/state-versions/${open.stateVersionId}`)
    expect(plain.json.data.attributes['outputs-unreadable-reason']).toBeNull()
  })

  test('that could not be processed have another reason, and stay a fault of the server', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const { stateVersionId } = await createState(organization, '{"a": {"value": 1, "type": "number"}}')
    await server.app.deps.database.write((tx) =>
      tx.db
        .updateTable('state_versions')
        .set({ last_failure: 'broken', outputs_count: 0 })
        .where('id', '=', stateVersionId)
        .execute(),
    )
    const shown = await client.get(`/state-versions/${stateVersionId}`)
    expect(shown.json.data.attributes['outputs-unreadable-reason']).toBe('failed')
    expect((await client.get(`/state-versions/${stateVersionId}/outputs`)).status).toBe(500)
  })
})
