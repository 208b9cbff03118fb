import { Client as PostgresClient, types, type QueryResult } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { PostgresClient as PooledClient } from '../src/database/postgres-client.ts'
import { DeadlineError, isAway } from '../src/database/postgres-errors.ts'
import { ReadRecord } from '../src/database/postgres-replay.ts'
import { ReadPlans } from '../src/database/read-plans.ts'
import { prepared } from '../src/database/prepared.ts'
import type { Client } from './support/client.ts'
import { engines, onlyPostgres } from './support/engines.ts'
import { Forwarder } from './support/forwarder.ts'
import { startNode, startServer, type TestServer } from './support/server.ts'
import { TOGETHER } from './support/statements.ts'
import { base64, createState, lock, postState, stateText } from './support/states.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  grantWorkspace,
  type Member,
  type TestOrganization,
} from './support/world.ts'

/** After so many requests every document is cached and the statements of a read are known. */
const REPEATS = 4

const outputs = '{"a": {"value": 1, "type": "number"}}'

type World = {
  organization: TestOrganization
  member: Member
  teamId: string
  workspaceId: string
  paths: Record<string, string>
}

async function createWorld(server: TestServer): Promise<World> {
  const organization = await createTestOrganization(server)
  const { client } = organization.owner
  const teamId = await createTeam(organization)
  const member = await addMember(server, organization, [teamId])
  const { workspaceId, stateVersionId } = await createState(organization, outputs)
  await grantWorkspace(organization, teamId, workspaceId, { access: 'read' })
  const current = `/workspaces/${workspaceId}/current-state-version-outputs`
  const outputId = (await client.get(current)).json.data[0].id
  const { attributes } = (await client.get(`/workspaces/${workspaceId}`)).json.data
  const paths = {
    team: `/teams/${teamId}`,
    workspace: `/workspaces/${workspaceId}`,
    'workspace by name': `/organizations/${organization.name}/workspaces/${attributes.name}`,
    membership: `/organization-memberships/${member.membershipId}`,
    organization: `/organizations/${organization.name}`,
    account: '/account/details',
    'list of workspaces': `/organizations/${organization.name}/workspaces`,
    'current state version': `/workspaces/${workspaceId}/current-state-version`,
    'current outputs': current,
    output: `/state-version-outputs/${outputId}`,
    'outputs of a version': `/state-versions/${stateVersionId}/outputs`,
    'state version': `/state-versions/${stateVersionId}`,
  }
  return { organization, member, teamId, workspaceId, paths }
}

function textOf(query: unknown): string {
  return typeof query === 'string' ? query : (query as { text: string }).text
}

async function repeat(client: Client, path: string): Promise<string> {
  const texts = new Set<string>()
  for (let count = 0; count < REPEATS; count += 1) {
    const { status, text } = await client.get(path)
    expect(status).toBe(200)
    texts.add(text)
  }
  expect([...texts]).toHaveLength(1)
  return [...texts][0] as string
}

/** Each transaction of a request begins with its token. Those of background work have none. */
const OF_A_REQUEST = /from "authentication_tokens"/

/** The texts without the transactions of background work. */
function withoutBackground(ran: readonly { client: unknown; text: string }[]): string[] {
  const open = new Map<unknown, { texts: string[] }>()
  const whole: { texts: string[] }[] = []
  for (const { client, text } of ran) {
    const isBegin = text.startsWith('begin')
    const transaction = isBegin ? { texts: [] } : (open.get(client) ?? { texts: [] })
    if (isBegin) open.set(client, transaction)
    if (transaction.texts.length === 0) whole.push(transaction)
    transaction.texts.push(text)
    if (text === 'commit' || text === 'rollback') open.delete(client)
  }
  return whole
    .filter(({ texts }) => texts.some((text) => OF_A_REQUEST.test(text)))
    .flatMap(({ texts }) => texts)
}

