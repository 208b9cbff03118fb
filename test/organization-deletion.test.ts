import { NOT_FOUND } from './support/client.ts'
import { expect, test } from 'vitest'
import { onEachEngine } from './support/on-each-engine.ts'
import { createTeamToken, createToken, statusOf } from './support/organization-tokens.ts'
import { createStates } from './support/place-states.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createWorkspace,
  invitePerson,
  uniqueName,
} from './support/world.ts'

onEachEngine('deleting an organization', (server) => {
  const organization = (attributes: object) => body('organizations', attributes)
  const names = (json: { data: { attributes: { name: string } }[] }) =>
    json.data.map(({ attributes }) => attributes.name)

  test('deleted with everything in it, at once for everyone; its name is free again', async () => {
    const own = await createTestOrganization(server)
    const team = await createTeam(own, { visibility: 'organization' })
    const member = await addMember(server, own, [team])
    const nobody = { email: `${uniqueName('nobody')}@example.com` }
    const membership = await invitePerson(own, nobody, [team])
    const workspace = await createWorkspace(own)
    const shown = await own.owner.client.get(`/workspaces/${workspace}`)
    const project = shown.json.data.relationships.project.data.id
    const tokens = [
      await createTeamToken(server, own, team),
      await createToken(server, own.owner.client, `/organizations/${own.name}/authentication-token`),
    ]
    expect((await own.owner.client.delete(`/organizations/${own.name}`)).status).toBe(204)
    for (const client of tokens) expect(await statusOf(client, '/account/details')).toBe(401)
    for (const client of [own.owner.client, member.client, server.admin]) {
      expect((await client.get(`/organizations/${own.name}`)).text).toBe(NOT_FOUND)
      expect((await client.get(`/teams/${team}`)).text).toBe(NOT_FOUND)
      expect((await client.patch(`/teams/${team}`, '{')).text).toBe(NOT_FOUND)
      expect(names((await client.get('/organizations')).json)).not.toContain(own.name)
      const memberships = await client.get('/organization-memberships')
      expect(memberships.text).not.toContain(member.membershipId)
    }
    expect((await member.client.post(`/organization-memberships/${membership}/actions/accept`)).text).toBe(
      NOT_FOUND,
    )
    const again = await member.client.post(
      '/organizations',
      organization({ name: own.name, email: 'a@example.com' }),
    )
    expect(again.status).toBe(201)

    await server.app.deps.deletions.run()
    const left = await server.app.deps.database.read(async ({ db }) => {
      const tables = ['memberships', 'teams', 'team_members', 'projects', 'workspace_versions'] as const
      const rows: object[] = []
      for (const table of tables) {
        rows.push(...(await db.selectFrom(table).where('organization_id', '=', own.id).selectAll().execute()))
      }
      rows.push(...(await db.selectFrom('organizations').where('id', '=', own.id).selectAll().execute()))
      rows.push(
        ...(await db.selectFrom('workspace_counts').where('project_id', '=', project).selectAll().execute()),
      )
      rows.push(...(await db.selectFrom('users').where('email', '=', nobody.email).selectAll().execute()))
      return rows
    })
    expect(left).toEqual([])
    expect((await member.client.get('/organizations')).json.data).toHaveLength(1)
  })

  test('with its states, whose upload URLs lead nowhere any more', async () => {
    const own = await createTestOrganization(server)
    const { client } = own.owner
    const made = await client.post(
      `/organizations/${own.name}/workspaces`,
      body('workspaces', { name: uniqueName('workspace') }),
    )
    const states = await createStates(client, made.json.data.id)
    const pending = await client.get(`/state-versions/${states.pending}`)
    const url = pending.json.data.attributes['hosted-state-upload-url']
    const kept = (folder: 'state_chunks' | 'output_blocks' | 'state_versions' | 'workspaces') =>
      server.app.deps.database.read(({ db }) => db.selectFrom(folder).selectAll().execute())
    expect(await kept('state_chunks')).not.toEqual([])
    expect(await kept('output_blocks')).not.toEqual([])
    expect((await client.delete(`/organizations/${own.name}`)).status).toBe(204)
    for (const path of [
      `/state-versions/${states.finalized}`,
      `/state-version-outputs/${states.outputs[0]}`,
      `/workspaces/${made.json.data.id}/current-state-version-outputs`,
    ]) {
      expect((await server.admin.get(path)).text).toBe(NOT_FOUND)
    }
    expect((await client.request('PUT', url, '{}')).text).toBe(NOT_FOUND)
    await server.app.deps.deletions.run()
    for (const folder of ['state_chunks', 'output_blocks', 'state_versions', 'workspaces'] as const) {
      expect(await kept(folder)).toEqual([])
    }
  })
})
