import { beforeAll, describe, expect, test } from 'vitest'
import { NOT_FOUND, type Client, type Response } from './support/client.ts'
import { changesOf, type Change } from './support/dry-runs.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import type { TestServer } from './support/server.ts'
import { lock } from './support/states.ts'
import {
  addMember,
  body,
  createProject,
  createTeam,
  createTestOrganization,
  createUser,
  createWorkspace,
  grantProject,
  grantWorkspace,
  inProject,
  invitePerson,
  uniqueName,
  type Member,
  type TestOrganization,
} from './support/world.ts'

const movedTo = (project: string) => body('workspaces', {}, inProject(project))
const suspend = (client: Client, user: string, query = '?dry-run=true') =>
  client.post(`/admin/users/${user}/actions/suspend${query}`)
const remove = (client: Client, user: string) => client.delete(`/admin/users/${user}?dry-run=true`)

/** `WHO on PLACE: FROM → TO`, in order. */
const linesOf = (changes: readonly Change[]) =>
  changes.map(({ who, on, from, to }) => `${who.name} on ${on.name}: ${from} → ${to}`).toSorted()

/** An organization with a project, and a workspace in it. Both have a team with a member, one of them a flag, too. */
async function createPlaces(server: TestServer) {
  const organization = await createTestOrganization(server)
  const project = await createProject(organization, { name: 'shared' })
  const workspace = await createWorkspace(organization, { name: 'network' }, inProject(project))
  const readers = await createTeam(organization, { name: 'readers' })
  const flags = { 'manage-membership': true }
  const keepers = await createTeam(organization, { name: 'keepers', 'organization-access': flags })
  await grantWorkspace(organization, readers, workspace, { access: 'read' })
  await grantProject(organization, keepers, project, { access: 'admin' })
  const reader = await addMember(server, organization, [readers])
  const keeper = await addMember(server, organization, [keepers])
  return { organization, client: organization.owner.client, project, workspace, readers, reader, keeper }
}
type Places = Awaited<ReturnType<typeof createPlaces>>

/** The change is refused with the same answer as its dry run. Returns its status. */
async function refusalOf(caller: Client, method: string, path: string, sent?: object): Promise<number> {
  const dryRun = await caller.request(method, `${path}?dry-run=true`, sent)
  const change = await caller.request(method, path, sent)
  expect(dryRun.text).toBe(change.text)
  return change.status
}

const countsOf = ({ json }: Response) => json.data.attributes

