import { expect, test } from 'vitest'
import type { Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { base64, lock, postState, stateText } from './support/states.ts'
import {
  addMember,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantWorkspace,
} from './support/world.ts'

type Item = { type: string; id: string; attributes: Record<string, unknown> }
const included = (answer: Response): Item[] => answer.json.included
const types = (answer: Response) => included(answer).map(({ type }) => type)

onEachEngine('what workspaces include', (server) => {
  async function place() {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const id = await createWorkspace(organization, { name: 'a' })
    await lock(client, id)
    const text = stateText(
      '{"open": {"value": 1, "type": "number"}, "secret": {"value": "s3cret", "type": "string", "sensitive": true}}',
    )
    const state = await postState(client, id, text, { state: base64(text) })
    return { organization, client, id, stateId: state.json.data.id as string }
  }

  test('each resource is as it is by itself, by id, by name and in the list, whichever way it is spelled', async () => {
    const { organization, client, id, stateId } = await place()
    const paths = [
      `/workspaces/${id}`,
      `/organizations/${organization.name}/workspaces/a`,
      `/organizations/${organization.name}/workspaces`,
    ]
    const state = (await client.get(`/state-versions/${stateId}`)).json.data
    const user = (await client.get(`/users/${organization.owner.id}`)).json.data
    for (const path of paths) {
      for (const name of ['current_state_version', 'current-state-version']) {
        expect(included(await client.get(`${path}?include=${name}`))).toEqual([state])
      }
      for (const name of ['locked_by', 'locked-by']) {
        expect(included(await client.get(`${path}?include=${name}`))).toEqual([user])
      }
      const outputs = await client.get(`${path}?include=current_state_version.outputs`)
      const whole = await client.get(`/state-versions/${stateId}?include=outputs`)
      expect(included(outputs)).toEqual([whole.json.data, ...whole.json.included])
      expect(outputs.text).toContain('s3cret')
      const all = await client.get(
        `${path}?include=organization,project,outputs,locked_by,current_state_version,effective_tag_bindings`,
      )
      expect(types(all).toSorted()).toEqual([
        'organizations',
        'projects',
        'state-versions',
        'users',
        'workspace-outputs',
        'workspace-outputs',
      ])
    }
  })

  test('of what there is none there is nothing, and what is unknown is refused in words that clients know', async () => {
    const { client, id } = await place()
    for (const name of ['current_run', 'current_run.plan', 'readme', 'current_configuration_version']) {
      expect(included(await client.get(`/workspaces/${id}?include=${name}`))).toEqual([])
    }
    for (const name of ['nonsense', 'organization,vars', 'outputs.state-version', '__proto__']) {
      const refused = await client.get(`/workspaces/${id}?include=${name}`)
      expect([refused.status, refused.json.errors[0].title]).toEqual([400, 'Invalid include parameter'])
    }
  })

  test('an object that the caller could not read directly is not included', async () => {
    const { organization, client, id } = await place()
    await client.post(`/workspaces/${id}/actions/unlock`)
    const outputsTeam = await createTeam(organization)
    const locking = await createTeam(organization)
    await grantWorkspace(organization, outputsTeam, id, {
      access: 'custom',
      'state-versions': 'read-outputs',
    })
    await grantWorkspace(organization, locking, id, { access: 'write' })
    const reader = (await addMember(server, organization, [outputsTeam])).client
    const everything =
      'include=locked_by,current_state_version.outputs,current_state_version,organization,project'
    const shown = await reader.get(`/workspaces/${id}?${everything}`)
    expect(types(shown)).toEqual(['organizations', 'projects'])
    expect(shown.text).not.toContain('s3cret')

    const token = await client.post(`/teams/${locking}/authentication-token`)
    const machine = server.client(token.json.data.attributes.token)
    await machine.post(`/workspaces/${id}/actions/lock`)
    expect(types(await reader.get(`/workspaces/${id}?include=locked_by`))).toEqual([])
    expect(included(await client.get(`/workspaces/${id}?include=locked_by`))).toEqual([
      (await client.get(`/teams/${locking}`)).json.data,
    ])
    // A site administrator who shares no organization with the caller holds the lock, and is not shown to them.
    await client.post(`/workspaces/${id}/actions/force-unlock`)
    await server.admin.post(`/workspaces/${id}/actions/lock`)
    const locked = await client.get(`/workspaces/${id}?include=locked_by`)
    expect(locked.json.data.relationships['locked-by'].data.type).toBe('users')
    expect(types(locked)).toEqual([])
  })

  test('a workspace is locked by its name too', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    await createWorkspace(organization, { name: 'a' })
    const path = `/organizations/${organization.name}/workspaces/a/actions/lock`
    const locked = await client.post(path, { data: { type: '', attributes: { reason: 'mine' } } })
    expect(locked.status).toBe(200)
    expect(locked.json.data.attributes).toMatchObject({ locked: true, 'locked-reason': 'mine' })
    expect((await client.post(path)).status).toBe(409)
  })
})
