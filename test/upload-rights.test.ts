import { request } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { NOT_FOUND, type Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createTeamToken, setUserTokens } from './support/organization-tokens.ts'
import { lock, postState, stateText } from './support/states.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantWorkspace,
  type TestOrganization,
} from './support/world.ts'

const text = stateText('{"a": {"value": 1, "type": "number"}}')

onEachEngine('whom an upload URL was given to', (server) => {
  let organization: TestOrganization
  let owner: Client
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    owner = organization.owner.client
  })

  const done = async (answer: Promise<{ status: number; text: string }>) => {
    const { status, text: said } = await answer
    expect([status < 300, said]).toEqual([true, said])
  }
  const put = (url: string, content: string) => server.client().request('PUT', url, content)

  async function writers() {
    const team = await createTeam(organization)
    const workspace = await createWorkspace(organization)
    const grant = await grantWorkspace(organization, team, workspace, { access: 'write' })
    return { team, workspace, grant, grantPath: `/team-workspaces/${grant}` }
  }

  async function pendingOf(client: Client, workspace: string) {
    await lock(client, workspace)
    const made = await postState(client, workspace, text)
    expect(made.status).toBe(201)
    const { id, attributes } = made.json.data
    return {
      id: id as string,
      stateUrl: attributes['hosted-state-upload-url'] as string,
      jsonUrl: attributes['hosted-json-state-upload-url'] as string,
    }
  }

  test('it ends with a suspension, and is good again when that does', async () => {
    const { team, workspace } = await writers()
    const writer = await addMember(server, organization, [team])
    const { id, stateUrl, jsonUrl } = await pendingOf(writer.client, workspace)
    await done(server.admin.post(`/admin/users/${writer.id}/actions/suspend`))
    for (const url of [stateUrl, jsonUrl]) {
      const refused = await put(url, text)
      expect([refused.status, refused.text]).toEqual([404, NOT_FOUND])
    }
    expect((await owner.get(`/state-versions/${id}`)).json.data.attributes.status).toBe('pending')
    await done(server.admin.post(`/admin/users/${writer.id}/actions/unsuspend`))
    expect((await put(stateUrl, text)).status).toBe(200)
    // Without the right, the answer does not reveal that the state has arrived, either.
    await done(server.admin.post(`/admin/users/${writer.id}/actions/suspend`))
    expect((await put(stateUrl, text)).text).toBe(NOT_FOUND)
  })

  test.each(['grant', 'team', 'membership', 'account'] as const)('it ends with the %s', async (what) => {
    const { team, workspace, grantPath } = await writers()
    const writer = await addMember(server, organization, [team])
    const { stateUrl } = await pendingOf(writer.client, workspace)
    const read =
      what === 'grant' ? owner.patch(grantPath, body('team-workspaces', { access: 'read' })) : undefined
    await done(
      read ??
        owner.delete(what === 'team' ? `/teams/${team}` : `/organization-memberships/${writer.membershipId}`),
    )
    if (what === 'account') await done(server.admin.delete(`/admin/users/${writer.id}`))
    expect((await put(stateUrl, text)).text).toBe(NOT_FOUND)
  })

  test("that of a team's token ends with the team's grant, or its last token", async () => {
    for (const ending of ['grant', 'token'] as const) {
      const { team, workspace, grantPath } = await writers()
      const token = await owner.post(`/teams/${team}/authentication-token`)
      const client = server.client(token.json.data.attributes.token)
      const { stateUrl, jsonUrl } = await pendingOf(client, workspace)
      expect((await put(jsonUrl, '{}')).status).toBe(200)
      await done(owner.delete(ending === 'grant' ? grantPath : `/teams/${team}/authentication-token`))
      expect((await put(stateUrl, text)).text).toBe(NOT_FOUND)
    }
  })

  test('a right that is lost while the bytes arrive leaves nothing behind', async () => {
    const { team, workspace, grantPath } = await writers()
    const writer = await addMember(server, organization, [team])
    const { id, stateUrl } = await pendingOf(writer.client, workspace)
    const answered = new Promise<number | undefined>((resolve, reject) => {
      const sending = request(stateUrl, { method: 'PUT' }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      sending.on('error', reject)
      sending.write(text.slice(0, 20))
      void (async () => {
        // The server has the first bytes before the grant is deleted.
        await owner.get(`/state-versions/${id}`)
        await done(owner.delete(grantPath))
        sending.end(text.slice(20))
      })().catch(reject)
    })
    expect(await answered).toBe(404)
    const { attributes } = (await owner.get(`/state-versions/${id}`)).json.data
    expect(attributes.status).toBe('pending')
    expect((await owner.get(`/workspaces/${workspace}/current-state-version`)).status).toBe(404)
  })

  test('it stays good when the organization refuses user tokens', async () => {
    const strict = await createTestOrganization(server)
    const workspace = await createWorkspace(strict)
    const { stateUrl } = await pendingOf(strict.owner.client, workspace)
    await setUserTokens(strict.owner.client, strict, false)
    expect((await strict.owner.client.get(`/workspaces/${workspace}`)).status).toBe(401)
    expect((await put(stateUrl, text)).status).toBe(200)
  })

  test('a site administrator needs no grant', async () => {
    const { workspace } = await writers()
    const { stateUrl } = await pendingOf(server.admin, workspace)
    expect((await put(stateUrl, text)).status).toBe(200)
  })

  test('the audit trail names the creator of an upload as in other events, and no token', async () => {
    const { team } = await writers()
    const { client: user } = await addMember(server, organization, [team])
    const ofTeam = await createTeamToken(server, organization, team)
    for (const client of [user, ofTeam]) {
      const workspace = await createWorkspace(organization)
      await grantWorkspace(organization, team, workspace, { access: 'write' })
      const { id, stateUrl, jsonUrl } = await pendingOf(client, workspace)
      for (const url of [stateUrl, jsonUrl]) expect((await put(url, text)).status).toBe(200)
      const path = `/organizations/${organization.name}/audit-events?filter[resource-id]=${id}`
      const [added, finalized, created] = (await owner.get(path)).json.data
      const { actor, action } = created.attributes
      expect([action, actor.name]).toEqual(['state-version.create', expect.stringMatching(/./)])
      for (const event of [added, finalized]) {
        expect(event.attributes.actor).toEqual({ ...actor, 'token-id': null })
      }
      const byName = await owner.get(`${path}&filter[actor]=${actor.name}`)
      expect(byName.json.data).toHaveLength(3)
    }
  })
})