// On SQLite the nodes are two workers of one server.
describe.each(engines)('repeated reads on %s', (engine) => {
  let server: TestServer
  let other: TestServer
  let world: World
  beforeAll(async () => {
    server = await startServer(engine)
    other = await startNode(server)
  })
  afterAll(async () => {
    await other.stop()
    await server.stop()
  })
  beforeEach(async () => {
    world = await createWorld(server)
  })

  const repeatAll = async () => {
    for (const path of Object.values(world.paths)) await repeat(world.member.client, path)
  }
  const statuses = async () => {
    const found: Record<string, number> = {}
    for (const [name, path] of Object.entries(world.paths)) {
      found[name] = (await world.member.client.get(path)).status
    }
    return found
  }
  const all = (status: number) => Object.fromEntries(Object.keys(world.paths).map((name) => [name, status]))
  const owner = () => other.client(world.organization.owner.client.token)

  test('are refused at once when another node took the membership away, and answered when it came back', async () => {
    await repeatAll()
    const members = { data: [{ type: 'users', id: world.member.username }] }
    const relationship = `/teams/${world.teamId}/relationships/users`
    expect((await owner().delete(relationship, members)).status).toBe(204)
    // Every member of the organization may read these.
    const still = { account: 200, organization: 200, membership: 200, 'current outputs': 200 }
    expect(await statuses()).toEqual({ ...all(404), ...still })
    expect((await owner().post(relationship, members)).status).toBe(204)
    expect(await statuses()).toEqual(all(200))
  })

  test('of similar objects are refused at once when another node took the membership away', async () => {
    const { organization, member, teamId, workspaceId } = world
    const second = await createState(organization, outputs)
    await grantWorkspace(organization, teamId, second.workspaceId, { access: 'read' })
    const searches = ['a', 'b', 'c'].map(
      (q) => `/organizations/${organization.name}/workspaces?search[name]=${q}`,
    )
    for (const search of searches) expect((await member.client.get(search)).status).toBe(200)
    expect((await member.client.get(`/workspaces/${workspaceId}`)).status).toBe(200)
    const members = { data: [{ type: 'users', id: member.username }] }
    expect((await owner().delete(`/teams/${teamId}/relationships/users`, members)).status).toBe(204)
    expect((await member.client.get(`/workspaces/${second.workspaceId}`)).status).toBe(404)
    const last = `/organizations/${organization.name}/workspaces?search[name]=d`
    expect((await member.client.get(last)).status).toBe(404)
  })

  test('that are refused after they were permitted are one refusal each', async () => {
    const { organization, member, teamId, paths } = world
    await repeatAll()
    const members = { data: [{ type: 'users', id: member.username }] }
    expect((await owner().delete(`/teams/${teamId}/relationships/users`, members)).status).toBe(204)
    const requestIds: (string | null)[] = []
    for (const name of ['team', 'output', 'outputs of a version']) {
      const { status, headers } = await member.client.get(paths[name] as string)
      expect(status).toBe(404)
      requestIds.push(headers.get('x-request-id'))
    }
    await server.app.deps.refusals.flush()
    const { json } = await organization.owner.client.get(`/organizations/${organization.name}/refusals`)
    const listed = json.data as { id: string; attributes: { count: number } }[]
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(requestIds))
    expect(listed.map(({ attributes }) => attributes.count)).toEqual([1, 1, 1])
  })

  test('are 401 at once when another node suspended the user', async () => {
    await repeatAll()
    const { id } = world.member
    expect((await other.admin.post(`/admin/users/${id}/actions/suspend`)).status).toBe(200)
    expect(await statuses()).toEqual(all(401))
  })

  test('are 404 at once when another node deleted the organization', async () => {
    await repeatAll()
    expect((await owner().delete(`/organizations/${world.organization.name}`)).status).toBe(204)
    expect(await statuses()).toEqual({ ...all(404), account: 200 })
  })

  test('show what another node wrote since', async () => {
    const path = `/teams/${world.teamId}`
    await repeat(world.member.client, path)
    for (const name of ['renamed', 'renamed-again', 'renamed-a-third-time']) {
      expect((await owner().patch(path, body('teams', { name }))).status).toBe(200)
      const { json } = await world.member.client.get(path)
      expect(json.data.attributes.name).toBe(name)
    }
  })

  test('show the outputs of the state version that became current since', async () => {
    const { client } = world.organization.owner
    const path = world.paths['current outputs'] as string
    await repeat(client, path)
    for (const serial of [2, 3, 4]) {
      const state = stateText(`{"a": {"value": ${serial}, "type": "number"}}`, serial)
      await lock(client, world.workspaceId)
      expect((await postState(client, world.workspaceId, state, { state: base64(state) })).status).toBe(201)
      expect((await client.post(`${world.paths['workspace']}/actions/unlock`)).status).toBe(200)
      const { json } = await client.get(path)
      expect(json.data[0].attributes.value).toBe(serial)
    }
  })

  test('show members that were added since, however many', async () => {
    const path = `/teams/${world.teamId}?include=users`
    await repeat(world.member.client, path)
    for (let count = 0; count < 3; count += 1) {
      await addMember(server, world.organization, [world.teamId])
      const { json } = await world.member.client.get(path)
      expect(json.data.relationships.users.data).toHaveLength(count + 2)
    }
  })

  test('download the same bytes each time, with a key that the database has as bytes', async () => {
    const { client } = world.organization.owner
    const { json } = await client.get(world.paths['state version'] as string)
    const download = json.data.attributes['hosted-state-download-url'] as string
    expect(await repeat(client, download)).toContain('"lineage-of-the-tests"')
  })
})

