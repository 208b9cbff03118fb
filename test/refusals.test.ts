import { Writable } from 'node:stream'
import pino from 'pino'
import { expect, test, vi } from 'vitest'
import type { Refusal } from '../src/refusals/refusal.ts'
import {
  MAX_WAITING,
  MAX_WAITING_OF_CALLER,
  REQUESTS_KEPT,
  WaitingRefusals,
  type Waiting,
} from '../src/refusals/waiting-refusals.ts'
import { NOT_FOUND, type Client, type Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { startNode, startServer } from './support/server.ts'
import { createState } from './support/states.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createUser,
  createWorkspace,
  grantProject,
  grantWorkspace,
  invitePerson,
  type TestOrganization,
} from './support/world.ts'

const DAY_MS = 86_400_000

type Place = { type: 'workspaces' | 'projects'; id: string | null }
type Needed = { grant: string; flag?: string; access?: string; team?: string; on?: Place[] }

onEachEngine('refusals', (server, engine) => {
  const idOf = (response: Response) => {
    expect([response.status, response.text]).toEqual([404, NOT_FOUND])
    return response.headers.get('x-request-id') as string
  }
  const listOf = async (reader: Client, path: string, requestId?: string) => {
    await server.app.deps.refusals.flush()
    const filter = requestId === undefined ? '' : `?filter[request-id]=${requestId}`
    const answer = await reader.get(`${path}${filter}`)
    expect(answer.status).toBe(200)
    return answer.json
  }
  const of = ({ name }: Pick<TestOrganization, 'name'>) => `/organizations/${name}/refusals`
  /** The record of a 404, as the organization's owner reads it. */
  const explained = async (organization: TestOrganization, response: Response) => {
    const { data, meta } = await listOf(organization.owner.client, of(organization), idOf(response))
    expect(meta.pagination['total-count']).toBe(data.length)
    return data[0]
  }
  /** The record of a 404, as a site administrator reads it. */
  const known = async (response: Response) =>
    (await listOf(server.admin, '/admin/refusals', idOf(response))).data[0]

  test('what is forbidden: the permission, on what, who, and which grant would give it', async () => {
    const organization = await createTestOrganization(server)
    const member = await addMember(server, organization)
    const { workspaceId, stateVersionId } = await createState(
      organization,
      '{"a": {"value": 1, "type": "number"}}',
    )
    const refused = await member.client.get(`/state-versions/${stateVersionId}/outputs`)
    const { id, type, attributes, relationships } = await explained(organization, refused)
    expect({ id, type }).toEqual({ id: refused.headers.get('x-request-id'), type: 'refusals' })
    expect(relationships.organization.data).toEqual({ type: 'organizations', id: organization.name })
    const project = await organization.owner.client.get(`/workspaces/${workspaceId}`)
    const projectId = project.json.data.relationships.project.data.id
    const on = [
      { type: 'workspaces', id: workspaceId, name: project.json.data.attributes.name },
      { type: 'projects', id: projectId, name: 'Default Project' },
    ]
    const { 'granted-by': granted, explanation, at, 'first-at': firstAt, ...rest } = attributes
    expect(firstAt).toBe(at)
    expect(rest).toEqual({
      'request-id': id,
      count: 1,
      method: 'GET',
      path: `/api/v2/state-versions/${stateVersionId}/outputs`,
      permission: 'outputs:read',
      reason: 'forbidden',
      object: { type: 'state-versions', id: stateVersionId },
      caller: { type: 'users', id: member.id, name: member.username },
      standing: ['member'],
    })
    expect(Math.abs(Date.parse(at) - server.clock.now().getTime())).toBeLessThan(60_000)
    expect(
      granted.map(({ description, ...needed }: { description: string }) => {
        expect(description).not.toBe('')
        return needed
      }),
    ).toEqual([
      { grant: 'organization-access', flag: 'read-workspaces', 'or-more': true },
      { grant: 'team-access', access: 'read', 'or-more': true, on },
      { grant: 'team-access', access: 'custom with state-versions: read-outputs', 'or-more': true, on },
      { grant: 'owner' },
    ])
    expect(explanation).toContain(
      `The requested object (state-versions ${stateVersionId}) exists, but the caller may not read outputs with their real values: the permission outputs:read is missing.`,
    )
    expect(explanation).toContain(
      `a team with access custom with state-versions: read-outputs or more on the workspace ${workspaceId} or the project ${projectId}`,
    )
  })

  test('neither a refusal nor reading it is in the audit trail, and no value is in a refusal', async () => {
    const organization = await createTestOrganization(server)
    const member = await addMember(server, organization)
    const secret = 'value-of-an-output'
    const outputs = `{"a": {"value": "${secret}", "type": "string", "sensitive": true}}`
    const { stateVersionId } = await createState(organization, outputs)
    const events = async () => {
      const trail = await server.admin.get(`/organizations/${organization.name}/audit-events`)
      return trail.json.meta.pagination['total-count'] as number
    }
    const before = await events()
    const refused = await member.client.get(`/state-versions/${stateVersionId}/outputs`)
    for (const refusal of [await explained(organization, refused), await known(refused)]) {
      expect(refusal.attributes.permission).toBe('outputs:read')
      expect(JSON.stringify(refusal)).not.toContain(secret)
    }
    expect(await events()).toBe(before)
    expect((await organization.owner.client.get(`/state-versions/${stateVersionId}/outputs`)).text).toContain(
      secret,
    )
    expect(await events()).toBe(before + 1)
  })

  test('names are for readers who see what they name: an auditor is told ids', async () => {
    const organization = await createTestOrganization(server)
    const auditors = await createTeam(organization, { 'organization-access': { 'read-audit': true } })
    const auditor = await addMember(server, organization, [auditors])
    const workspaceId = await createWorkspace(organization, { name: 'hidden' })
    const response = await auditor.client.get(`/workspaces/${workspaceId}`)
    const ways = async (reader: Client) => {
      const { data } = await listOf(reader, of(organization), idOf(response))
      return JSON.stringify(data[0].attributes['granted-by'])
    }
    expect(await ways(organization.owner.client)).toContain('"name":"hidden"')
    expect(await ways(server.admin)).toContain(`the workspace hidden (${workspaceId})`)
    expect(await ways(auditor.client)).toContain(`the workspace ${workspaceId}`)
    expect(await ways(auditor.client)).not.toContain('hidden')
    await organization.owner.client.delete(`/workspaces/${workspaceId}`)
    expect(await ways(organization.owner.client)).not.toContain('"name":"hidden"')
  })

  test('what is missing under the name of an organization is for its owners', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const missing = await owner.client.get(`/organizations/${name}/workspaces/nowhere`)
    expect((await explained(organization, missing)).attributes).toMatchObject({
      path: `/api/v2/organizations/${name}/workspaces/nowhere`,
      permission: 'workspace:read',
      reason: 'missing',
      object: { type: 'workspaces', id: null },
      standing: expect.arrayContaining(['owner', 'member']),
      'granted-by': [],
      explanation: expect.stringContaining('does not exist: no grant would help'),
    })
    const noEndpoint = await owner.client.get(`/organizations/${name}/runs/tokens?secret=1`)
    expect((await explained(organization, noEndpoint)).attributes).toMatchObject({
      path: `/api/v2/organizations/${name}/runs/tokens`,
      permission: null,
      object: null,
      explanation: expect.stringContaining('There is no such endpoint here.'),
    })
    const byFilter = `/state-versions?filter[organization][name]=${name}&filter[workspace][name]=nowhere`
    expect((await explained(organization, await owner.client.get(byFilter))).attributes).toMatchObject({
      path: '/api/v2/state-versions',
      reason: 'missing',
      object: { type: 'workspaces', id: null },
    })
    const empty = await createWorkspace(organization)
    const stateless = await owner.client.get(`/workspaces/${empty}/current-state-version-outputs`)
    expect((await explained(organization, stateless)).attributes).toMatchObject({
      reason: 'missing',
      object: { type: 'workspaces', id: empty },
      explanation: expect.stringContaining('The caller may do this (outputs:read-current), but'),
    })
  })

  test('a filter leaves out those who had the permission: what they asked for is not there', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const readers = await createTeam(organization, { 'organization-access': { 'read-workspaces': true } })
    const reader = await addMember(server, organization, [readers])
    const member = await addMember(server, organization)
    const empty = await createWorkspace(organization)
    const nowhere = `/organizations/${name}/workspaces/nowhere`
    const lacking = [
      await member.client.get(nowhere),
      await member.client.get(`/workspaces/${empty}`),
      await reader.client.delete(nowhere),
    ].map(idOf)
    const honest = [
      await owner.client.get(nowhere),
      await server.admin.get(nowhere),
      await reader.client.get(nowhere),
      await owner.client.get(`/workspaces/${empty}/current-state-version`),
      await reader.client.get(`/workspaces/${empty}/current-state-version-outputs`),
      await member.client.get(`/organizations/${name}/no-such-list`),
    ].map(idOf)
    const idsIn = async (query: string) => {
      const { data } = await listOf(owner.client, `${of(organization)}${query}`)
      return data.map(({ id }: { id: string }) => id).toSorted()
    }
    expect(await idsIn('?filter[lacks-permission]=true')).toEqual(lacking.toSorted())
    expect(await idsIn('')).toEqual([...lacking, ...honest].toSorted())
    const wrong = await owner.client.get(`${of(organization)}?filter[lacks-permission]=maybe`)
    expect([wrong.status, wrong.json.errors[0].source]).toEqual([
      400,
      { parameter: 'filter[lacks-permission]' },
    ])
  })

  test('what an administrator asked for that is nowhere was not kept from them', async () => {
    const missing = idOf(await server.admin.get('/workspaces/ws-zzzzzzzzzzzzzzzy'))
    const idsIn = async (query: string) =>
      (await listOf(server.admin, `/admin/refusals${query}`)).data.map(({ id }: { id: string }) => id)
    expect(await idsIn('')).toContain(missing)
    expect(await idsIn('?filter[lacks-permission]=true')).not.toContain(missing)
  })

  test('effective access tells a place that is hidden from a wrong name, and names the place', async () => {
    const organization = await createTestOrganization(server)
    const { owner, name } = organization
    const member = await addMember(server, organization)
    const workspaceId = await createWorkspace(organization, { name: 'hidden' })
    const ask = (client: Client, query: string) =>
      client.get(`/organizations/${name}/effective-access?${query}`)
    const own = await ask(member.client, `user=${member.id}&workspace=hidden`)
    const { attributes } = await explained(organization, own)
    expect(attributes).toMatchObject({
      permission: 'workspace:read',
      reason: 'forbidden',
      object: { type: 'workspaces', id: workspaceId },
    })
    const onPlaces = attributes['granted-by'].filter((needed: Needed) => needed.grant === 'team-access')
    expect(onPlaces[0].on[0]).toEqual({ type: 'workspaces', id: workspaceId, name: 'hidden' })
    for (const query of ['user=nobody-of-that-name', `user=${member.id}&workspace=no-such`]) {
      const missing = await explained(organization, await ask(owner.client, query))
      expect(missing.attributes).toMatchObject({ reason: 'missing', 'granted-by': [] })
      expect(missing.attributes.explanation).toContain(
        `An object that the request names does not exist in the organization ${name}`,
      )
    }
  })

  test('what is nowhere is for site administrators alone', async () => {
    const organization = await createTestOrganization(server)
    const { client, id, username } = organization.owner
    for (const [path, object] of [
      ['/workspaces/ws-zzzzzzzzzzzzzzzz', { type: 'workspaces', id: 'ws-zzzzzzzzzzzzzzzz' }],
      ['/organizations/no-such-organization', { type: 'organizations', id: 'no-such-organization' }],
      [
        '/team-workspaces?filter[workspace][id]=ws-zzzzzzzzzzzzzzzz',
        { type: 'workspaces', id: 'ws-zzzzzzzzzzzzzzzz' },
      ],
      [
        '/authentication-tokens/at-zzzzzzzzzzzzzzzz',
        { type: 'authentication-tokens', id: 'at-zzzzzzzzzzzzzzzz' },
      ],
      [`/admin/users`, null],
      ['/no/such/path%00', null],
    ] as const) {
      const response = await client.get(path)
      const refusal = await known(response)
      expect(refusal.attributes).toMatchObject({ object, caller: { type: 'users', id, name: username } })
      expect(refusal.relationships.organization.data).toBeNull()
      expect((await listOf(client, of(organization), idOf(response))).data).toEqual([])
    }
    const path = '/admin/users'
    expect((await known(await client.get(path))).attributes['granted-by']).toMatchObject([
      { grant: 'site-admin' },
    ])
  })

  test('another organization learns nothing, and of an outsider who knocked an owner learns no name', async () => {
    const organization = await createTestOrganization(server)
    const other = await createTestOrganization(server)
    const workspaceId = await createWorkspace(organization)
    const knocked = await other.owner.client.get(`/workspaces/${workspaceId}`)
    const requestId = idOf(knocked)
    expect((await listOf(other.owner.client, of(other), requestId)).data).toEqual([])
    const refusal = await explained(organization, knocked)
    expect(refusal.attributes).toMatchObject({
      caller: null,
      standing: ['not a member'],
      reason: 'forbidden',
    })
    const text = JSON.stringify(refusal)
    for (const secret of [other.owner.id, other.owner.username, other.name, other.id]) {
      expect(text).not.toContain(secret)
    }
    // A filter by the user's id must find nothing, either.
    const asked = await organization.owner.client.get(`${of(organization)}?filter[user]=${other.owner.id}`)
    expect(asked.json.data).toEqual([])
    expect(asked.json.meta.pagination['total-count']).toBe(0)
    expect((await known(knocked)).attributes.caller).toEqual({
      type: 'users',
      id: other.owner.id,
      name: other.owner.username,
    })
    const team = await createTeam(other)
    const teamToken = await other.owner.client.post(`/teams/${team}/authentication-token`)
    const byTeam = await server.client(teamToken.json.data.attributes.token).get(`/workspaces/${workspaceId}`)
    expect((await explained(organization, byTeam)).attributes).toMatchObject({
      caller: null,
      'granted-by': [],
    })
    const token = await other.owner.client.post(`/organizations/${other.name}/authentication-token`)
    const byOrganization = await server
      .client(token.json.data.attributes.token)
      .get(`/organizations/${organization.name}/teams`)
    expect((await explained(organization, byOrganization)).attributes.caller).toBeNull()
    const person = await createUser(server)
    await invitePerson(organization, person)
    expect(
      (await explained(organization, await person.client.get(`/workspaces/${workspaceId}`))).attributes,
    ).toMatchObject({ caller: null, standing: ['invited, and not yet a member'] })
  })

  test("a team's and the organization's own token are named, and told of grants as far as there are any", async () => {
    const organization = await createTestOrganization(server)
    const workspaceId = await createWorkspace(organization)
    const team = await createTeam(organization, { name: 'builders' })
    const made = await organization.owner.client.post(`/teams/${team}/authentication-token`)
    const teamClient = server.client(made.json.data.attributes.token)
    const refusal = await explained(
      organization,
      await teamClient.post(`/workspaces/${workspaceId}/actions/lock`),
    )
    expect(refusal.attributes.caller).toEqual({ type: 'teams', id: team, name: 'builders' })
    expect(refusal.attributes['granted-by'].map(({ grant }: { grant: string }) => grant)).toEqual([
      'organization-access',
      'team-access',
      'team-access',
    ])
    const personal = await explained(organization, await teamClient.delete(`/teams/${team}`))
    expect(personal.attributes).toMatchObject({
      'granted-by': [],
      explanation: expect.stringContaining("No grant to this team's token would give this permission"),
    })
    const token = await organization.owner.client.post(
      `/organizations/${organization.name}/authentication-token`,
    )
    const own = await server
      .client(token.json.data.attributes.token)
      .post(`/workspaces/${workspaceId}/actions/lock`)
    expect((await explained(organization, own)).attributes).toMatchObject({
      caller: { type: 'organizations', id: organization.name, name: organization.name },
      'granted-by': [],
    })
  })

  test('rules that an act or a document asks are explained too', async () => {
    const organization = await createTestOrganization(server, { 'delegated-team-management': true })
    const delegates = await createTeam(organization, {
      'organization-access': { 'manage-teams': true, 'manage-organization-access': false },
    })
    const member = await addMember(server, organization, [delegates])
    const refused = await member.client.post(
      `/organizations/${organization.name}/teams`,
      body('teams', { name: 'more', 'organization-access': { 'read-workspaces': true } }),
    )
    const { attributes } = await explained(organization, refused)
    expect(attributes).toMatchObject({ permission: 'team:grant', reason: 'forbidden' })
    expect(attributes['granted-by']).toMatchObject([
      { grant: 'organization-access', flag: 'manage-organization-access', 'or-more': false },
      { grant: 'owner' },
    ])
    const secret = await createTeam(organization, { name: 'hidden-team' })
    await organization.owner.client.post(`/teams/${secret}/authentication-token`)
    const account = `api-team_${secret.slice('team-'.length)}`
    const hidden = await explained(organization, await member.client.get(`/users/${account}`))
    expect(hidden.attributes).toMatchObject({
      permission: 'team:read',
      object: { type: 'users', id: account },
    })
    expect(hidden.attributes['granted-by']).toMatchObject([
      {
        grant: 'team-membership',
        team: secret,
        'team-name': 'hidden-team',
        description: `being a member of the team hidden-team (${secret})`,
      },
      { grant: 'owner' },
    ])
  })

  test('each grant that is named ends the refusal when it is given', async () => {
    const organization = await createTestOrganization(server)
    const { client: owner } = organization.owner
    const { workspaceId, stateVersionId } = await createState(organization, '{}')
    const shown = await owner.get(`/workspaces/${workspaceId}`)
    const projectId = shown.json.data.relationships.project.data.id as string
    const secret = await createTeam(organization)
    const requests: ((client: Client) => Promise<Response>)[] = [
      (client) => client.get(`/organizations/${organization.name}`),
      (client) => client.get(`/organizations/${organization.name}/workspaces`),
      (client) => client.get(`/organizations/${organization.name}/organization-memberships`),
      (client) => client.get(`/workspaces/${workspaceId}`),
      (client) => client.patch(`/workspaces/${workspaceId}`, body('workspaces', {})),
      (client) => client.get(`/state-versions/${stateVersionId}`),
      (client) => client.get(`/state-versions/${stateVersionId}/outputs`),
      (client) => client.get(`/teams/${secret}`),
      (client) => client.get(of(organization)),
      (client) => client.patch(`/projects/${projectId}`, body('projects', {})),
      (client) => client.get(`/workspaces/${workspaceId}/current-state-version-outputs`),
    ]
    let given = 0
    /** Other callers with the needed grant, by grant. */
    const others = new Map<string, Client>()
    const people = [(await addMember(server, organization)).client, (await createUser(server)).client]
    for (const request of requests) {
      for (const client of people) {
        const response = await request(client)
        if (client === people[0] && response.status === 200) continue
        const { attributes } = await explained(organization, response)
        expect(attributes['granted-by']).not.toEqual([])
        for (const needed of attributes['granted-by'] as Needed[]) {
          for (const place of needed.on ?? [undefined]) {
            const key = JSON.stringify([needed, place])
            const helped = others.get(key) ?? (await give(needed, place)).client
            others.set(key, helped)
            expect([attributes.path, needed, place, (await request(helped)).status]).toEqual([
              attributes.path,
              needed,
              place,
              200,
            ])
            given += 1
          }
        }
      }
    }
    expect(given).toBeGreaterThan(30)

    async function give(needed: Needed, place: Place | undefined) {
      const flags = needed.flag === undefined ? {} : { 'organization-access': { [needed.flag]: true } }
      if (needed.grant === 'owner') {
        const teams = await owner.get(`/organizations/${organization.name}/teams?filter[names]=owners`)
        return addMember(server, organization, [teams.json.data[0].id])
      }
      if (needed.team !== undefined) return addMember(server, organization, [needed.team])
      const team = await createTeam(organization, flags)
      if (place !== undefined) await grant(team, needed.access as string, place)
      return addMember(server, organization, needed.grant === 'membership' ? [] : [team])
    }

    /**
     * Gives a grant in the words of the answer: "read", "custom with state-versions: read-outputs", "custom with
     * workspace-locking".
     */
    async function grant(team: string, words: string, { type, id }: Place) {
      const [access = '', detail] = words.split(' with ')
      const [name = '', value = true] = detail?.split(': ') ?? []
      if (type === 'workspaces') {
        const details = detail === undefined ? {} : { [name]: value }
        await grantWorkspace(organization, team, id ?? workspaceId, { access, ...details })
        return
      }
      const key = { 'workspace-locking': 'locking', workspaces: 'create' }[name] ?? name
      const details =
        detail === undefined ? {} : { 'workspace-access': { [key]: value === 'create' || value } }
      await grantProject(organization, team, id ?? projectId, { access, ...details })
    }
  })

  test('whoever is no owner is answered the same 404, which is explained in its turn', async () => {
    const organization = await createTestOrganization(server)
    const teams = [
      await createTeam(organization, {
        'organization-access': { 'manage-projects': true, 'manage-membership': true },
      }),
    ]
    const member = await addMember(server, organization, teams)
    const outsider = await createUser(server)
    const token = await organization.owner.client.post(
      `/organizations/${organization.name}/authentication-token`,
    )
    for (const client of [member.client, outsider.client, server.client(token.json.data.attributes.token)]) {
      expect((await explained(organization, await client.get(of(organization)))).attributes).toMatchObject({
        permission: 'refusals:read',
        object: { type: 'organizations', id: organization.name },
      })
      idOf(await client.get('/admin/refusals'))
    }
    idOf(await organization.owner.client.get('/admin/refusals'))
    expect((await server.client('no-such-token-at-all').get(of(organization))).status).toBe(401)
    expect((await listOf(server.admin, of(organization))).data.length).toBeGreaterThan(2)
  })

  test('newest first, in pages, by caller', async () => {
    const organization = await createTestOrganization(server)
    const member = await addMember(server, organization)
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      server.clock.advance(1)
      ids.unshift(idOf(await member.client.get(`/organizations/${organization.name}/workspaces/w${n}`)))
    }
    idOf(await organization.owner.client.get(`/organizations/${organization.name}/workspaces/w`))
    const byUser = `${of(organization)}?filter[user]=${member.id}`
    const { data, meta } = await listOf(organization.owner.client, byUser)
    expect(data.map(({ id }: { id: string }) => id)).toEqual(ids)
    expect(meta.pagination['total-count']).toBe(5)
    const second = await organization.owner.client.get(`${byUser}&page[size]=2&page[number]=2`)
    expect(second.json.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2, 4))
    expect(second.json.links.next).toContain('filter%5Buser%5D=')
  })

  test('a request does the same for what is hidden and for what is missing, and looks nothing up for it', async () => {
    const organization = await createTestOrganization(server)
    const { client } = await addMember(server, organization)
    const workspaceId = await createWorkspace(organization)
    const { database, refusals, lastUsed } = server.app.deps
    await refusals.flush()
    await lastUsed.flush()
    const spies = [vi.spyOn(database, 'read'), vi.spyOn(database, 'write'), vi.spyOn(refusals, 'note')]
    // Delayed writes of the server must not run during the requests.
    const paused = [refusals, lastUsed].map((one) => vi.spyOn(one, 'flush').mockResolvedValue())
    try {
      for (const path of [`/workspaces/${workspaceId}`, '/workspaces/ws-zzzzzzzzzzzzzzzz']) {
        let least = [Infinity]
        // Background work may add calls now and then, so take the lowest count.
        for (let n = 0; n < 10; n++) {
          for (const spy of spies) spy.mockClear()
          idOf(await client.get(path))
          const calls = spies.map((spy) => spy.mock.calls.length)
          if (calls.join() < least.join()) least = calls
        }
        expect([path, ...least]).toEqual([path, 1, 0, 1])
      }
    } finally {
      for (const spy of [...spies, ...paused]) spy.mockRestore()
    }
  })

  test('paths hold nothing but visible ASCII, and no query', async () => {
    const client = (await createUser(server)).client
    const { attributes } = await known(await client.get('/teams/%1b%5b31mred?token=secret'))
    // It has not the form of a name: see masked-paths.test.ts.
    expect(attributes.path).toBe('/api/v2/teams/***')
    const spaced = await known(await client.get('/teams/a%20b'))
    expect(spaced.attributes.path).toBe('/api/v2/teams/a%20b')
    const long = await known(await client.get(`/teams/${'x'.repeat(900)}`))
    expect(long.attributes.path.length).toBeLessThan(200)
  })

  test('with an organization goes what was refused about it', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const requestId = idOf(await client.get(`/organizations/${organization.name}/workspaces/w`))
    expect((await listOf(client, of(organization))).data).toHaveLength(1)
    const late = idOf(await client.get(`/organizations/${organization.name}/workspaces/w`))
    expect((await client.delete(`/organizations/${organization.name}`)).status).toBe(204)
    const isGone = async () => (await listOf(server.admin, '/admin/refusals', requestId)).data.length === 0
    await expect.poll(isGone, { timeout: 20_000 }).toBe(true)
    // A refusal that was not written yet belongs to no organization. If it was written just before, it is gone.
    const { data } = await listOf(server.admin, '/admin/refusals', late)
    expect(data[0]?.relationships.organization.data ?? null).toBeNull()
  })

  test('each organization keeps its newest, for some days', async () => {
    const small = await startServer(engine, { refusalsKept: '3', refusalDays: '2' })
    try {
      const { refusals } = small.app.deps
      const organization = await createTestOrganization(small)
      const other = await createTestOrganization(small)
      let knocks = 0
      const knock = async ({ name, owner }: TestOrganization) => {
        small.clock.advance(1)
        return idOf(await owner.client.get(`/organizations/${name}/workspaces/w${knocks++}`))
      }
      const idsOf = async ({ name, owner }: TestOrganization) =>
        (await owner.client.get(`/organizations/${name}/refusals`)).json.data.map(
          ({ id }: { id: string }) => id,
        )
      const kept = await knock(other)
      const ids: string[] = []
      for (let n = 0; n < 5; n++) ids.unshift(await knock(organization))
      await refusals.flush()
      expect(await idsOf(organization)).toEqual(ids.slice(0, 3))
      ids.unshift(await knock(organization))
      await refusals.flush()
      expect(await idsOf(organization)).toEqual(ids.slice(0, 3))
      expect(await idsOf(other)).toEqual([kept])
      await small.passTime(2 * DAY_MS + 60_000)
      const late = await knock(organization)
      await refusals.flush()
      await refusals.prune()
      expect(await idsOf(organization)).toEqual([late])
      expect(await idsOf(other)).toEqual([])
    } finally {
      await small.stop()
    }
  })

  test('refusals that are alike are counted in one, and found by the ids of the newest', async () => {
    const organization = await createTestOrganization(server)
    const { name, owner } = organization
    const member = await addMember(server, organization)
    const workspaceId = await createWorkspace(organization)
    const path = `/workspaces/${workspaceId}`
    const ids: string[] = []
    for (let n = 0; n < REQUESTS_KEPT + 5; n++) {
      server.clock.advance(1)
      ids.push(idOf(await member.client.get(path)))
      // Some are counted in memory, some in the stored row.
      if (n % 7 === 0) await server.app.deps.refusals.flush()
    }
    const { data, meta } = await listOf(owner.client, of(organization))
    expect(meta.pagination['total-count']).toBe(1)
    const [refusal] = data
    expect(refusal.attributes).toMatchObject({ 'request-id': ids.at(-1), count: ids.length })
    expect(Date.parse(refusal.attributes['first-at'])).toBeLessThan(Date.parse(refusal.attributes.at))
    expect(refusal.attributes.explanation).toContain(`${ids.length} times from `)
    for (const id of ids.slice(-REQUESTS_KEPT)) {
      expect((await listOf(owner.client, of(organization), id)).data).toEqual(data)
    }
    for (const id of ids.slice(0, -REQUESTS_KEPT)) {
      expect((await listOf(owner.client, of(organization), id)).data).toEqual([])
    }
    // A refusal of another caller, of another method or for another reason has a row of its own.
    const other = await addMember(server, organization)
    await other.client.get(path)
    await member.client.patch(path, body('workspaces', {}))
    // Within one second, the grants that the caller held last count.
    await server.app.deps.refusals.flush()
    const team = await createTeam(organization)
    await grantWorkspace(organization, team, workspaceId, { access: 'custom', 'workspace-locking': true })
    const path2 = `/teams/${team}/relationships/users`
    await owner.client.post(path2, { data: [{ type: 'users', id: member.id }] })
    await member.client.patch(path, body('workspaces', {}))
    const all = await listOf(owner.client, `/organizations/${name}/refusals`)
    expect(all.data.map((one: { attributes: { count: number } }) => one.attributes.count).toSorted()).toEqual(
      [1, 1, 1, ids.length],
    )
  })

  test("a caller who asks for ever new things does not displace the others' refusals", async () => {
    const small = await startServer(engine, { refusalsKept: '10', refusalsKeptOfCaller: '3' })
    try {
      const organization = await createTestOrganization(small)
      const { name, owner } = organization
      const quiet = await addMember(small, organization)
      const loud = await addMember(small, organization)
      const kept = idOf(await quiet.client.get(`/organizations/${name}/workspaces/once`))
      const ids: string[] = []
      for (let n = 0; n < 20; n++) {
        small.clock.advance(1)
        ids.unshift(idOf(await loud.client.get(`/organizations/${name}/workspaces/w${n}`)))
        if (n % 8 === 0) await small.app.deps.refusals.flush()
      }
      await small.app.deps.refusals.flush()
      const listed = await owner.client.get(`/organizations/${name}/refusals`)
      expect(listed.json.data.map(({ id }: { id: string }) => id)).toEqual([...ids.slice(0, 3), kept])
    } finally {
      await small.stop()
    }
  })

  test('however many an outsider is, they displace nobody else', async () => {
    const small = await startServer(engine, { refusalsKept: '10', refusalsKeptOfCaller: '3' })
    try {
      const { refusals } = small.app.deps
      const organization = await createTestOrganization(small)
      const { name, owner } = organization
      const insiders = [owner, await addMember(small, organization), await addMember(small, organization)]
      const own: string[] = []
      const nobodys: string[] = []
      for (const { client } of insiders) {
        own.unshift(idOf(await client.get(`/organizations/${name}/workspaces/inside`)))
        nobodys.unshift(idOf(await client.get('/workspaces/ws-zzzzzzzzzzzzzzzz')))
      }
      // Tokens of six teams in each of two other organizations.
      const clients: Client[] = []
      for (let number = 0; number < 2; number += 1) {
        const theirs = await createTestOrganization(small)
        for (let count = 0; count < 6; count += 1) {
          const team = await createTeam(theirs)
          const token = await theirs.owner.client.post(`/teams/${team}/authentication-token`)
          clients.push(small.client(token.json.data.attributes.token))
        }
      }
      const outside: string[] = []
      for (const [number, client] of clients.entries()) {
        for (let count = 0; count < 4; count += 1) {
          small.clock.advance(1)
          outside.unshift(idOf(await client.get(`/organizations/${name}/workspaces/${number}-${count}`)))
          await client.get(`/workspaces/ws-${'z'.repeat(15)}${'ABCDEFGHJKLMN'[number]}?${count}`)
          await client.get(`/teams/team-${'z'.repeat(15)}${'ABCDEFGHJKLMN'[number]}?${count}`)
        }
        await refusals.flush()
      }
      const idsOf = async (path: string) =>
        (await small.admin.get(`${path}?page[size]=100`)).json.data.map(({ id }: { id: string }) => id)
      expect(await idsOf(`/organizations/${name}/refusals`)).toEqual([...outside.slice(0, 3), ...own])
      const all = await idsOf('/admin/refusals')
      expect(nobodys.filter((id) => !all.includes(id))).toEqual([])
    } finally {
      await small.stop()
    }
  })

  test('in memory too a caller has a share, and what is alike takes the room of one', () => {
    const actor = (id: string) => ({ kind: 'user', userId: id }) as Refusal['actor']
    const waiting = new WaitingRefusals()
    const add = (id: string, path: string, requestId: string) =>
      waiting.add({
        requestId,
        at: new Date(),
        actor: actor(id),
        method: 'GET',
        path,
        named: '{}',
        permission: null,
        reason: 'missing',
        found: undefined,
      })
    add('quiet', '/a', 'quiet')
    for (let n = 0; n < 3 * MAX_WAITING; n++) add('loop', '/a', `loop-${n}`)
    expect(waiting.size).toBe(2)
    for (let n = 0; n < 2 * MAX_WAITING; n++) add('scan', `/${n}`, `scan-${n}`)
    expect(waiting.size).toBe(2 + MAX_WAITING_OF_CALLER)
    expect(waiting.takeDropped()).toBe(2 * MAX_WAITING - MAX_WAITING_OF_CALLER)
    const [quiet, loop] = waiting.take(2)
    expect(quiet?.refusal.requestId).toBe('quiet')
    expect(loop).toMatchObject({ count: 3 * MAX_WAITING })
    expect(loop?.requests.at(-1)?.id).toBe(`loop-${3 * MAX_WAITING - 1}`)
    // A refusal that could not be written is counted together with later ones.
    add('loop', '/a', 'later')
    waiting.giveBack([loop as Waiting])
    const taken = waiting.take(MAX_WAITING).find(({ refusal }) => refusal.requestId === 'later')
    expect(taken?.count).toBe(3 * MAX_WAITING + 1)
    // The space of refusals that were taken is free again.
    add('scan', '/new', 'scan-again')
    expect(waiting.size).toBe(1)
  })

  test('in memory too, those who have most make room', () => {
    const waiting = new WaitingRefusals()
    const add = (actor: object, path: string, teams = 0) =>
      waiting.add({
        requestId: path,
        at: new Date(),
        actor: actor as Refusal['actor'],
        method: 'GET',
        path,
        named: '{}',
        permission: null,
        reason: 'forbidden',
        found: {
          standing: { teamIds: { size: teams } },
          target: {},
        } as NonNullable<Refusal['found']>,
      })
    const quiet = { kind: 'user', userId: 'user-quiet' }
    for (let n = 0; n < 50; n++) add(quiet, `/quiet/${n}`)
    const left = () => {
      const taken = waiting.take(2 * MAX_WAITING)
      for (const { refusal } of taken) if (refusal.path.startsWith('/quiet')) waiting.add(refusal)
      return taken.filter(({ refusal }) => refusal.path.startsWith('/quiet')).length
    }
    // Tokens of many teams of one organization count as one caller. Tokens of many organizations count as many callers.
    for (let n = 0; n < 2 * MAX_WAITING; n++) {
      const team = { kind: 'team', userId: `api-team_${n}`, organizationId: 'org-loud' }
      add(team, `/loud/${n}`)
    }
    expect(waiting.size).toBe(50 + MAX_WAITING_OF_CALLER)
    for (let n = 0; n < 2 * MAX_WAITING; n++) {
      add({ kind: 'organization', userId: null, organizationId: `org-${n % 100}` }, `/loud/${n}`)
    }
    expect(waiting.size).toBeLessThanOrEqual(MAX_WAITING)
    expect(waiting.size).toBeGreaterThan(MAX_WAITING * 0.8)
    expect(left()).toBe(50)
    // A user in very many teams must not use all the space, either.
    for (let n = 0; n < 200; n++) add({ kind: 'user', userId: 'user-many' }, `/many/${n}`, 5_000)
    expect(left()).toBe(50)
    // With so many callers that each one's share is less than one, a tenth of them is dropped.
    for (let n = 0; n < MAX_WAITING; n++) add({ kind: 'user', userId: `user-${n}` }, `/once/${n}`)
    expect(waiting.size).toBeGreaterThan(MAX_WAITING * 0.8)
  })

  test('a flood is bounded: what does not fit is dropped, counted and logged, and requests go on', async () => {
    const lines: { msg: string; dropped?: number }[] = []
    const log = pino(
      { level: 'warn' },
      new Writable({
        write: (text, _, done) => {
          lines.push(JSON.parse(String(text)))
          done()
        },
      }),
    )
    const flooded = await startServer(engine, {}, log)
    try {
      const { refusals, database } = flooded.app.deps
      const write = database.write.bind(database)
      database.write = () => Promise.reject(new Error('the disk is full'))
      const response = await flooded.admin.get('/workspaces/ws-zzzzzzzzzzzzzzzz')
      idOf(response)
      await refusals.flush()
      expect(lines.at(-1)).toMatchObject({ msg: 'refusals could not be written yet', waiting: 1 })
      const refusal = {
        requestId: 'flood',
        at: flooded.clock.now(),
        actor: {
          kind: 'user',
          tokenId: 'at-1',
          userId: 'user-1',
          teamId: null,
          organizationId: null,
          isSiteAdmin: false,
          auditTrailOf: null,
          tokenMadeAt: '2026-01-01T00:00:00.000Z',
          tokenExpiresAt: '2028-01-01T00:00:00.000Z',
          name: 'flooder',
        },
        method: 'GET',
        path: '/api/v2/nothing',
        named: '{}',
        permission: null,
        reason: 'missing',
        found: undefined,
      } as const
      // Use several callers, because each alone may use less space.
      for (let n = 0; n < MAX_WAITING + 500; n++) {
        const actor = { ...refusal.actor, userId: `user-${n % 10}` }
        refusals.note({ ...refusal, actor, requestId: `flood-${n}`, path: `/api/v2/nothing/${n}` })
      }
      database.write = write
      await refusals.flush()
      const dropped = lines.find((line) => line.dropped !== undefined)
      expect(dropped?.msg).toBe('too many refusals at once: some cannot be explained later')
      const list = (await flooded.admin.get('/admin/refusals')).json
      expect(list.meta.pagination['total-count']).toBe(MAX_WAITING + 501 - (dropped?.dropped as number))
      expect(list.meta.pagination['total-count']).toBeGreaterThan(MAX_WAITING * 0.8)
      const newest = `/admin/refusals?filter[request-id]=flood-${MAX_WAITING + 499}`
      expect((await flooded.admin.get(newest)).json.data).toHaveLength(1)
    } finally {
      await flooded.stop()
    }
  })

  test('what waits is written when the server ends, and read from another node', async () => {
    const node = await startNode(server)
    const organization = await createTestOrganization(server)
    const path = `/organizations/${organization.name}/workspaces/w`
    const there = idOf(await node.client(organization.owner.client.token).get(path))
    const here = idOf(await organization.owner.client.get(`${path}2`))
    await node.stop()
    const { data } = await listOf(organization.owner.client, of(organization))
    expect(new Set(data.map(({ id }: { id: string }) => id))).toEqual(new Set([there, here]))
  })
})