onEachEngine('a dry run of an ending', (server) => {
  describe('of a membership', () => {
    let places: Places
    const removal = ({ membershipId }: Pick<Member, 'membershipId'>, query = '?dry-run=true') =>
      `/organization-memberships/${membershipId}${query}`
    beforeAll(async () => {
      places = await createPlaces(server)
    })

    test('names everything that somebody loses, and removes nobody', async () => {
      const { organization, client, keeper, workspace } = places
      const answer = await client.delete(removal(keeper))
      const changes = changesOf(answer)
      expect(answer.json.data.id).toBe(keeper.membershipId)
      expect(countsOf(answer)).toMatchObject({ 'who-count': 1, 'places-count': 3 })
      expect(new Set(changes.map(({ who }) => who.id))).toEqual(new Set([keeper.id]))
      const ofFlags = changes.find(({ on }) => on.type === 'organizations')
      expect(ofFlags).toMatchObject({
        on: { id: organization.name },
        gained: [],
        lost: ['manage-membership'],
      })
      expect(linesOf(changes.filter(({ from }) => from !== undefined))).toEqual(
        [
          `${keeper.username} on network: admin → none`,
          `${keeper.username} on shared: admin → none`,
          // Every member may read current outputs. That has no level.
          `${keeper.username} on Default Project: none → none`,
        ].toSorted(),
      )
      expect((await keeper.client.get(`/workspaces/${workspace}`)).status).toBe(200)
    })

    test('does not name somebody who is only invited', async () => {
      const { organization, client, readers } = places
      const person = await createUser(server)
      const membershipId = await invitePerson(organization, person, [readers])
      const answer = await client.delete(removal({ membershipId }))
      expect(changesOf(answer)).toEqual([])
      expect(countsOf(answer)['who-count']).toBe(0)
      expect(answer.text).not.toContain(person.id)
      expect(answer.text).not.toContain(person.username)
      expect(changesOf(await person.client.delete(removal({ membershipId })))).toEqual([])
    })

    test('tells a member who leaves what their own teams give', async () => {
      const { reader } = places
      expect(linesOf(changesOf(await reader.client.delete(removal(reader))))).toEqual([
        `${reader.username} on network: read → none`,
        `${reader.username} on shared: custom → none`,
      ])
    })

    test('tells a manager of memberships nothing about places that they do not see', async () => {
      const { organization, keeper } = places
      const open = await createTeam(organization, { visibility: 'organization' })
      const manager = await addMember(server, organization, [
        await createTeam(organization, { 'organization-access': { 'manage-membership': true } }),
      ])
      const answer = await manager.client.delete(removal(await addMember(server, organization, [open])))
      expect(changesOf(answer)).toEqual([])
      expect(countsOf(answer)['places-count']).toBe(0)
      expect(await refusalOf(manager.client, 'DELETE', removal(keeper, ''))).toBe(403)
    })

    test('is refused like the change: the last owner, and callers who may not', async () => {
      const { organization, client, reader, keeper } = places
      const listed = await client.get(`/organizations/${organization.name}/organization-memberships`)
      const found = listed.json.data.find(
        (one: { relationships: { user: { data: { id: string } } } }) =>
          one.relationships.user.data.id === organization.owner.id,
      )
      expect(await refusalOf(client, 'DELETE', removal({ membershipId: found.id }, ''))).toBe(403)
      expect((await reader.client.delete(removal(keeper))).text).toBe(NOT_FOUND)
    })
  })

  describe('of what a user may do, by suspending or deleting them', () => {
    test('names what they lose in each organization, as removing them there does', async () => {
      const { organization, client, reader, project } = await createPlaces(server)
      const other = await createPlaces(server)
      const gone = await createPlaces(server)
      const membershipIds = [reader.membershipId]
      for (const { organization: joined, readers } of [other, gone]) {
        const id = await invitePerson(joined, reader, [readers])
        await reader.client.post(`/organization-memberships/${id}/actions/accept`)
        membershipIds.push(id)
      }
      await invitePerson(await createTestOrganization(server), reader)
      expect((await gone.client.delete(`/organizations/${gone.organization.name}`)).status).toBe(204)
      const expected = [
        ...changesOf(await client.delete(`/organization-memberships/${membershipIds[0]}?dry-run=true`)),
        ...changesOf(await other.client.delete(`/organization-memberships/${membershipIds[1]}?dry-run=true`)),
      ]
      const answer = await suspend(server.admin, reader.id)
      expect(answer.json.data.id).toBe(reader.id)
      expect(countsOf(answer)).toMatchObject({ 'who-count': 1, 'places-count': 6 })
      const order = (changes: Change[]) => changes.toSorted((a, b) => (a.on.id < b.on.id ? -1 : 1))
      expect(order(changesOf(answer))).toEqual(order(expected))
      expect((await reader.client.get(`/projects/${project}`)).status).toBe(200)
      expect((await suspend(organization.owner.client, reader.id)).text).toBe(NOT_FOUND)
    })

    test('has no changes for somebody in no organization, or suspended already', async () => {
      const alone = await createUser(server)
      const answer = await suspend(server.admin, alone.id)
      expect(changesOf(answer)).toEqual([])
      expect(countsOf(answer)['who-count']).toBe(0)
      const { reader } = await createPlaces(server)
      await suspend(server.admin, reader.id, '')
      expect(changesOf(await suspend(server.admin, reader.id))).toEqual([])
      expect(changesOf(await remove(server.admin, reader.id))).toEqual([])
    })

    test('names the same for a deletion, and deletes nobody', async () => {
      const { organization, reader, project } = await createPlaces(server)
      const answer = await remove(server.admin, reader.id)
      expect(answer.status, answer.text).toBe(200)
      expect(changesOf(answer).length).toBeGreaterThan(0)
      expect(answer.text).toBe((await suspend(server.admin, reader.id)).text)
      expect((await reader.client.get(`/projects/${project}`)).status).toBe(200)
      expect((await remove(organization.owner.client, reader.id)).text).toBe(NOT_FOUND)
      expect(await refusalOf(server.admin, 'DELETE', `/admin/users/${organization.owner.id}`)).toBe(403)
    })
  })

  describe('of a workspace or project', () => {
    let places: Places
    beforeAll(async () => {
      places = await createPlaces(server)
    })
    const deletionsOf = ({ organization, workspace }: Places) => [
      ['DELETE', `/workspaces/${workspace}?dry-run=true`],
      ['POST', `/workspaces/${workspace}/actions/safe-delete?dry-run=true`],
      ['DELETE', `/organizations/${organization.name}/workspaces/network?dry-run=true`],
      ['POST', `/organizations/${organization.name}/workspaces/network/actions/safe-delete?dry-run=true`],
    ]

    test('names those whom a grant lets in, and not the owners', async () => {
      const { client, workspace, reader, keeper } = places
      for (const [method = '', path = ''] of deletionsOf(places)) {
        const answer = await client.request(method, path)
        const changes = changesOf(answer)
        expect(answer.json.data.id).toBe(workspace)
        expect(linesOf(changes)).toEqual(
          [
            'readers on network: read → none',
            'keepers on network: admin → none',
            `${reader.username} on network: read → none`,
            `${keeper.username} on network: admin → none`,
          ].toSorted(),
        )
        const ofReader = changes.find(({ who }) => who.id === reader.id)
        expect(ofReader?.lost).toEqual([
          'read-workspace',
          'read-current-outputs',
          'read-outputs',
          'read-state',
        ])
      }
      expect((await client.get(`/workspaces/${workspace}`)).status).toBe(200)
    })

    test('is refused like the change: a locked workspace, and a project with workspaces', async () => {
      const { client, project, reader } = places
      const locked = await createWorkspace(places.organization, {}, inProject(project))
      await lock(client, locked)
      expect(await refusalOf(client, 'POST', `/workspaces/${locked}/actions/safe-delete`)).toBe(409)
      expect(await refusalOf(client, 'DELETE', `/projects/${project}`)).toBe(409)
      expect(await refusalOf(reader.client, 'DELETE', `/workspaces/${locked}`)).toBe(404)
      expect(await refusalOf(reader.client, 'DELETE', `/projects/${project}`)).toBe(404)
    })

    test('names those with a grant on a project that is deleted', async () => {
      const { organization, client, readers, reader } = places
      const project = await createProject(organization, { name: 'empty' })
      await grantProject(organization, readers, project, { access: 'maintain' })
      expect(linesOf(changesOf(await client.delete(`/projects/${project}?dry-run=true`)))).toEqual(
        ['readers on empty: maintain → none', `${reader.username} on empty: maintain → none`].toSorted(),
      )
      expect((await client.get(`/projects/${project}`)).status).toBe(200)
    })
  })
})