describe.each(onlyPostgres)('repeated reads on %s alone', (engine) => {
  let home: TestServer
  let forwarder: Forwarder
  let server: TestServer
  let world: World
  beforeAll(async () => {
    home = await startServer(engine)
    const url = new URL(home.databaseUrl as string)
    forwarder = await Forwarder.start(Number(url.port))
    url.port = String(forwarder.port)
    server = await startServer(engine, { databaseUrl: url.href })
    world = await createWorld(server)
  })
  afterAll(async () => {
    await server.stop()
    await forwarder.close()
    await home.stop()
  })

  const read = (name: string) => repeat(world.member.client, world.paths[name] as string)
  const statementsOf = (client: Client, path: string) => statementsDuring(() => client.get(path))
  const statementsDuring = async (work: () => Promise<unknown>) => {
    const { refusals, lastUsed } = server.app.deps
    // Otherwise these are written meanwhile.
    await Promise.all([refusals.flush(), lastUsed.flush()])
    const query = vi.spyOn(PostgresClient.prototype, 'query')
    await work()
    const ran = query.mock.calls.map(([first], place) => ({
      client: query.mock.contexts[place],
      text: textOf(first),
    }))
    query.mockRestore()
    return withoutBackground(ran)
  }
  const ask = (name: string) => statementsOf(world.member.client, world.paths[name] as string)

  test.each([
    'team',
    'workspace',
    'workspace by name',
    'membership',
    'organization',
    'account',
    'current outputs',
    'current state version',
    'output',
    'outputs of a version',
    'state version',
    'list of workspaces',
  ])('take one statement: %s', async (name) => {
    await read(name)
    expect(await ask(name)).toEqual([expect.stringMatching(TOGETHER)])
  })

  test.each(['team', 'list of teams'])('take at most two statements after a change: %s', async (name) => {
    const { organization, teamId } = world
    const { client } = organization.owner
    const path = name === 'team' ? `/teams/${teamId}` : `/organizations/${organization.name}/teams`
    const changed = await createTeam(organization)
    // The first changes fill the caches with the documents of the teams that do not change.
    for (const id of ['one', 'two', 'three']) {
      await repeat(client, path)
      const change = { data: { type: 'teams', attributes: { 'sso-team-id': id } } }
      expect((await client.patch(`/teams/${changed}`, change)).status).toBe(200)
    }
    const ran = await statementsOf(client, path)
    expect(ran.filter((text) => !TOGETHER.test(text))).toEqual([])
    expect(ran.length).toBeLessThanOrEqual(2)
  })

  test('of many callers at once share statements, and each caller gets their own answer', async () => {
    const { organization } = world
    const teams = await Promise.all(Array.from({ length: 12 }, () => createTeam(organization)))
    const members = await Promise.all(teams.map((team) => addMember(server, organization, [team])))
    const askAll = () =>
      Promise.all(members.map(({ client }, place) => client.get(`/teams/${teams[place] ?? ''}`)))
    for (let count = 0; count < REPEATS; count += 1) await askAll()
    const sent = await statementsDuring(async () => {
      expect((await askAll()).map(({ json }) => json.data.id)).toEqual(teams)
    })
    expect(sent.length).toBeLessThan(teams.length)
    expect(sent.filter((text) => !TOGETHER.test(text))).toEqual([])

    const [left = '', ...others] = teams
    const users = { data: [{ id: members[0]?.id, type: 'users' }] }
    const path = `/teams/${left}/relationships/users`
    expect((await organization.owner.client.delete(path, users)).status).toBe(204)
    expect((await askAll()).map(({ status }) => status)).toEqual([404, ...others.map(() => 200)])
  })

  test('that are similar begin with one statement', async () => {
    const { organization } = world
    const search = (name: string) =>
      statementsOf(
        organization.owner.client,
        `/organizations/${organization.name}/teams?filter[names]=${name}`,
      )
    await search('one')
    const [begin, together, ...rest] = await search('two')
    expect(begin).toMatch(/^begin/)
    expect(together).toMatch(TOGETHER)
    expect(rest.filter((text) => text.includes('from "authentication_tokens"'))).toEqual([])
    expect(await search('three')).toEqual([begin, expect.stringMatching(TOGETHER), ...rest])
  })

  test('that are similar take the same statements for a hidden team as for a missing one', async () => {
    const { organization, member } = world
    const hidden = await createTeam(organization)
    for (const teamId of [world.teamId, await createTeam(organization, { visibility: 'organization' })]) {
      expect((await member.client.get(`/teams/${teamId}`)).status).toBe(200)
    }
    const ofHidden = await statementsOf(member.client, `/teams/${hidden}`)
    const ofMissing = await statementsOf(member.client, '/teams/team-1111111111111111')
    expect(ofHidden[1]).toMatch(TOGETHER)
    expect(ofHidden.toSorted()).toEqual(ofMissing.toSorted())
  })

  test('never remember a refusal: it takes the same statements each time', async () => {
    const outsider = await createTestOrganization(server)
    const path = world.paths['team'] as string
    const first = await statementsOf(outsider.owner.client, path)
    for (let count = 0; count < REPEATS; count += 1) {
      expect(await statementsOf(outsider.owner.client, path)).toEqual(first)
    }
  })

  test('are answered when the database ends all connections', async () => {
    await read('team')
    const client = new PostgresClient(home.databaseUrl)
    await client.connect()
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    )
    await client.end()
    await read('team')
    await read('output')
  })

  test('are answered when the network has lost all connections', async () => {
    await read('team')
    forwarder.swallow()
    forwarder.heal()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => world.member.client.get(world.paths['team'] as string)),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    await vi.waitFor(async () => {
      await read('team')
      expect(await ask('team')).toHaveLength(1)
    }, 10_000)
  })

  test.each<[string, (client: PooledClient) => unknown]>([
    ['closed', (client) => void client.end()],
    ['cut', (client) => client.cut(new DeadlineError('lost'))],
    ['cut and closed', (client) => (client.cut(new DeadlineError('lost')), void client.end())],
  ])('take a statement on a connection that was %s for an outage', async (_, lose) => {
    const client = new PooledClient({ connectionString: home.databaseUrl as string, pipeline: true })
    await client.connect()
    lose(client)
    for (const wait of [0, 50]) {
      await new Promise((resolve) => setTimeout(resolve, wait))
      const error: unknown = await client.query('select 1').then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(isAway(error), String(error)).toBe(true)
    }
  })

  test('fall back to a transaction while no pipelined connection can be opened', async () => {
    await read('team')
    forwarder.cut()
    await read('team')
  })
})

