import { expect, test } from 'vitest'
import { NOT_FOUND, type Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantWorkspace,
} from './support/world.ts'

const names = (answer: Response): string[] =>
  answer.json.data.map((item: { attributes: { name: string } }) => item.attributes.name)
const ids = (...all: string[]) => ({ data: all.map((id) => ({ type: 'workspaces', id })) })

onEachEngine('remote state consumers', { maxRemoteStateConsumers: '3' }, (server) => {
  test('are added, replaced, removed and listed as whole workspaces', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const [source, a, b, c, d] = (await Promise.all(
      ['source', 'a', 'b', 'c', 'd'].map((name) => createWorkspace(organization, { name })),
    )) as [string, string, string, string, string]
    const path = `/workspaces/${source}/relationships/remote-state-consumers`
    const listed = async () => names(await client.get(path))
    expect(await listed()).toEqual([])
    // go-tfe sends whole workspaces instead of identifiers.
    const whole = { data: [{ type: 'workspaces', id: b, attributes: { name: 'ignored', locked: true } }] }
    for (const document of [ids(a), ids(a), whole]) {
      const answer = await client.post(path, document)
      expect([answer.status, answer.text]).toEqual([204, ''])
    }
    const list = await client.get(`${path}?page[size]=1&page[number]=2`)
    expect(list.json.data).toEqual([(await client.get(`/workspaces/${b}`)).json.data])
    expect(list.json.meta.pagination).toMatchObject({ 'total-count': 2, 'next-page': null })
    expect((await client.patch(path, ids(b, c))).status).toBe(204)
    expect(await listed()).toEqual(['b', 'c'])
    expect((await client.delete(path, ids(b, a, 'ws-1111111111111111'))).status).toBe(204)
    expect(await listed()).toEqual(['c'])
    for (const method of ['POST', 'PATCH']) {
      const tooMany = await client.request(method, path, ids(a, b, c, d))
      expect(tooMany.json.errors[0].detail).toContain(
        'at most 3 remote state consumers (PURSER_MAX_REMOTE_STATE_CONSUMERS)',
      )
      const unknown = await client.request(method, path, ids(a, 'ws-1111111111111111', 'x'))
      expect(unknown.json.errors.map((error: never) => error['source']['pointer'])).toEqual([
        '/data/1/id',
        '/data/2/id',
      ])
    }
    expect(await listed()).toEqual(['c'])
    await client.delete(`/workspaces/${c}`)
    expect(await listed()).toEqual([])
    expect((await client.patch(path, ids(a))).status).toBe(204)
    expect((await client.patch(path, { data: [] })).status).toBe(204)
    expect(await listed()).toEqual([])
  })

  test('global-remote-state and project-remote-state are kept and echoed, and open nothing', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const id = await createWorkspace(organization, { 'global-remote-state': true })
    const member = await addMember(server, organization)
    const changed = await client.patch(
      `/workspaces/${id}`,
      body('workspaces', { 'project-remote-state': true }),
    )
    const expected = { 'global-remote-state': true, 'project-remote-state': true }
    expect(changed.json.data.attributes).toMatchObject(expected)
    const shown = await client.get(`/workspaces/${id}`)
    expect(shown.json.data).toEqual(changed.json.data)
    expect(shown.json.data.relationships['remote-state-consumers']).toEqual({
      links: { related: `/api/v2/workspaces/${id}/relationships/remote-state-consumers` },
    })
    expect((await member.client.get(`/workspaces/${id}/current-state-version`)).text).toBe(NOT_FOUND)
  })

  test('that the caller may not see are not listed, cannot be named and are not replaced', async () => {
    const organization = await createTestOrganization(server)
    const foreign = await createWorkspace(await createTestOrganization(server))
    const { client } = organization.owner
    const [source, seen, hidden] = (await Promise.all(
      ['source', 'seen', 'hidden'].map((name) => createWorkspace(organization, { name })),
    )) as [string, string, string]
    const path = `/workspaces/${source}/relationships/remote-state-consumers`
    const managing = await createTeam(organization)
    const reading = await createTeam(organization)
    await grantWorkspace(organization, managing, source, { access: 'admin' })
    await grantWorkspace(organization, managing, seen, { access: 'read' })
    await grantWorkspace(organization, reading, source, { access: 'read' })
    const manager = (await addMember(server, organization, [managing])).client
    const reader = (await addMember(server, organization, [reading])).client
    expect((await client.post(path, ids(seen, hidden))).status).toBe(204)
    const list = await manager.get(path)
    expect(names(list)).toEqual(['seen'])
    expect(list.json.meta.pagination['total-count']).toBe(1)
    expect((await reader.get(path)).json.meta.pagination['total-count']).toBe(0)
    for (const unknown of [hidden, foreign, 'ws-1111111111111111']) {
      const answer = await manager.post(path, ids(unknown))
      expect([answer.status, answer.json.errors[0].source.pointer]).toEqual([422, '/data/0/id'])
    }
    expect((await manager.patch(path, { data: [] })).status).toBe(204)
    expect(names(await client.get(path))).toEqual(['hidden'])
    expect((await reader.post(path, ids(source))).text).toBe(NOT_FOUND)
    const nobody = (await addMember(server, organization)).client
    expect((await nobody.get(path)).text).toBe(NOT_FOUND)
  })
})