onEachEngine('a dry run of moving workspaces', (server) => {
  let places: Places
  let other: string
  beforeAll(async () => {
    places = await createPlaces(server)
    const { organization, readers } = places
    other = await createProject(organization, { name: 'other' })
    await grantProject(organization, readers, other, { access: 'write' })
  })

  test('names who loses and who gains by the grants on both projects', async () => {
    const { organization, client, project, workspace, reader, keeper } = places
    const moved = { data: [{ type: 'workspaces', id: workspace }] }
    const expected = [
      'readers on network: read → write',
      'keepers on network: admin → none',
      `${reader.username} on network: read → write`,
      `${keeper.username} on network: admin → none`,
    ].toSorted()
    for (const [method, path, sent] of [
      ['PATCH', `/workspaces/${workspace}`, movedTo(other)],
      ['PATCH', `/organizations/${organization.name}/workspaces/network`, movedTo(other)],
      ['POST', `/projects/${other}/relationships/workspaces`, moved],
    ] as const) {
      expect(linesOf(changesOf(await client.request(method, `${path}?dry-run=true`, sent)))).toEqual(expected)
    }
    const { json } = await client.get(`/workspaces/${workspace}`)
    expect(json.data.relationships.project.data.id).toBe(project)
  })

  test('has no changes if the workspace stays', async () => {
    const { client, project, workspace } = places
    const path = `/workspaces/${workspace}?dry-run=true`
    expect(changesOf(await client.patch(path, movedTo(project)))).toEqual([])
    expect(changesOf(await client.patch(path, body('workspaces', { name: 'renamed' })))).toEqual([])
    const stays = { data: [{ type: 'workspaces', id: workspace }] }
    const into = `/projects/${project}/relationships/workspaces?dry-run=true`
    expect(changesOf(await client.post(into, stays))).toEqual([])
  })

  test('is the same 422 for a project that is hidden or missing, and for a hidden workspace', async () => {
    const { organization, keeper, project, workspace } = places
    const hidden = await createWorkspace(organization, {}, inProject(other))
    const path = `/workspaces/${workspace}`
    expect(await refusalOf(keeper.client, 'PATCH', path, movedTo(other))).toBe(422)
    const [ofHidden, ofMissing] = await Promise.all(
      [other, 'prj-zzzzzzzzzzzzzzzz'].map((id) => keeper.client.patch(`${path}?dry-run=true`, movedTo(id))),
    )
    expect(ofHidden?.text).toBe(ofMissing?.text)
    const sent = { data: [workspace, hidden].map((id) => ({ type: 'workspaces', id })) }
    const into = `/projects/${project}/relationships/workspaces`
    expect(await refusalOf(keeper.client, 'POST', into, sent)).toBe(422)
  })

  test('is 400 with a name, for callers who do not see all workspaces', async () => {
    const { organization, client, keeper, workspace } = places
    const taken = uniqueName('hidden')
    await createWorkspace(organization, { name: taken })
    const rename = (caller: Client, name: string) =>
      caller.patch(`/workspaces/${workspace}?dry-run=true`, body('workspaces', { name }))
    const answers = await Promise.all([taken, uniqueName('free')].map((name) => rename(keeper.client, name)))
    expect(answers.map(({ status }) => status)).toEqual([400, 400])
    expect(answers[0]?.text).toBe(answers[1]?.text)
    expect((await rename(client, taken)).status).toBe(422)
  })
})

