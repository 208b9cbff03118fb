import { beforeAll, describe, expect, test } from 'vitest'
import { rawRoutes, routes } from '../src/app.ts'
import { NOT_FOUND, type Client } from './support/client.ts'
import { changesOf } from './support/dry-runs.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import type { TestServer } from './support/server.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createUser,
  createWorkspace,
  grantBody,
  grantWorkspace,
  invitePerson,
  type Member,
  type TestOrganization,
} from './support/world.ts'

/** Every write, with the names and ids in its path filled in. */
const writesIn = (organization: TestOrganization) =>
  [...routes.map((route) => ({ ...route, path: `/api/v2${route.path}` })), ...rawRoutes]
    .filter(({ method }) => method !== 'GET')
    .map((route) => ({
      method: route.method,
      path: route.path.replace(':organization_name', organization.name).replace(/:[a-z_]+/g, 'x'),
      hasDryRun: 'hasDryRun' in route && route.hasDryRun,
    }))

onEachEngine('a dry run', (server) => {
  describe('of one team', () => {
    let organization: TestOrganization
    let client: Client
    let workspace: string
    let team: string
    let member: Member
    /** The subjects of the changes: the team and its only member. */
    let subjects: object[]
    beforeAll(async () => {
      organization = await createTestOrganization(server)
      client = organization.owner.client
      workspace = await createWorkspace(organization, { name: 'network' })
      team = await createTeam(organization, { name: 'platform' })
      member = await addMember(server, organization, [team])
      subjects = [
        { type: 'teams', id: team, name: 'platform' },
        { type: 'users', id: member.id, name: member.username },
      ]
    })

    test('names each team and user with the level and the actions that a grant gives', async () => {
      const grant = grantBody(team, 'workspace', workspace, { access: 'custom', 'workspace-locking': true })
      const on = { type: 'workspaces', id: workspace, name: 'network' }
      const change = { from: 'none', to: 'custom', gained: ['read-workspace', 'lock'], lost: [] }
      expect(changesOf(await client.post('/team-workspaces?dry-run=true', grant))).toEqual(
        subjects.map((who) => ({ who, on, ...change })),
      )
      expect((await member.client.get(`/workspaces/${workspace}`)).text).toBe(NOT_FOUND)
    })

    test('names the permissions in the organization that the team gains', async () => {
      const update = body('teams', { 'organization-access': { 'manage-membership': true } })
      const on = { type: 'organizations', id: organization.name, name: organization.name }
      expect(changesOf(await client.patch(`/teams/${team}?dry-run=true`, update))).toEqual(
        subjects.map((who) => ({ who, on, gained: ['manage-membership'], lost: [] })),
      )
    })

    test('has no changes if an invited person joins', async () => {
      const invited = await createUser(server)
      const membership = await invitePerson(organization, invited)
      const joining = { data: [{ type: 'organization-memberships', id: membership }] }
      const path = `/teams/${team}/relationships/organization-memberships?dry-run=true`
      expect(changesOf(await client.post(path, joining))).toEqual([])
    })

    test('has no changes if the team gets a new name', async () => {
      const update = body('teams', { name: 'renamed' })
      expect(changesOf(await client.patch(`/teams/${team}?dry-run=true`, update))).toEqual([])
    })
  })

  test('is the change itself with dry-run=false', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    const update = body('teams', { name: 'renamed' })
    expect((await client.patch(`/teams/${team}?dry-run=false`, update)).json.data.type).toBe('teams')
    expect((await client.get(`/teams/${team}`)).json.data.attributes.name).toBe('renamed')
  })

  describe('is refused with the same answer as the change', () => {
    let organization: TestOrganization
    let client: Client
    let member: Client
    let team: string
    let owners: string
    let grant: string
    let secondGrant: object
    const flags = body('teams', {
      'organization-access': { 'manage-projects': true, 'manage-workspaces': false },
    })
    beforeAll(async () => {
      organization = await createTestOrganization(server)
      client = organization.owner.client
      team = await createTeam(organization, { visibility: 'organization' })
      member = (await addMember(server, organization, [team])).client
      const workspace = await createWorkspace(organization)
      grant = await grantWorkspace(organization, team, workspace, { access: 'read' })
      secondGrant = grantBody(team, 'workspace', workspace, { access: 'read' })
      const found = await client.get(`/organizations/${organization.name}/teams?filter[names]=owners`)
      owners = found.json.data[0].id
    })

    /** The status of both, after a comparison of their answers. */
    const refusalOf = async (caller: Client, method: string, path: string, sent?: object) => {
      const dryRun = await caller.request(method, `${path}?dry-run=true`, sent)
      const change = await caller.request(method, path, sent)
      expect({ status: dryRun.status, text: dryRun.text }, `${method} ${path}`).toEqual({
        status: change.status,
        text: change.text,
      })
      return change.status
    }

    test('if permissions contradict each other: 422', async () => {
      expect(await refusalOf(client, 'PATCH', `/teams/${team}`, flags)).toBe(422)
    })

    test('if it changes or deletes the team of the owners: 422', async () => {
      expect(await refusalOf(client, 'PATCH', `/teams/${owners}`, flags)).toBe(422)
      expect(await refusalOf(client, 'DELETE', `/teams/${owners}`)).toBe(422)
    })

    test('if the last owner leaves: 403', async () => {
      const leaving = { data: [{ type: 'users', id: organization.owner.id }] }
      expect(await refusalOf(client, 'DELETE', `/teams/${owners}/relationships/users`, leaving)).toBe(403)
    })

    test('if the team has a grant on the workspace already: 422', async () => {
      expect(await refusalOf(client, 'POST', '/team-workspaces', secondGrant)).toBe(422)
    })

    test('if the user does not exist: 422', async () => {
      const joining = { data: [{ type: 'users', id: 'nobody-of-that-name' }] }
      expect(await refusalOf(client, 'POST', `/teams/${team}/relationships/users`, joining)).toBe(422)
    })

    test('if the team does not exist: 404', async () => {
      expect(await refusalOf(client, 'PATCH', '/teams/team-zzzzzzzzzzzzzzzz', flags)).toBe(404)
    })

    test('if the caller is a plain member: 404', async () => {
      expect(await refusalOf(member, 'PATCH', `/teams/${team}`, flags)).toBe(404)
      expect(await refusalOf(member, 'POST', '/team-workspaces', secondGrant)).toBe(404)
      expect(await refusalOf(member, 'DELETE', `/team-workspaces/${grant}`)).toBe(404)
    })

    test('if the token is wrong: 401', async () => {
      expect(await refusalOf(server.client('bad'), 'PATCH', `/teams/${team}`, flags)).toBe(401)
    })
  })

  describe('on each route', () => {
    let organization: TestOrganization
    const tryWrite = ({ method, path }: { method: string; path: string }) =>
      organization.owner.client.request(method, `${server.address}${path}?dry-run=true`)
    beforeAll(async () => {
      organization = await createTestOrganization(server)
    })

    test('is 400 if the route has no dry run', async () => {
      const writes = writesIn(organization).filter(({ hasDryRun }) => !hasDryRun)
      expect(writes.length).toBeGreaterThan(30)
      for (const write of writes) {
        const { status, json } = await tryWrite(write)
        expect(status, write.path).toBe(400)
        expect(json.errors[0].source, write.path).toEqual({ parameter: 'dry-run' })
      }
    })

    test('is not 400 if the route has one', async () => {
      const writes = writesIn(organization).filter(({ hasDryRun }) => hasDryRun)
      expect(writes).toHaveLength(23)
      for (const write of writes) expect((await tryWrite(write)).status, write.path).not.toBe(400)
    })
  })

  describe('with an unclear parameter', () => {
    let client: Client
    let path: string
    beforeAll(async () => {
      const organization = await createTestOrganization(server)
      client = organization.owner.client
      path = `/teams/${await createTeam(organization)}`
    })

    test.for(['', '1', 'True', 'yes', 'false,true'])('is 400 if the value is "%s"', async (value) => {
      expect((await client.delete(`${path}?dry-run=${value}`)).status).toBe(400)
      expect((await client.get(path)).status).toBe(200)
    })

    test.for([
      { query: 'dry-run=true&dry-run=false', parameter: 'dry-run' },
      { query: 'dry-run=true&dry-run=true', parameter: 'dry-run' },
      { query: 'dry_run=true', parameter: 'dry_run' },
      { query: 'dryRun=true', parameter: 'dryRun' },
      { query: 'Dry-Run=true', parameter: 'Dry-Run' },
      { query: 'dry-run[]=true', parameter: 'dry-run[]' },
      { query: 'dryrun', parameter: 'dryrun' },
      { query: 'dry__run=true', parameter: 'dry__run' },
      { query: 'dry--run=true', parameter: 'dry--run' },
      { query: 'a=b;dry-run=true', parameter: 'a' },
      { query: 'a=b%3f%20dry_run=true', parameter: 'a' },
      { query: 'filter[dry-run]=true', parameter: 'filter[dry-run]' },
      { query: 'is_dry_run=true', parameter: 'is_dry_run' },
    ])('is 400 if the query is $query', async ({ query, parameter }) => {
      const { status, json } = await client.delete(`${path}?${query}`)
      expect(status).toBe(400)
      expect(json.errors[0].source).toEqual({ parameter })
      expect((await client.get(path)).status).toBe(200)
    })
  })
})

