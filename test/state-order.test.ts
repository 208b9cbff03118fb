import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines } from './support/engines.ts'
import { startServer, type TestServer } from './support/server.ts'
import { base64, lock, postState, stateText } from './support/states.ts'
import { body, createTestOrganization, createWorkspace, type TestOrganization } from './support/world.ts'

describe.each(engines)('state versions on %s, while the clock is set back', (engine) => {
  let server: TestServer
  let organization: TestOrganization
  beforeAll(async () => {
    server = await startServer(engine, { stateVersionsKept: '3' })
    organization = await createTestOrganization(server)
  })
  afterAll(() => server.stop())

  const write = async (workspaceId: string, serial: number, more: object = {}) => {
    const state = stateText(`{"a":{"value":${serial},"type":"number"}}`, serial)
    const made = await postState(organization.owner.client, workspaceId, state, {
      state: base64(state),
      ...more,
    })
    expect(made.status, made.text).toBe(201)
    return made.json.data.id as string
  }
  const lockedWorkspace = async () => {
    const name = `workspace-${Math.random()}`.replace('.', '')
    const id = await createWorkspace(organization, { name })
    await lock(organization.owner.client, id)
    return { id, name }
  }
  const serialsOf = async (workspaceName: string, status?: string) => {
    const filter = `filter[organization][name]=${organization.name}&filter[workspace][name]=${workspaceName}`
    const { json } = await organization.owner.client.get(
      `/state-versions?${filter}${status === undefined ? '' : `&filter[status]=${status}`}`,
    )
    return json.data.map(({ attributes }: { attributes: { serial: number } }) => attributes.serial)
  }
  const currentSerial = async (workspaceId: string) =>
    (await organization.owner.client.get(`/workspaces/${workspaceId}/current-state-version`)).json.data
      .attributes.serial

  test('are listed as they were made, and the oldest ones are deleted, not the newest', async () => {
    const { id, name } = await lockedWorkspace()
    for (let serial = 1; serial <= 7; serial++) {
      await write(id, serial)
      server.clock.advance(-5_000)
    }
    expect(await serialsOf(name)).toEqual([7, 6, 5])
    expect(await serialsOf(name, 'finalized')).toEqual([7, 6, 5])
    expect(await currentSerial(id)).toBe(7)
  })

  test('become current by unlock only if they are the newest snapshot', async () => {
    const { id } = await lockedWorkspace()
    const { client } = organization.owner
    await write(id, 1)
    await write(id, 2, { intermediate: true })
    server.clock.advance(-5_000)
    const newest = await write(id, 3, { intermediate: true })
    // The next serial is compared with the newest snapshot.
    const state = stateText('{}', 3, 'lineage-of-the-tests')
    expect((await postState(client, id, state)).status).toBe(409)
    expect((await client.post(`/workspaces/${id}/actions/unlock`)).status).toBe(200)
    const current = await client.get(`/workspaces/${id}/current-state-version`)
    expect(current.json.data.id).toBe(newest)
  })

  test('follow each other when rolled back', async () => {
    const { id, name } = await lockedWorkspace()
    const first = await write(id, 1)
    await write(id, 2)
    server.clock.advance(-5_000)
    const relationships = { 'rollback-state-version': { data: { type: 'state-versions', id: first } } }
    const back = await organization.owner.client.patch(
      `/workspaces/${id}/state-versions`,
      body('state-versions', {}, relationships),
    )
    expect(back.status, back.text).toBe(201)
    expect(await serialsOf(name)).toEqual([3, 2, 1])
    expect(await currentSerial(id)).toBe(3)
  })
})