/** An organization with some workspaces, and a team of some members. The first workspace has a grant to the team. */
async function createCrowd(server: TestServer, { workspaces, members }: Record<string, number>) {
  const organization: TestOrganization = await createTestOrganization(server)
  const team = await createTeam(organization)
  const ids: string[] = []
  for (let count = 0; count < (workspaces ?? 0); count++) ids.push(await createWorkspace(organization))
  await grantWorkspace(organization, team, ids[0] as string, { access: 'read' })
  const people: Member[] = []
  for (let count = 0; count < (members ?? 0); count++) {
    people.push(await addMember(server, organization, [team]))
  }
  return { organization, client: organization.owner.client, workspace: ids[0] as string, ids, people }
}

onEachEngine(
  'a dry run of an ending with limits',
  { maxDryRunPairs: '6', maxDryRunChanges: '2' },
  (server) => {
    test('looks at as many people as the limit of pairs allows, and names as many as that of changes', async () => {
      const { client, workspace } = await createCrowd(server, { workspaces: 1, members: 8 })
      const attributes = countsOf(await client.delete(`/workspaces/${workspace}?dry-run=true`))
      expect(attributes.changes).toHaveLength(2)
      expect(attributes).toMatchObject({
        truncated: true,
        'changes-count': 6,
        'who-count': 9,
        'who-looked-at': 6,
      })
    })

    test('looks at as many places as the limit allows', async () => {
      const { client, people } = await createCrowd(server, { workspaces: 9, members: 1 })
      const path = `/organization-memberships/${people[0]?.membershipId}?dry-run=true`
      expect(countsOf(await client.delete(path))).toMatchObject({
        truncated: true,
        'places-count': 10,
        'places-looked-at': 6,
      })
    })

    test('looks at as many of the workspaces that move as the limit allows', async () => {
      const { organization, client, ids } = await createCrowd(server, { workspaces: 9, members: 1 })
      const project = await createProject(organization)
      const team = await createTeam(organization)
      await grantProject(organization, team, project, { access: 'read' })
      const moved = { data: ids.map((id) => ({ type: 'workspaces', id })) }
      const path = `/projects/${project}/relationships/workspaces?dry-run=true`
      expect(countsOf(await client.post(path, moved))).toMatchObject({
        truncated: true,
        'changes-count': 6,
        'who-looked-at': 1,
        'places-count': 9,
        'places-looked-at': 6,
      })
    })

    test('names changes of a level first if it cannot name all', async () => {
      const organization = await createTestOrganization(server)
      await createWorkspace(organization, { name: 'aaa' })
      const team = await createTeam(organization)
      const workspace = await createWorkspace(organization, { name: 'zzz' })
      await grantWorkspace(organization, team, workspace, { access: 'read' })
      const { username, membershipId } = await addMember(server, organization, [team])
      const path = `/organization-memberships/${membershipId}?dry-run=true`
      const attributes = countsOf(await organization.owner.client.delete(path))
      expect(attributes['changes-count']).toBe(3)
      expect(linesOf(attributes.changes)).toEqual([
        `${username} on Default Project: custom → none`,
        `${username} on zzz: read → none`,
      ])
    })

    test('counts a project for each organization that it does not look at', async () => {
      const crowds = [
        await createCrowd(server, { workspaces: 9, members: 1 }),
        await createCrowd(server, { workspaces: 9, members: 0 }),
      ]
      const person = crowds[0]?.people[0] as Member
      const id = await invitePerson((crowds[1] as (typeof crowds)[0]).organization, person)
      await person.client.post(`/organization-memberships/${id}/actions/accept`)
      expect(countsOf(await suspend(server.admin, person.id))).toMatchObject({
        truncated: true,
        'who-count': 1,
        'places-count': 11,
        'places-looked-at': 6,
      })
    })
  },
)
