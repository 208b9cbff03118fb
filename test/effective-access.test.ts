import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { NOT_FOUND, type Client } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createOwnersToken, setUserTokens } from './support/organization-tokens.ts'
import { createGrants, grantsAndMembers, leastGrants } from './support/random-grants.ts'
import { longTimeout, runs } from './support/runs.ts'
import { createState } from './support/states.ts'
import { projectRequests, workspaceRequests, type TriedPlace } from './support/tried-actions.ts'
import {
  addMember,
  createProject,
  createTeam,
  createTestOrganization,
  createUser,
  createWorkspace,
  grantProject,
  grantWorkspace,
  inProject,
  invitePerson,
  type TestOrganization,
} from './support/world.ts'

const noTeam = 'team-zzzzzzzzzzzzzzzz'

type Shown = Record<string, boolean>
type Grant = { gives: string[]; source: string; level: string }

type Way = {
  grant: string
  access?: string
  flag?: string
  on?: { type: string; id: string; name?: string }[]
  description: string
}

/** A new team that has what an entry of granted-by names. Undefined for the entry `owner`. */
async function teamWith(organization: TestOrganization, { grant, flag, access = '', on = [] }: Way) {
  if (grant === 'owner') return undefined
  const flags = flag === undefined ? {} : { [flag]: true }
  const team = await createTeam(organization, { 'organization-access': flags })
  const [place] = on.slice(-1)
  if (place === undefined) return team
  const [level = '', part = '', value = 'true'] = access.split(/ with |: /)
  const isOfProject = place.type === 'projects'
  const parts: Record<string, unknown> = { 'state-versions': value, 'workspace-locking': true }
  if (!isOfProject) {
    const details = part === '' ? {} : { [part]: parts[part] }
    await grantWorkspace(organization, team, place.id, { access: level, ...details })
    return team
  }
  const inside = { 'state-versions': value, 'workspace-locking': true, workspaces: true }[part]
  const name = { 'workspace-locking': 'locking', workspaces: 'create' }[part] ?? part
  const details = part === '' ? {} : { 'workspace-access': { [name]: inside } }
  await grantProject(organization, team, place.id, { access: level, ...details })
  return team
}

/** The grants listed as sources must together give exactly the listed actions. */
function expectSumOfGrants(attributes: { may: Shown; 'may-in-workspaces'?: Shown; grants: Grant[] }): void {
  const given = new Set(attributes.grants.flatMap((grant) => grant.gives))
  const may = [
    ...Object.entries(attributes.may),
    ...Object.entries(attributes['may-in-workspaces'] ?? {}).map(
      ([name, is]) => [`workspaces/${name}`, is] as const,
    ),
  ]
  const held = may.filter(([, is]) => is).map(([name]) => name)
  expect([...given].toSorted()).toEqual(held.toSorted())
}

