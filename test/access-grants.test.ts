import { beforeAll, expect, test } from 'vitest'
import type { Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  createProject,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantProject,
  grantWorkspace,
  inProject,
  type TestOrganization,
} from './support/world.ts'

type Item = {
  id: string
  attributes: {
    access: string
    level: string
    gives: string[]
    team: { id: string; name: string }
    on: { type: string; id: string; name: string }
  }
  links: { self: string }
}

onEachEngine('access grants', { dialect: 'current' }, (server) => {
  let organization: TestOrganization
  const teams: Record<string, string> = {}
  const projects: string[] = []
  const workspaces: string[] = []
  const callers: Record<string, Client> = {}
  let owners = ''
  let grants: { id: string; path: string; teamId: string; workspaceIds: string[]; projectId: string }[] = []

  const all = async (client: Client, path: string): Promise<Item[]> => {
    const found: Item[] = []
    for (let number: number | null = 1; number !== null;) {
      const answer = await client.get(`${path}?page[size]=3&page[number]=${number}`)
      if (answer.status === 404) return []
      expect(answer.status, answer.text).toBe(200)
      found.push(...answer.json.data)
      number = answer.json.meta.pagination['next-page']
    }
    return found
  }

  /** Each level on a workspace and on a project, of a visible and of a secret team, and a member for each. */
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    for (let n = 0; n < 2; n += 1) {
      const projectId = await createProject(organization)
      projects.push(projectId)
      for (let m = 0; m < 2; m += 1) {
        const project = inProject(projectId)
        workspaces.push(await createWorkspace(organization, {}, project))
      }
    }
    const [project = '', other = ''] = projects
    const [workspace = '', sibling = '', stranger = ''] = workspaces
    const subjects = [
      await createTeam(organization, { visibility: 'organization' }),
      await createTeam(organization, { visibility: 'secret' }),
    ]
    for (const [place, teamId] of subjects.entries()) {
      teams[place === 0 ? 'visible' : 'secret'] = teamId
      for (const id of [workspace, sibling, stranger]) {
        await grantWorkspace(organization, teamId, id, { access: place === 0 ? 'read' : 'write' })
      }
      for (const id of [project, other]) await grantProject(organization, teamId, id, { access: 'write' })
    }
    const holders: Record<string, (teamId: string) => Promise<unknown>> = {
      ...Object.fromEntries(
        ['read', 'plan', 'write', 'admin'].map((access) => [
          `workspace ${access}`,
          (teamId: string) => grantWorkspace(organization, teamId, workspace, { access }),
        ]),
      ),
      ...Object.fromEntries(
        ['read', 'write', 'maintain', 'admin'].map((access) => [
          `project ${access}`,
          (teamId: string) => grantProject(organization, teamId, project, { access }),
        ]),
      ),
      'read-outputs': (teamId) =>
        grantWorkspace(organization, teamId, workspace, {
          access: 'custom',
          'state-versions': 'read-outputs',
        }),
      nothing: async () => undefined,
    }
    for (const [name, give] of Object.entries(holders)) {
      const teamId = await createTeam(organization)
      await give(teamId)
      callers[name] = (await addMember(server, organization, [teamId])).client
    }
    for (const flag of ['manage-workspaces', 'manage-projects', 'read-workspaces', 'access-secret-teams']) {
      const team = await createTeam(organization, { 'organization-access': { [flag]: true } })
      callers[flag] = (await addMember(server, organization, [team])).client
    }
    callers.member = (await addMember(server, organization, [teams.secret as string])).client
    callers.owner = organization.owner.client
    callers.administrator = server.admin
    const everything = { 'manage-projects': true, 'access-secret-teams': true }
    const managers = await createTeam(organization, { 'organization-access': everything })
    callers['manage-projects and access-secret-teams'] = (
      await addMember(server, organization, [managers])
    ).client
    const named = await organization.owner.client.get(
      `/organizations/${organization.name}/teams?filter[names]=owners`,
    )
    owners = named.json.data[0].id
    await grantWorkspace(organization, owners, workspace, { access: 'read' })
    await grantProject(organization, owners, project, { access: 'read' })
    const ofPlace = async (path: string, type: 'workspace' | 'project', ids: readonly string[]) => {
      for (const id of ids) {
        const { json } = await organization.owner.client.get(
          `/${path}?filter[${type}][id]=${id}&page[size]=100`,
        )
        for (const one of json.data) {
          grants.push({
            id: one.id,
            path,
            teamId: one.relationships.team.data.id,
            projectId: type === 'project' ? id : (projects[Math.floor(ids.indexOf(id) / 2)] as string),
            workspaceIds:
              type === 'workspace' ? [id] : workspaces.slice(projects.indexOf(id) * 2).slice(0, 2),
          })
        }
      }
    }
    await ofPlace('team-workspaces', 'workspace', workspaces)
    await ofPlace('team-projects', 'project', projects)
  })

  test('a list shows exactly the grants that its reader may show one by one', async () => {
    let shown = 0
    for (const [name, client] of Object.entries(callers)) {
      const seen = new Set<string>()
      for (const { id, path } of grants) {
        if ((await client.get(`/${path}/${id}`)).status === 200) seen.add(id)
      }
      const expectSame = async (path: string, wanted: typeof grants) => {
        if ((await client.get(path)).status === 404) return
        const listed = (await all(client, path)).map(({ id }) => id).toSorted()
        shown += listed.length
        const expected = wanted.filter(({ id }) => seen.has(id)).map(({ id }) => id)
        expect([name, path, listed]).toEqual([name, path, expected.toSorted()])
      }
      for (const id of [...Object.values(teams), owners]) {
        await expectSame(
          `/teams/${id}/access-grants`,
          grants.filter(({ teamId }) => teamId === id),
        )
      }
      for (const id of workspaces) {
        await expectSame(
          `/workspaces/${id}/access-grants`,
          grants.filter(({ workspaceIds }) => workspaceIds.includes(id)),
        )
      }
      for (const id of projects) {
        await expectSame(
          `/projects/${id}/access-grants`,
          grants.filter(({ path, projectId }) => path === 'team-projects' && projectId === id),
        )
      }
    }
    expect(shown).toBeGreaterThan(100)
  })

  test('a grant names its team and its place, and says what it gives there', async () => {
    const [workspace = ''] = workspaces
    const listed = await all(organization.owner.client, `/workspaces/${workspace}/access-grants`)
    const ofVisible = listed.filter(({ attributes }) => attributes.team.id === teams.visible)
    expect(
      ofVisible.map(({ attributes: { on, access, level, gives } }) => [on.type, access, level, gives]),
    ).toEqual(
      expect.arrayContaining([
        [
          'workspaces',
          'read',
          'read',
          ['read-workspace', 'read-current-outputs', 'read-outputs', 'read-state'],
        ],
        [
          'projects',
          'write',
          'write',
          ['read-workspace', 'read-current-outputs', 'read-outputs', 'read-state', 'write-state', 'lock'],
        ],
      ]),
    )
    const ofTeam = await all(organization.owner.client, `/teams/${teams.visible}/access-grants`)
    expect(ofTeam).toHaveLength(5)
    const onProject = ofTeam.find(({ attributes }) => attributes.on.type === 'projects')
    expect(onProject?.attributes.gives).toContain('workspaces/lock')
    for (const { id, links } of ofTeam) {
      const { json } = await organization.owner.client.get(links.self.replace('/api/v2', ''))
      expect(json.data.id).toBe(id)
    }
  })
})