describe('the plans of reads', () => {
  const query = prepared<{ id: string }>()((db, param) =>
    db.selectFrom('teams').where('id', '=', param('id')).selectAll(),
  )
  const steps = (id: string) => [{ query, values: { id }, columns: [{ name: 'id', type: 'text' as const }] }]

  const fields = [{ name: 'id', dataTypeID: types.builtins.TEXT }]
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that a record reads of it
  const answer = { fields, rows: [] } as unknown as QueryResult

  test('become one statement with all values', () => {
    const plans = new ReadPlans()
    plans.keep('a', 'read', [...steps('team-1'), ...steps('team-2')])
    const { text, values } = plans.find('a', 'read')?.lean?.statement ?? {}
    expect(values).toEqual(['team-1', 'team-2'])
    expect(text).toContain('"id" = given.p1')
    expect(text).toContain('"id" = given.p2')
  })

  test('keep what sufficed for the last read, and what all of them needed together', () => {
    const plans = new ReadPlans()
    const [one, two] = [steps('team-1'), steps('team-2')]
    plans.keep('a', 'read', one)
    plans.keep('a', 'read', two)
    expect(plans.find('a', 'read')).toMatchObject({
      lean: { steps: two },
      whole: { steps: [...two, ...one] },
    })
    plans.use('a', 'read', one)
    expect(plans.find('a', 'read')).toMatchObject({
      lean: { steps: one },
      whole: { steps: [...two, ...one] },
    })
    plans.miss('a', 'read', one)
    expect(plans.find('a', 'read')).toMatchObject({ lean: undefined, whole: { steps: one } })
    plans.keep('a', 'read', two)
    expect(plans.find('a', 'read')).toMatchObject({
      lean: { steps: two },
      whole: { steps: [...two, ...one] },
    })
    const many = Array.from({ length: 12 }, (_, number) => steps(`team-${number + 3}`)).flat()
    plans.keep('a', 'read', many)
    expect(plans.find('a', 'read')).toMatchObject({ lean: { steps: many }, whole: { steps: many } })
  })

  test('of one caller do not displace those of others', () => {
    const plans = new ReadPlans()
    plans.keep('quiet', 'read', steps('team-1'))
    for (let number = 0; number < 20_000; number += 1) plans.keep('greedy', `read ${number}`, steps('team-1'))
    expect(plans.find('quiet', 'read')).toBeDefined()
    expect(plans.find('greedy', 'read 0')).toBeUndefined()
    expect(plans.find('greedy', 'read 19999')).toBeDefined()
  })

  test('of very many callers are forgotten from the least recently used caller on', () => {
    const plans = new ReadPlans()
    for (let number = 0; number < 10_000; number += 1) plans.keep(`caller ${number}`, 'read', steps('team-1'))
    expect(plans.find('caller 0', 'read')).toBeDefined()
    plans.keep('one more', 'read', steps('team-1'))
    expect(plans.find('caller 0', 'read')).toBeDefined()
    expect(plans.find('caller 1', 'read')).toBeUndefined()
  })

  test('of a long name are not kept', () => {
    const plans = new ReadPlans()
    plans.keep('a', 'x'.repeat(501), steps('team-1'))
    expect(plans.find('a', 'x'.repeat(501))).toBeUndefined()
  })

  test('of long values are not kept', () => {
    const record = new ReadRecord()
    const note = (id: string) => record.note(query, { id }, answer)
    note('team-1')
    expect(record.steps()).toMatchObject(steps('team-1'))
    note('x'.repeat(8_193))
    expect(record.steps()).toBeUndefined()
    expect(record.firstSteps).toMatchObject(steps('team-1'))
  })
})
