import { beforeAll, expect, test } from 'vitest'
import type { Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { base64, createState, lock, postState, stateText } from './support/states.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  grantProject,
  grantWorkspace,
  uniqueName,
  type Member,
  type TestOrganization,
} from './support/world.ts'

/** What pages of the server send. */
const PAGE = { 'x-purser-page': '1' }
const outputs = JSON.stringify({ password: { value: 's3cret', type: 'string', sensitive: true } })

onEachEngine('ETags of what pages poll', (server) => {
  let organization: TestOrganization
  let owner: Client
  let reader: Member
  let teamId: string
  let workspaceId: string
  let projectId: string
  let name: string
  let versions: string
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    owner = organization.owner.client
    ;({ workspaceId } = await createState(organization, outputs))
    const { data } = (await owner.get(`/workspaces/${workspaceId}`)).json
    name = data.attributes.name
    projectId = data.relationships.project.data.id
    versions = `/state-versions?filter[organization][name]=${organization.name}&filter[workspace][name]=${name}`
    teamId = await createTeam(organization, { name: 'readers' })
    await grantWorkspace(organization, teamId, workspaceId, { access: 'read' })
    reader = await addMember(server, organization, [teamId])
  })

  const of = (what: string) => `/organizations/${organization.name}/${what}`
  /** Each with a change that it shows. */
  const polled = (): Record<string, () => Promise<unknown>> => {
    const change = (what: string, type: string, id: string) => () =>
      owner.patch(`/${what}/${id}`, { data: { type, id, attributes: { name: uniqueName('renamed') } } })
    const workspace = () =>
      owner.patch(`/workspaces/${workspaceId}`, {
        data: { type: 'workspaces', id: workspaceId, attributes: { description: uniqueName('changed') } },
      })
    const team = change('teams', 'teams', teamId)
    const project = change('projects', 'projects', projectId)
    const join = () => addMember(server, organization, [teamId])
    return {
      [of('workspaces')]: workspace,
      [of('workspaces?search[name]=work')]: workspace,
      [of(`workspaces/${name}`)]: workspace,
      [`/workspaces/${workspaceId}`]: workspace,
      [of('workspaces?include=project')]: project,
      [`/workspaces/${workspaceId}?include=project,organization`]: project,
      [of('projects')]: project,
      [`/projects/${projectId}`]: project,
      [of('teams')]: team,
      [of('teams?q=re')]: team,
      [`/teams/${teamId}`]: team,
      [`/teams/${teamId}/relationships/organization-memberships`]: join,
      [of('organization-memberships')]: join,
      [of('organization-memberships?include=user,teams')]: join,
      [`/organization-memberships/${reader.membershipId}?include=user,teams`]: team,
      [`/teams/${teamId}/access-grants`]: project,
      [`/workspaces/${workspaceId}/access-grants`]: team,
      [`/projects/${projectId}/access-grants`]: async () => {
        const other = await createTeam(organization, { name: uniqueName('granted') })
        await grantProject(organization, other, projectId, { access: 'read' })
      },
      [of('audit-events')]: workspace,
    }
  }

  test('are those of the body, and known ones are 304 until something changes', async () => {
    // Without it, a changed name of the project would not show in the grants of the team.
    await grantProject(organization, teamId, projectId, { access: 'read' })
    for (const [path, change] of Object.entries(polled())) {
      // Twice, because what is kept is sent from the cache at the third request.
      for (let time = 0; time < 2; time += 1) {
        const plain = await owner.get(path)
        expect([plain.headers.get('etag'), plain.headers.get('cache-control')], path).toEqual([
          null,
          'no-store',
        ])
        const asked = await owner.get(path, PAGE)
        const etag = asked.headers.get('etag') as string
        expect([asked.text, asked.headers.get('cache-control')], path).toEqual([
          plain.text,
          'private, no-cache',
        ])
        const known = await owner.get(path, { 'if-none-match': etag })
        expect([known.status, known.text, known.headers.get('etag')], path).toEqual([304, '', etag])
        await change()
        const changed = await owner.get(path, { 'if-none-match': etag })
        expect(changed.status, path).toBe(200)
        expect(changed.headers.get('etag'), path).not.toBe(etag)
        expect(changed.text, path).not.toBe(asked.text)
      }
    }
  })

  test('of state versions are sent to who did not create one, because creators see upload URLs', async () => {
    const own = await owner.get(versions, PAGE)
    expect([own.headers.get('etag'), own.headers.get('cache-control')]).toEqual([null, 'no-store'])
    expect(own.text).toContain('/upload')
    const theirs = await reader.client.get(versions, PAGE)
    expect(theirs.text).not.toContain('/upload')
    const etag = theirs.headers.get('etag') as string
    expect((await reader.client.get(versions, { 'if-none-match': etag })).status).toBe(304)
    expect((await owner.get(versions, { 'if-none-match': etag })).status).toBe(200)
    await lock(owner, workspaceId)
    const second = stateText(outputs, 2)
    const made = await postState(owner, workspaceId, second, { state: base64(second) })
    expect(made.status, made.text).toBe(201)
    expect((await reader.client.get(versions, { 'if-none-match': etag })).status).toBe(200)
  })

  test('are not sent with revealed values or with included state versions', async () => {
    for (const include of ['outputs', 'current_state_version']) {
      for (const path of [`/workspaces/${workspaceId}`, of('workspaces')]) {
        const answer = await owner.get(`${path}?include=${include}`, PAGE)
        expect([answer.status, answer.headers.get('etag'), answer.headers.get('cache-control')]).toEqual([
          200,
          null,
          'no-store',
        ])
      }
    }
  })

  test('give nobody a 304 who would get no 200', async () => {
    const { client, membershipId, id } = await addMember(server, organization, [teamId])
    const paths = [of('workspaces'), `/workspaces/${workspaceId}`, `/teams/${teamId}`, versions]
    const etags = new Map<string, string>()
    for (const path of paths) {
      etags.set(path, (await client.get(path, PAGE)).headers.get('etag') as string)
    }
    const ask = async () => {
      const statuses = new Set<number>()
      for (const [path, etag] of etags) {
        statuses.add((await client.get(path, { ...PAGE, 'if-none-match': etag })).status)
        statuses.add((await client.get(path, { 'if-none-match': '*' })).status)
      }
      return [...statuses]
    }
    expect(await ask()).toEqual([304])
    await owner.delete(`/organization-memberships/${membershipId}`)
    expect(await ask()).toEqual([404])
    await server.admin.post(`/admin/users/${id}/actions/suspend`, body('users', {}))
    expect(await ask()).toEqual([401])
  })
})