/** The answer to a dry run for a team of three members, in an organization with some workspaces. */
async function attributesWithLimits(server: TestServer, { workspaces }: { workspaces: number }) {
  const organization = await createTestOrganization(server)
  for (let count = 0; count < workspaces; count++) await createWorkspace(organization)
  const team = await createTeam(organization)
  for (let count = 0; count < 3; count++) await addMember(server, organization, [team])
  const flags = body('teams', { 'organization-access': { 'read-workspaces': true } })
  const answer = await organization.owner.client.patch(`/teams/${team}?dry-run=true`, flags)
  return answer.json.data.attributes
}

onEachEngine('a dry run with limits', { maxDryRunPairs: '6', maxDryRunChanges: '2' }, (server) => {
  test('names as many changes as the limit allows, and counts all of them', async () => {
    const attributes = await attributesWithLimits(server, { workspaces: 1 })
    expect(attributes.changes).toHaveLength(2)
    expect(attributes).toMatchObject({ truncated: true, 'changes-count': 9 })
  })

  test('looks at as many users and teams as the limit of pairs allows', async () => {
    // The places are the workspace and the Default Project, so six pairs are three users and teams.
    expect(await attributesWithLimits(server, { workspaces: 1 })).toMatchObject({
      'who-count': 4,
      'who-looked-at': 3,
      'places-count': 2,
      'places-looked-at': 2,
    })
  })

  test('looks at six places for one team if there are ten places', async () => {
    expect(await attributesWithLimits(server, { workspaces: 9 })).toMatchObject({
      'who-looked-at': 1,
      'places-count': 10,
      'places-looked-at': 6,
    })
  })
})