onEachEngine('effective access', (server) => {
  const ask = (client: Client, { name }: TestOrganization, query: string) =>
    client.get(`/organizations/${name}/effective-access?${query}`)

  test(
    'is what requests get, for every kind of user and team, and the sum of what it names',
    async () => {
      await fc.assert(
        fc.asyncProperty(grantsAndMembers, async (random) => {
          const made = await createGrants(server, random)
          const { organization, teamIds, projects, workspaces, members } = made
          const { client: owner } = organization.owner
          const path = `/organizations/${organization.name}`
          const places: TriedPlace[] = []
          for (const workspace of workspaces) {
            const { stateVersionId } = await createState(
              organization,
              '{"a":{"value":1,"type":"number"}}',
              workspace,
            )
            const shown = await owner.get(`/workspaces/${workspace}`)
            places.push({
              workspace,
              workspaceName: shown.json.data.attributes.name,
              stateVersion: stateVersionId,
            })
          }
          const subjects: { query: string; client: Client }[] = members.map(({ id, client }) => ({
            query: `user=${id}`,
            client,
          }))
          for (const id of teamIds.slice(0, 2)) {
            const token = await owner.post(`/teams/${id}/authentication-token`)
            subjects.push({ query: `team=${id}`, client: server.client(token.json.data.attributes.token) })
          }
          subjects.push({ query: `user=${organization.owner.username}`, client: owner })
          for (const { query, client } of subjects) {
            const all = await ask(owner, organization, query)
            expect(all.json.data).toHaveLength(workspaces.length)
            for (const place of places) {
              const one = await ask(owner, organization, `${query}&workspace=${place.workspace}`)
              expect(one.status).toBe(200)
              const [resource] = one.json.data
              const { 'granted-by': missing, ...attributes } = resource.attributes
              expect(all.json.data.find(({ id }: { id: string }) => id === resource.id)).toEqual({
                ...resource,
                attributes,
              })
              const { may } = attributes
              expect(Object.keys(missing)).toEqual(Object.keys(may).filter((name) => !may[name]))
              const seen: Shown = {}
              for (const [action, tryIt] of Object.entries(workspaceRequests)) {
                seen[action] = await tryIt(client, place)
              }
              expect({ query, ...seen }).toEqual({ query, ...may })
              expectSumOfGrants(resource.attributes)
              const own = await ask(client, organization, `${query}&workspace=${place.workspaceName}`)
              if (may['read-workspace']) expect(own.json.data).toEqual([resource])
              else expect(own.text).toBe(NOT_FOUND)
            }
            const seenByThemselves = await ask(client, organization, query)
            expect(seenByThemselves.json.data.map(({ id }: { id: string }) => id)).toEqual(
              all.json.data
                .filter((one: { attributes: { level: string } }) => one.attributes.level !== 'none')
                .map(({ id }: { id: string }) => id),
            )
            for (const [place, project] of projects.entries()) {
              const one = await ask(owner, organization, `${query}&project=${project}`)
              const [{ attributes }] = one.json.data
              const seen: Shown = {}
              for (const [action, tryIt] of Object.entries(projectRequests)) {
                seen[action] = await tryIt(client, project, path, (places[place] as TriedPlace).workspaceName)
              }
              expect({ query, ...seen }).toEqual({ query, ...attributes.may })
              expectSumOfGrants(attributes)
            }
          }
        }),
        { ...runs(2, 100), examples: [[leastGrants]] },
      )
    },
    longTimeout * 3,
  )

  test('names the level, the details and every grant with what it gives', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const project = await createProject(organization, { name: 'Network' })
    const workspace = await createWorkspace(organization, { name: 'network' }, inProject(project))
    const readers = await createTeam(organization, { name: 'readers' })
    const lockers = await createTeam(organization, { name: 'lockers' })
    const member = await addMember(server, organization, [readers, lockers])
    const onWorkspace = await grantWorkspace(organization, readers, workspace, { access: 'plan' })
    const onProject = await grantProject(organization, lockers, project, {
      access: 'custom',
      'workspace-access': { locking: true, variables: 'write' },
    })
    const one = await ask(client, organization, `user=${member.username.toUpperCase()}&workspace=network`)
    const { 'granted-by': missing, ...shown } = one.json.data[0].attributes
    expect(Object.keys(missing)).toHaveLength(5)
    expect([{ ...one.json.data[0], attributes: shown }]).toEqual([
      {
        id: `${member.id}:${workspace}`,
        type: 'effective-access',
        attributes: {
          name: 'network',
          level: 'custom',
          runs: 'plan',
          variables: 'write',
          'state-versions': 'read',
          'sentinel-mocks': 'none',
          'workspace-locking': true,
          'run-tasks': false,
          'policy-overrides': false,
          may: {
            'read-workspace': true,
            'read-current-outputs': true,
            'read-outputs': true,
            'read-state': true,
            'write-state': false,
            lock: true,
            'force-unlock': false,
            'manage-workspace': false,
            'manage-team-access': false,
            'manage-state-content': false,
          },
          grants: [
            { source: 'organization-member', level: 'none', gives: ['read-current-outputs'] },
            {
              source: 'team-projects',
              id: onProject,
              team: { id: lockers, name: 'lockers' },
              access: 'custom',
              level: 'custom',
              gives: ['read-workspace', 'lock'],
            },
            {
              source: 'team-workspaces',
              id: onWorkspace,
              team: { id: readers, name: 'readers' },
              access: 'plan',
              level: 'plan',
              gives: ['read-workspace', 'read-current-outputs', 'read-outputs', 'read-state'],
            },
          ],
        },
        relationships: {
          user: { data: { id: member.id, type: 'users' } },
          workspace: { data: { id: workspace, type: 'workspaces' } },
          project: { data: { id: project, type: 'projects' } },
        },
      },
    ])
    const ofProject = await ask(client, organization, `user=${member.id}&project=Network`)
    expect(ofProject.json.data[0].attributes).toMatchObject({
      name: 'Network',
      level: 'custom',
      'workspace-access': { locking: true, variables: 'write', runs: 'read', 'state-versions': 'none' },
      'project-access': { settings: 'read', teams: 'none', 'variable-sets': 'none' },
      may: { 'read-project': true, 'manage-project': false },
      'may-in-workspaces': { lock: true, 'read-state': false },
    })
    const ofOwner = await ask(client, organization, `user=${organization.owner.id}&workspace=${workspace}`)
    expect(ofOwner.json.data[0].attributes).toMatchObject({ level: 'admin', 'run-tasks': true })
    expect(ofOwner.json.data[0].attributes.grants[1]).toMatchObject({
      source: 'organization-owner',
      team: { name: 'owners' },
    })
    expect(ofOwner.json.data[0].attributes.may['manage-state-content']).toBe(true)
  })

  test('says for each action that is missing what would give it, as a refusal does', async () => {
    const organization = await createTestOrganization(server)
    const { client: owner } = organization.owner
    const project = await createProject(organization, { name: 'Network' })
    const place = inProject(project)
    const workspace = await createWorkspace(organization, { name: 'network' }, place)
    const seers = await createTeam(organization)
    await grantWorkspace(organization, seers, workspace, { access: 'custom', 'workspace-locking': true })
    const seer = await addMember(server, organization, [seers])
    const missingFor = async (query: string) =>
      (await ask(owner, organization, query)).json.data[0].attributes['granted-by'] as Record<string, Way[]>
    const missing = await missingFor(`user=${seer.id}&workspace=network`)
    const refused = await seer.client.get(`/workspaces/${workspace}/current-state-version`)
    expect(refused.status).toBe(404)
    await server.app.deps.refusals.flush()
    const id = refused.headers.get('x-request-id')
    const explained = await owner.get(`/organizations/${organization.name}/refusals?filter[request-id]=${id}`)
    expect(missing['read-state']).toEqual(explained.json.data[0].attributes['granted-by'])
    expect(missing['read-outputs']?.find(({ access }) => access === 'read')).toEqual({
      grant: 'team-access',
      access: 'read',
      'or-more': true,
      on: [
        { type: 'workspaces', id: workspace, name: 'network' },
        { type: 'projects', id: project, name: 'Network' },
      ],
      description: `a team with access read or more on the workspace network (${workspace}) or the project Network (${project})`,
    })
    const ofProject = await missingFor(`team=${seers}&project=${project}`)
    expect(Object.keys(ofProject)).toEqual(
      expect.arrayContaining(['manage-project', 'workspaces/read-state']),
    )
    expect(ofProject['manage-project']?.map(({ grant }) => grant)).toEqual([
      'organization-access',
      'team-access',
    ])
    // Give each of them to a new team of another member.
    let given = 0
    for (const [kind, on, ways] of [
      ['workspace', workspace, missing],
      ['project', project, await missingFor(`user=${seer.id}&project=${project}`)],
    ] as const) {
      for (const [action, all] of Object.entries(ways)) {
        for (const way of all) {
          const team = await teamWith(organization, way)
          if (team === undefined) continue
          const { json } = await ask(owner, organization, `team=${team}&${kind}=${on}`)
          const { may, 'may-in-workspaces': inside } = json.data[0].attributes
          const name = action.replace('workspaces/', '')
          expect([action, way.description, (name === action ? may : inside)[name]]).toEqual([
            action,
            way.description,
            true,
          ])
          given += 1
        }
      }
    }
    expect(given).toBeGreaterThan(30)
  })

  test('levels follow from flags and grants', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const project = await createProject(organization)
    const workspace = await createWorkspace(organization, {}, inProject(project))
    const levels = async (team: string) => {
      const [ofWorkspace, ofProject] = [
        await ask(client, organization, `team=${team}&workspace=${workspace}`),
        await ask(client, organization, `team=${team}&project=${project}`),
      ]
      return [ofWorkspace, ofProject].map(({ json }) => json.data[0].attributes.level)
    }
    for (const [flag, expected] of [
      ['read-workspaces', ['read', 'read']],
      ['manage-workspaces', ['admin', 'maintain']],
      ['manage-projects', ['admin', 'admin']],
      ['manage-membership', ['none', 'none']],
    ] as const) {
      const team = await createTeam(organization, { 'organization-access': { [flag]: true } })
      expect([flag, ...(await levels(team))]).toEqual([flag, ...expected])
    }
    for (const [attributes, expected] of [
      [{ access: 'read' }, ['read', 'read']],
      [{ access: 'write' }, ['write', 'write']],
      [{ access: 'maintain' }, ['admin', 'maintain']],
      [{ access: 'admin' }, ['admin', 'admin']],
      [{ access: 'custom' }, ['none', 'none']],
      [
        { access: 'custom', 'workspace-access': { 'state-versions': 'read-outputs' } },
        ['read-outputs', 'read-outputs'],
      ],
      [
        { access: 'custom', 'workspace-access': { 'state-versions': 'read', runs: 'plan' } },
        ['plan', 'plan'],
      ],
      [{ access: 'custom', 'workspace-access': { create: true } }, ['custom', 'custom']],
    ] as const) {
      const team = await createTeam(organization)
      await grantProject(organization, team, project, attributes)
      expect([attributes, ...(await levels(team))]).toEqual([attributes, ...expected])
    }
    const team = await createTeam(organization)
    await grantWorkspace(organization, team, workspace, { access: 'admin' })
    expect(await levels(team)).toEqual(['admin', 'custom'])
  })

  test('whoever may not be asked about is missing, and so is what the caller does not see', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspace = await createWorkspace(organization)
    const team = await createTeam(organization)
    const member = await addMember(server, organization, [team])
    const outsider = await createUser(server)
    const invited = await createUser(server)
    await invitePerson(organization, invited)
    const status = async (caller: Client, query: string) => {
      const answer = await ask(caller, organization, query)
      if (answer.status === 404) expect(answer.text).toBe(NOT_FOUND)
      return answer.status
    }
    expect(await status(client, `user=${outsider.id}`)).toBe(404)
    expect(await status(client, 'user=nobody-of-that-name')).toBe(404)
    expect(await status(client, `team=${noTeam}`)).toBe(404)
    expect(await status(client, 'team=a-name')).toBe(404)
    expect(await status(client, `user=${member.id}&workspace=no-such`)).toBe(404)
    expect(await status(client, `user=${member.id}&project=no-such`)).toBe(404)
    // An owner may not know which user was invited until they accept.
    expect(await status(client, `user=${invited.id}`)).toBe(404)
    expect(await status(server.admin, `user=${invited.id}`)).toBe(200)
    expect(await status(invited.client, `user=${invited.id}`)).toBe(404)
    expect(await status(member.client, `team=${team}`)).toBe(404)
    expect(await status(member.client, `user=${organization.owner.id}`)).toBe(404)
    expect(await status(member.client, `user=${member.id}`)).toBe(200)
    expect(await status(member.client, `user=${member.id}&workspace=${workspace}`)).toBe(404)
    const other = await createTestOrganization(server)
    const elsewhere = await createWorkspace(other)
    expect(await status(client, `user=${member.id}&workspace=${elsewhere}`)).toBe(404)
    expect(await status(client, `team=${await createTeam(other)}`)).toBe(404)
    expect((await ask(client, other, `user=${other.owner.id}`)).text).toBe(NOT_FOUND)
    // Only site administrators and the user may know that the user is a site administrator.
    const administrator = await addMember(server, organization)
    await server.admin.post(`/admin/users/${administrator.id}/actions/grant_admin`)
    const level = async (caller: Client, id: string) =>
      (await ask(caller, organization, `user=${id}&workspace=${workspace}`)).json.data[0].attributes.level
    expect(await level(client, administrator.id)).toBe('none')
    expect(await level(server.admin, administrator.id)).toBe('admin')
    expect(await level(administrator.client, administrator.id)).toBe('admin')
    expect(await level(server.admin, outsider.id)).toBe('none')
    const token = await client.post(`/teams/${team}/authentication-token`)
    const ofTeam = server.client(token.json.data.attributes.token)
    expect(await status(ofTeam, `team=${team}`)).toBe(200)
    const account = `api-team_${team.slice('team-'.length)}`
    expect((await ask(client, organization, `user=${account}`)).json.data[0].relationships).toMatchObject({
      team: { data: { id: team, type: 'teams' } },
    })
    expect(await status(member.client, `user=${account}`)).toBe(404)
  })

  test('suspending somebody and refusing user tokens changes nothing in it', async () => {
    const organization = await createTestOrganization(server)
    const workspace = await createWorkspace(organization)
    const team = await createTeam(organization)
    await grantWorkspace(organization, team, workspace, { access: 'write' })
    const member = await addMember(server, organization, [team])
    const reader = await createOwnersToken(server, organization)
    const shown = async () => {
      const { status, json } = await ask(reader, organization, `user=${member.id}&workspace=${workspace}`)
      return [status, json.data]
    }
    const before = await shown()
    expect(before).toMatchObject([200, [{ attributes: { level: 'write' } }]])
    const path = `/workspaces/${workspace}`
    await setUserTokens(organization.owner.client, organization, false)
    expect((await member.client.get(path)).status).toBe(401)
    expect(await shown()).toEqual(before)
    await setUserTokens(server.admin, organization, true)
    expect((await member.client.get(path)).status).toBe(200)
    expect((await server.admin.post(`/admin/users/${member.id}/actions/suspend`)).status).toBe(200)
    expect((await member.client.get(path)).status).toBe(401)
    expect(await shown()).toEqual(before)
  })

  test('a question that makes no sense is 400 and names the parameter', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    for (const [query, parameters] of [
      ['', ['user']],
      ['user=', ['user']],
      ['user=a&team=b', ['team']],
      ['user=a&workspace=b&project=c', ['project']],
      ['user=a&page[size]=x', ['page[size]']],
      ['workspace=b&project=c', ['user', 'project']],
    ] as const) {
      const answer = await ask(client, organization, query)
      expect(answer.status).toBe(400)
      const named = answer.json.errors.map(
        ({ source }: { source: { parameter: string } }) => source.parameter,
      )
      expect(named).toEqual(parameters)
    }
  })

  test('all workspaces come in pages, by name', async () => {
    const organization = await createTestOrganization(server)
    const names = ['c', 'a', 'b']
    for (const name of names) await createWorkspace(organization, { name })
    const query = `user=${organization.owner.id}&page[size]=2`
    const pages = [
      await ask(organization.owner.client, organization, query),
      await ask(organization.owner.client, organization, `${query}&page[number]=2`),
    ]
    expect(
      pages.map(({ json }) =>
        json.data.map(({ attributes }: { attributes: { name: string } }) => attributes.name),
      ),
    ).toEqual([['a', 'b'], ['c']])
    expect(pages[0]?.json.meta.pagination['total-count']).toBe(3)
    expect(pages[0]?.json.links.next).toContain(`user=${organization.owner.id}`)
    const single = await ask(
      organization.owner.client,
      organization,
      `user=${organization.owner.id}&workspace=a&page[number]=2`,
    )
    expect(single.json.data).toEqual([])
  })
})
