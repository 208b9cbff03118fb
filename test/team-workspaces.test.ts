import { expect, test } from 'vitest'
import { NOT_FOUND, type Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantBody,
  grantWorkspace,
  type TestOrganization,
} from './support/world.ts'

const pointers = (response: Response): string[] =>
  response.json.errors.map((error: { source: { pointer: string } }) => error.source.pointer).sort()

onEachEngine('team access to a workspace', (server) => {
  /** A member of a new team with this access to a workspace. */
  async function memberWith(
    organization: TestOrganization,
    workspaceId: string,
    attributes: { access: string },
  ) {
    const team = await createTeam(organization)
    await grantWorkspace(organization, team, workspaceId, attributes)
    return { team, member: await addMember(server, organization, [team]) }
  }

  test('each level stands for what the platform says, and comes back the same', async () => {
    const organization = await createTestOrganization(server)
    const workspace = await createWorkspace(organization)
    const none = { 'workspace-locking': false, 'run-tasks': false, 'policy-overrides': false }
    const read = {
      runs: 'read',
      variables: 'read',
      'state-versions': 'read',
      'sentinel-mocks': 'none',
      ...none,
    }
    const write = {
      ...read,
      runs: 'apply',
      variables: 'write',
      'state-versions': 'write',
      'sentinel-mocks': 'read',
      'workspace-locking': true,
    }
    const levels = {
      read,
      plan: { ...read, runs: 'plan' },
      write,
      admin: { ...write, 'run-tasks': true, 'policy-overrides': true },
      custom: { ...read, variables: 'none', 'state-versions': 'none' },
    }
    for (const [access, details] of Object.entries(levels)) {
      const team = await createTeam(organization)
      const made = await organization.owner.client.post(
        '/team-workspaces',
        grantBody(team, 'workspace', workspace, { access }),
      )
      expect(made.status).toBe(201)
      expect(made.json.data.attributes).toEqual({ access, ...details })
      expect(made.json.data.relationships.team.data).toEqual({ id: team, type: 'teams' })
      expect(made.json.data.relationships.workspace.data).toEqual({ id: workspace, type: 'workspaces' })
      const shown = await organization.owner.client.get(`/team-workspaces/${made.json.data.id}`)
      expect(shown.json).toEqual(made.json)
    }
  })

  test('a change merges into custom access and refuses details beside a fixed level', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspace = await createWorkspace(organization)
    const team = await createTeam(organization)
    const id = await grantWorkspace(organization, team, workspace, {
      access: 'custom',
      'state-versions': 'read-outputs',
    })
    const change = (attributes: object) =>
      client.patch(`/team-workspaces/${id}`, body('team-workspaces', attributes))
    const merged = await change({ variables: 'read' })
    expect(merged.json.data.attributes).toMatchObject({
      access: 'custom',
      'state-versions': 'read-outputs',
      variables: 'read',
    })
    // Team and workspace stay. They may be said.
    const other = await createTeam(organization)
    const to = (type: string, one: string) => ({ data: { type, id: one } })
    const say = (teamId: string, workspaceId: string) =>
      client.patch(
        `/team-workspaces/${id}`,
        body('team-workspaces', {}, { team: to('teams', teamId), workspace: to('workspaces', workspaceId) }),
      )
    expect((await say(team, workspace)).json).toEqual(merged.json)
    const elsewhere = await say(other, 'ws-1')
    expect(elsewhere.status).toBe(422)
    expect(elsewhere.json.errors).toEqual(
      ['team', 'workspace'].map((name) => ({
        status: '422',
        title: 'invalid attribute',
        detail: `the ${name} of an access cannot be changed; give access anew, and take this one away`,
        source: { pointer: `/data/relationships/${name}` },
      })),
    )
    const fixed = await change({ access: 'read' })
    expect(fixed.json.data.attributes).toMatchObject({ access: 'read', 'state-versions': 'read' })
    const refused = await change({ runs: 'apply', 'workspace-locking': true })
    expect(refused.status).toBe(422)
    expect(refused.json.errors).toEqual([
      {
        status: '422',
        title: 'invalid attribute',
        detail:
          "Runs is read-only when access level is 'read'; use the 'custom' access level to set this attribute.",
        source: { pointer: '/data/attributes/runs' },
      },
      expect.objectContaining({ source: { pointer: '/data/attributes/workspace-locking' } }),
    ])
    expect((await client.get(`/team-workspaces/${id}`)).json).toEqual(fixed.json)
    // The tfe provider sends only what changes, so everything else keeps the value of the previous level.
    const custom = await change({ access: 'custom', 'state-versions': 'read-outputs' })
    expect(custom.json.data.attributes).toEqual({
      ...fixed.json.data.attributes,
      access: 'custom',
      'state-versions': 'read-outputs',
    })
    const unknown = await change({ access: 'everything', variables: 7 })
    expect(pointers(unknown)).toEqual(['/data/attributes/access', '/data/attributes/variables'])
    expect((await client.delete(`/team-workspaces/${id}`)).status).toBe(204)
    expect((await client.get(`/team-workspaces/${id}`)).text).toBe(NOT_FOUND)
  })

  test('a second grant, a strange team and a strange workspace are refused', async () => {
    const organization = await createTestOrganization(server)
    const other = await createTestOrganization(server)
    const { client } = organization.owner
    const workspace = await createWorkspace(organization)
    const team = await createTeam(organization)
    await grantWorkspace(organization, team, workspace, { access: 'read' })
    const second = await client.post('/team-workspaces', grantBody(team, 'workspace', workspace))
    expect(second.status).toBe(422)
    for (const strange of [await createTeam(other), 'team-1111111111111111', 'nonsense']) {
      const answer = await client.post('/team-workspaces', grantBody(strange, 'workspace', workspace))
      expect(answer.status).toBe(422)
      expect(pointers(answer)).toEqual(['/data/relationships/team'])
    }
    for (const strange of [await createWorkspace(other), 'ws-1111111111111111', 'nonsense']) {
      expect((await client.post('/team-workspaces', grantBody(team, 'workspace', strange))).text).toBe(
        NOT_FOUND,
      )
      expect((await client.get(`/team-workspaces?filter[workspace][id]=${strange}`)).text).toBe(NOT_FOUND)
    }
    const empty = await client.post('/team-workspaces', body('team-workspaces', {}))
    expect(pointers(empty)).toEqual([
      '/data/attributes/access',
      '/data/relationships/team',
      '/data/relationships/workspace',
    ])
    expect((await client.get('/team-workspaces')).status).toBe(400)
  })

  test('what a member may do follows from the level, at once', async () => {
    const organization = await createTestOrganization(server)
    const id = await createWorkspace(organization)
    const expected: Record<
      string,
      [attributes: object & { access: string }, statuses: Record<string, number>]
    > = {
      read: [{ access: 'read' }, { show: 200, lock: 404, force: 404, change: 404, share: 404 }],
      plan: [{ access: 'plan' }, { show: 200, lock: 404, force: 404, change: 404, share: 404 }],
      write: [{ access: 'write' }, { show: 200, lock: 200, force: 404, change: 404, share: 404 }],
      admin: [{ access: 'admin' }, { show: 200, lock: 200, force: 200, change: 200, share: 201 }],
      nothing: [{ access: 'custom' }, { show: 404, lock: 404, force: 404, change: 404, share: 404 }],
      outputs: [
        { access: 'custom', 'state-versions': 'read-outputs' } as never,
        { show: 200, lock: 404, force: 404, change: 404, share: 404 },
      ],
      locking: [
        { access: 'custom', 'workspace-locking': true } as never,
        { show: 200, lock: 200, force: 404, change: 404, share: 404 },
      ],
    }
    for (const [name, [attributes, statuses]] of Object.entries(expected)) {
      const { member, team } = await memberWith(organization, id, attributes)
      const { client } = member
      const open = await createTeam(organization, { visibility: 'organization' })
      const found: Record<string, number> = {
        show: (await client.get(`/workspaces/${id}`)).status,
        lock: (await client.post(`/workspaces/${id}/actions/lock`)).status,
      }
      if (found.lock === 200) await client.post(`/workspaces/${id}/actions/unlock`)
      await organization.owner.client.post(`/workspaces/${id}/actions/lock`)
      found.force = (await client.post(`/workspaces/${id}/actions/force-unlock`)).status
      await organization.owner.client.post(`/workspaces/${id}/actions/force-unlock`)
      found.change = (
        await client.patch(`/workspaces/${id}`, body('workspaces', { description: name }))
      ).status
      found.share = (await client.post('/team-workspaces', grantBody(open, 'workspace', id))).status
      expect({ [name]: found }).toEqual({ [name]: statuses })

      const list = await client.get(`/organizations/${organization.name}/workspaces`)
      expect(list.status).toBe(statuses.show)
      if (statuses.show === 200)
        expect(list.json.data).toEqual([(await client.get(`/workspaces/${id}`)).json.data])
      // After leaving the team, the member loses access with the next request.
      const members = `/teams/${team}/relationships/users`
      const gone = await organization.owner.client.delete(members, {
        data: [{ type: 'users', id: member.username }],
      })
      if (gone.status === 204) expect((await client.get(`/workspaces/${id}`)).text).toBe(NOT_FOUND)
    }
  })

  test('taking a grant away is felt by the next request', async () => {
    const organization = await createTestOrganization(server)
    const id = await createWorkspace(organization)
    const team = await createTeam(organization)
    const grant = await grantWorkspace(organization, team, id, { access: 'read' })
    const { client } = await addMember(server, organization, [team])
    expect((await client.get(`/workspaces/${id}`)).status).toBe(200)
    await organization.owner.client.patch(
      `/team-workspaces/${grant}`,
      body('team-workspaces', { access: 'write' }),
    )
    expect((await client.post(`/workspaces/${id}/actions/lock`)).status).toBe(200)
    await organization.owner.client.delete(`/team-workspaces/${grant}`)
    expect((await client.get(`/workspaces/${id}`)).text).toBe(NOT_FOUND)
    expect((await client.post(`/workspaces/${id}/actions/unlock`)).text).toBe(NOT_FOUND)
  })

  test('a list shows the grants that can be read one by one, and counts no others', async () => {
    const organization = await createTestOrganization(server)
    const workspace = await createWorkspace(organization)
    const other = await createWorkspace(organization)
    const secret = await createTeam(organization, { name: 'a-secret' })
    const open = await createTeam(organization, { name: 'b-open', visibility: 'organization' })
    const own = await createTeam(organization, { name: 'c-own' })
    const admins = await createTeam(organization, { name: 'd-admins' })
    const managers = await createTeam(organization, { organizationAccess: {} })
    await organization.owner.client.patch(
      `/teams/${managers}`,
      body('teams', { 'organization-access': { 'manage-workspaces': true } }),
    )
    const grants: string[] = []
    for (const [team, access] of [
      [own, 'read'],
      [secret, 'write'],
      [open, 'plan'],
      [admins, 'admin'],
    ] as const) {
      grants.push(await grantWorkspace(organization, team, workspace, { access }))
    }
    await grantWorkspace(organization, own, other, { access: 'read' })
    const [ownGrant, secretGrant, openGrant, adminGrant] = grants as [string, string, string, string]
    const reader = await addMember(server, organization, [own])
    const admin = await addMember(server, organization, [admins])
    const manager = await addMember(server, organization, [managers])
    const everything = [secretGrant, openGrant, ownGrant, adminGrant]
    for (const [client, visible] of [
      [organization.owner.client, everything],
      [server.admin, everything],
      [reader.client, [ownGrant]],
      [admin.client, [openGrant, adminGrant]],
      [manager.client, [openGrant]],
    ] as const) {
      const list = await client.get(`/team-workspaces?filter[workspace][id]=${workspace}`)
      expect(list.status).toBe(200)
      expect(list.json.data.map((item: { id: string }) => item.id)).toEqual(visible)
      expect(list.json.meta.pagination['total-count']).toBe(visible.length)
      for (const grant of grants) {
        const shown = await client.get(`/team-workspaces/${grant}`)
        expect(shown.status).toBe(visible.includes(grant) ? 200 : 404)
      }
    }
    const one = await organization.owner.client.get(
      `/team-workspaces?filter%5Bworkspace%5D%5Bid%5D=${workspace}&filter%5Bteam%5D%5Bid%5D=${own}`,
    )
    expect(one.json.data.map((item: { id: string }) => item.id)).toEqual([ownGrant])
    // A caller who gives access to a workspace may not name a team that they cannot see, nor the owners.
    const owners = (
      await organization.owner.client.get(`/organizations/${organization.name}/teams`)
    ).json.data.find((team: { attributes: { name: string } }) => team.attributes.name === 'owners').id
    for (const hidden of [secret, owners]) {
      const answer = await admin.client.post('/team-workspaces', grantBody(hidden, 'workspace', workspace))
      const missing = await admin.client.post(
        '/team-workspaces',
        grantBody('team-1111111111111111', 'workspace', workspace),
      )
      expect(answer.status).toBe(422)
      expect(answer.text).toBe(missing.text)
    }
    // A stronger team may get access: that gives the caller nothing.
    const stronger = await createTeam(organization, {
      visibility: 'organization',
      'organization-access': { 'manage-workspaces': true },
    })
    const given = await admin.client.post('/team-workspaces', grantBody(stronger, 'workspace', workspace))
    expect(given.status).toBe(201)
    for (const client of [reader.client, (await addMember(server, organization)).client]) {
      expect((await client.post('/team-workspaces', grantBody(open, 'workspace', workspace))).text).toBe(
        NOT_FOUND,
      )
      expect((await client.delete(`/team-workspaces/${ownGrant}`)).text).toBe(NOT_FOUND)
      expect((await client.patch(`/team-workspaces/${openGrant}`, { data: 7 })).text).toBe(NOT_FOUND)
    }
  })
})
