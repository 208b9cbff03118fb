import { beforeAll, expect, test } from 'vitest'
import type { Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { base64, createState, lock, postState, stateText } from './support/states.ts'
import { createTestOrganization, createWorkspace, type TestOrganization } from './support/world.ts'

onEachEngine('repeated creates, lists and snapshots', (server) => {
  let organization: TestOrganization
  let client: Client
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    ;({ client } = organization.owner)
  })

  const post = async (workspaceId: string, serial: number, more: object = {}) => {
    const text = stateText(`{"n":{"value":${serial},"type":"number"}}`, serial)
    const made = await postState(client, workspaceId, text, { state: base64(text), ...more })
    expect(made.status, made.text).toBe(201)
    return made.json.data
  }
  const currentOf = async (workspaceId: string) => {
    const current = await client.get(`/workspaces/${workspaceId}/current-state-version`)
    return current.status === 200 ? (current.json.data.attributes.serial as number) : current.status
  }
  const list = (filters: Record<string, string>) =>
    client.get(`/state-versions?${new URLSearchParams(filters).toString()}`)

  test.each(['with its bytes', 'pending'])(
    'the same create, %s, is answered the same 30 times',
    async (how) => {
      const workspaceId = await createWorkspace(organization)
      await lock(client, workspaceId)
      const text = stateText('{"a":{"value":1,"type":"number"}}')
      const more = how === 'pending' ? {} : { state: base64(text) }
      const first = await postState(client, workspaceId, text, more)
      for (let n = 1; n < 15; n++) {
        const again = await postState(client, workspaceId, text, more)
        expect([again.status, again.text]).toEqual([201, first.text])
      }
      const atOnce = await Promise.all(
        Array.from({ length: 15 }, () => postState(client, workspaceId, text, more)),
      )
      expect(new Set(atOnce.map(({ status, text: answer }) => `${status} ${answer}`))).toEqual(
        new Set([`201 ${first.text}`]),
      )
      const rows = await server.app.deps.database.read((tx) =>
        tx.db.selectFrom('state_versions').where('workspace_id', '=', workspaceId).select('id').execute(),
      )
      expect(rows).toHaveLength(1)
    },
  )

  test('a list needs both names, and takes a status', async () => {
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    await post(workspaceId, 1)
    await post(workspaceId, 2)
    await postState(client, workspaceId, stateText('{}', 3))
    await postState(client, workspaceId, stateText('{}', 4))
    const { name } = (await client.get(`/workspaces/${workspaceId}`)).json.data.attributes
    const names = { 'filter[organization][name]': organization.name, 'filter[workspace][name]': name }
    const serials = async (status?: string) => {
      const { json } = await list(status === undefined ? names : { ...names, 'filter[status]': status })
      return json.data.map((item: never) => item['attributes']['serial'])
    }
    expect(await serials()).toEqual([4, 3, 2, 1])
    expect(await serials('finalized')).toEqual([2, 1])
    expect(await serials('pending')).toEqual([4])
    expect(await serials('discarded')).toEqual([3])
    expect(await serials('backing_data_soft_deleted')).toEqual([])
    const page = await list({ ...names, 'page[size]': '1', 'page[number]': '2' })
    expect(page.json.data[0].attributes.serial).toBe(3)
    expect(page.json.meta.pagination).toMatchObject({ 'total-count': 4, 'total-pages': 4 })
    expect(page.json.links.next).toContain('filter%5Bworkspace%5D%5Bname%5D')
    for (const missing of Object.keys(names)) {
      const rest = Object.fromEntries(Object.entries(names).filter(([key]) => key !== missing))
      const refused = await list(rest)
      expect([refused.status, refused.json.errors[0].source.parameter]).toEqual([400, missing])
    }
    expect((await list({})).json.errors).toHaveLength(2)
    expect((await list({ ...names, 'filter[status]': 'uploaded' })).status).toBe(400)
    expect((await list({ ...names, 'filter[workspace][name]': 'no-such' })).status).toBe(404)
    expect((await list({ ...names, 'filter[organization][name]': 'no-such' })).status).toBe(404)
    // Force-unlocking discards versions that wait for their upload.
    await client.post(`/workspaces/${workspaceId}/actions/force-unlock`)
    expect(await serials('pending')).toEqual([])
    expect(await serials('discarded')).toEqual([4, 3])
  })

  test('a snapshot is current once the workspace is unlocked, and not before', async () => {
    for (const unlock of ['unlock', 'force-unlock']) {
      const workspaceId = await createWorkspace(organization)
      await lock(client, workspaceId)
      const final = await post(workspaceId, 1)
      expect(final.attributes.intermediate).toBe(false)
      const first = await post(workspaceId, 2, { intermediate: true })
      expect(first.attributes).toMatchObject({ intermediate: true, status: 'finalized' })
      // The next snapshot follows it, and no serial is used twice.
      const second = await post(workspaceId, 3, { intermediate: true })
      const stale = stateText('{}', 3)
      expect((await postState(client, workspaceId, stale, { state: base64(stale) })).status).toBe(409)
      const other = stateText('{}', 4, 'another')
      expect((await postState(client, workspaceId, other, { state: base64(other) })).status).toBe(409)
      expect(await currentOf(workspaceId)).toBe(1)
      const outputs = await client.get(`/workspaces/${workspaceId}/current-state-version-outputs`)
      expect(outputs.json.data[0].attributes.value).toBe(1)
      const refused = await client.post(`/state-versions/${second.id}/actions/soft_delete_backing_data`)
      expect([refused.status, refused.json.errors[0].detail]).toEqual([
        400,
        expect.stringContaining('may yet become the current'),
      ])
      expect((await client.post(`/workspaces/${workspaceId}/actions/${unlock}`)).status).toBe(200)
      expect(await currentOf(workspaceId)).toBe(3)
      for (const { id } of [first, second]) {
        const shown = await client.get(`/state-versions/${id}`)
        expect(shown.json.data.attributes.intermediate).toBe(false)
      }
    }
  })

  test('a snapshot that never arrived does not become current', async () => {
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    await post(workspaceId, 1)
    const text = stateText('{}', 2)
    expect((await postState(client, workspaceId, text, { intermediate: true })).status).toBe(201)
    expect((await client.post(`/workspaces/${workspaceId}/actions/force-unlock`)).status).toBe(200)
    expect(await currentOf(workspaceId)).toBe(1)
  })

  test('no answer asks a client to send snapshots', async () => {
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    const [snapshot, state] = [stateText('{}', 1), stateText('{}', 2)]
    const made = await postState(client, workspaceId, snapshot, {
      state: base64(snapshot),
      intermediate: true,
    })
    const pending = await postState(client, workspaceId, state)
    const url = pending.json.data.attributes['hosted-state-upload-url']
    for (const { status, headers } of [made, pending, await client.request('PUT', url, state)]) {
      expect(status).toBeLessThan(300)
      expect(headers.get('x-terraform-snapshot-interval')).toBeNull()
    }
  })

  test('a version that is no snapshot is current at once, and the snapshots before it never are', async () => {
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    const snapshot = await post(workspaceId, 1, { intermediate: true })
    expect(await currentOf(workspaceId)).toBe(404)
    const deleted = () => client.post(`/state-versions/${snapshot.id}/actions/soft_delete_backing_data`)
    // It may yet become the current one.
    expect((await deleted()).status).toBe(400)
    const pending = await postState(client, workspaceId, stateText('{}', 2), { intermediate: null })
    expect(pending.json.data.attributes.intermediate).toBe(false)
    const put = await client.request(
      'PUT',
      pending.json.data.attributes['hosted-state-upload-url'],
      stateText('{}', 2),
    )
    expect(put.status).toBe(200)
    expect(await currentOf(workspaceId)).toBe(2)
    await client.post(`/workspaces/${workspaceId}/actions/unlock`)
    expect(await currentOf(workspaceId)).toBe(2)
    const shown = await client.get(`/state-versions/${snapshot.id}`)
    expect(shown.json.data.attributes.intermediate).toBe(false)
    expect((await deleted()).status).toBe(200)
    await lock(client, workspaceId)
    const odd = await postState(client, workspaceId, stateText('{}', 3), { intermediate: 'yes' })
    expect([odd.status, odd.json.errors[0].source.pointer]).toEqual([422, '/data/attributes/intermediate'])
  })
})

onEachEngine('a server that keeps one version', { stateVersionsKept: '1' }, (server) => {
  test('snapshots do not displace the current state', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const { workspaceId, stateVersionId } = await createState(organization, '{}')
    await lock(client, workspaceId)
    for (const serial of [2, 3, 4]) {
      const text = stateText('{}', serial)
      const more = { state: base64(text), intermediate: true }
      expect((await postState(client, workspaceId, text, more)).status).toBe(201)
    }
    const current = await client.get(`/workspaces/${workspaceId}/current-state-version`)
    expect([current.status, current.json.data?.id]).toEqual([200, stateVersionId])
    expect((await client.get(`/state-versions/${stateVersionId}/download`)).text).toBe(stateText('{}'))
  })
})
