import { expect, test } from 'vitest'
import type { Client, Json } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  body,
  createProject,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantProject,
  grantWorkspace,
  uniqueName,
} from './support/world.ts'

onEachEngine('the document of a team that is asked for often', { dialect: 'current' }, (server) => {
  /** Asks often enough that the last answer comes from the cache, which must be the same. */
  async function shown(client: Client, teamId: string): Promise<Json> {
    const texts = []
    for (let time = 0; time < 4; time++) texts.push((await client.get(`/teams/${teamId}`)).text)
    expect(new Set(texts).size).toBe(1)
    return JSON.parse(texts[0] as string).data
  }

  test('follows every change of what it shows, for each caller alone', async () => {
    const organization = await createTestOrganization(server)
    const { owner } = organization
    const set = async (path: string, type: string, attributes: object) =>
      expect((await owner.client.patch(path, body(type, attributes))).status).toBe(200)
    await set(`/organizations/${organization.name}`, 'organizations', { 'delegated-team-management': true })
    const [delegate, member] = [await addMember(server, organization), await addMember(server, organization)]
    const managers = await createTeam(organization, { 'organization-access': { 'manage-teams': true } })
    const team = await createTeam(organization, { visibility: 'organization' })
    const users = (id: string, ...ids: string[]) =>
      [
        `/teams/${id}/relationships/organization-memberships`,
        { data: ids.map((one) => ({ id: one, type: 'organization-memberships' })) },
      ] as const
    const join = async (id: string, who: { membershipId: string }) =>
      expect((await owner.client.post(...users(id, who.membershipId))).status).toBe(204)
    const leave = async (id: string, who: { membershipId: string }) =>
      expect((await owner.client.delete(...users(id, who.membershipId))).status).toBe(204)
    const mayChange = async (client: Client) =>
      (await shown(client, team)).attributes.permissions['can-destroy'] as boolean

    expect(await mayChange(delegate.client)).toBe(false)
    await join(managers, delegate)
    expect([await mayChange(delegate.client), await mayChange(member.client)]).toEqual([true, false])

    // A delegate may change a team only if they could give its grants.
    const [theirs, other] = [await createProject(organization), await createProject(organization)]
    const workspace = await createWorkspace(organization)
    const move = (id: string) =>
      owner.client.patch(
        `/workspaces/${workspace}`,
        body('workspaces', {}, { project: { data: { id, type: 'projects' } } }),
      )
    await grantProject(organization, managers, theirs, { access: 'admin' })
    await grantWorkspace(organization, team, workspace, { access: 'read' })
    expect(await mayChange(delegate.client)).toBe(false)
    expect((await move(theirs)).status).toBe(200)
    expect(await mayChange(delegate.client)).toBe(true)
    expect((await move(other)).status).toBe(200)
    expect(await mayChange(delegate.client)).toBe(false)
    expect((await owner.client.delete(`/workspaces/${workspace}`)).status).toBe(204)
    expect(await mayChange(delegate.client)).toBe(true)

    await join(team, member)
    expect((await shown(delegate.client, team)).attributes['users-count']).toBe(1)
    expect((await owner.client.delete(`/organization-memberships/${member.membershipId}`)).status).toBe(204)
    expect((await shown(delegate.client, team)).relationships.users.data).toEqual([])
    expect((await member.client.get(`/teams/${team}`)).status).toBe(404)
    const name = uniqueName('renamed')
    await set(`/organizations/${organization.name}`, 'organizations', { name })
    expect((await shown(delegate.client, team)).relationships.organization.data.id).toBe(name)
    await set(`/organizations/${name}`, 'organizations', { 'delegated-team-management': false })
    expect(await mayChange(delegate.client)).toBe(false)
    expect((await server.admin.post(`/admin/users/${delegate.id}/actions/grant_admin`)).status).toBe(200)
    expect(await mayChange(delegate.client)).toBe(true)
    expect((await server.admin.post(`/admin/users/${delegate.id}/actions/revoke_admin`)).status).toBe(200)
    expect(await mayChange(delegate.client)).toBe(false)
    await leave(managers, delegate)
    await set(`/teams/${team}`, 'teams', { visibility: 'secret' })
    expect((await delegate.client.get(`/teams/${team}`)).status).toBe(404)
    expect(await mayChange(owner.client)).toBe(true)
  })

  test('differs between the tokens of an organization and of a team', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization, { visibility: 'organization' })
    const tokenAt = async (path: string) => {
      const { json } = await client.post(
        path,
        body('authentication-tokens', { description: uniqueName('t') }),
      )
      return server.client(json.data.attributes.token)
    }
    const own = `/organizations/${organization.name}/authentication-token`
    const ofOrganization = await tokenAt(own)
    const ofTeam = await tokenAt(`/teams/${team}/authentication-tokens`)
    const ofAudit = await tokenAt(`${own}?token=audit-trails`)
    const may = async (caller: Client) =>
      (await shown(caller, team)).attributes.permissions['can-destroy'] as boolean
    expect([await may(ofOrganization), await may(ofTeam)]).toEqual([true, false])
    expect((await ofAudit.get(`/teams/${team}`)).status).toBe(404)
  })
})
