import { Client } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { verifyAuditTrail } from '../src/audit/audit-verify.ts'
import { bumpVersion, findOrganization } from '../src/organizations/organization-store.ts'
import { onEachEngine, onPostgres } from './support/on-each-engine.ts'
import type { TestServer } from './support/server.ts'
import { createTestOrganization, uniqueName, type TestOrganization } from './support/world.ts'

// On PostgreSQL creates of teams, workspaces and projects that wait share a transaction, in which they do not see each other.

/** Of teams, of workspaces, of projects, and of tags. */
const MOST = 12
const ORGANIZATIONS = 4
const CREATES = 8

const kinds = ['teams', 'workspaces', 'projects'] as const

function createOf(kind: (typeof kinds)[number], { name: organization, owner }: TestOrganization) {
  return (name = uniqueName('one'), relationships = {}) =>
    owner.client.post(`/organizations/${organization}/${kind}`, {
      data: { type: kind, attributes: { name }, relationships },
    })
}

function create(organization: TestOrganization, name?: string) {
  return createOf('teams', organization)(name)
}

function times<T>(count: number, make: (number: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, number) => make(number)))
}

function createMany(organization: TestOrganization, count: number) {
  return times(count, () => create(organization))
}

async function statusesOf(answers: Promise<{ status: number }[]>): Promise<number[]> {
  return (await answers).map(({ status }) => status)
}

async function namesIn({ name, owner }: TestOrganization): Promise<string[]> {
  const { json } = await owner.client.get(`/organizations/${name}/teams?page[size]=100`)
  return json.data.map((team: { attributes: { name: string } }) => team.attributes.name)
}

async function organizationsOf(server: TestServer, count = ORGANIZATIONS): Promise<TestOrganization[]> {
  const made: TestOrganization[] = []
  for (let number = 0; number < count; number++) made.push(await createTestOrganization(server))
  return made
}

const limits = {
  maxTeams: String(MOST),
  maxWorkspaces: String(MOST),
  maxProjects: String(MOST),
  maxTags: String(MOST),
}

function statementsOf(calls: readonly unknown[][]): { text: string; values: unknown[] }[] {
  return (calls as [string | { text: string; values?: unknown[] }][]).map(([given]) =>
    typeof given === 'string'
      ? { text: given, values: [] }
      : { text: given.text, values: given.values ?? [] },
  )
}

onEachEngine('objects created at once', limits, (server) => {
  test('are all there and counted, and each organization has their events in a chain of its own', async () => {
    const organizations = await organizationsOf(server)
    const all = organizations.map((organization) => statusesOf(createMany(organization, CREATES)))
    for (const statuses of await Promise.all(all)) expect(statuses).toEqual(Array(CREATES).fill(200))
    const { database, auditKey } = server.app.deps
    const verdict = await database.read((tx) => verifyAuditTrail(tx, auditKey))
    expect(verdict.problem).toBeUndefined()
    for (const organization of organizations) {
      const names = await namesIn(organization)
      expect(names).toHaveLength(CREATES + 1)
      const { json } = await organization.owner.client.get(
        `/organizations/${organization.name}/audit-events?filter[action]=team.create&page[size]=100`,
      )
      const events = json.data.map(
        (event: { attributes: { details: { name: string } } }) => event.attributes.details.name,
      )
      expect(events.toSorted()).toEqual(names.filter((name) => name !== 'owners').toSorted())
    }
  })

  test.each(kinds)('are never more than the limit, and no fewer: %s', async (kind) => {
    const [organization] = (await organizationsOf(server, 1)) as [TestOrganization]
    const { client } = organization.owner
    const countNow = async () =>
      (await client.get(`/organizations/${organization.name}/${kind}`)).json.meta.pagination['total-count']
    // The owners team and the default project count, too.
    const free = MOST - (await countNow())
    const create = createOf(kind, organization)
    const statuses = await statusesOf(times(2 * MOST, () => create()))
    expect(statuses.filter((status) => status === 422)).toHaveLength(2 * MOST - free)
    expect(statuses.filter((status) => status < 300)).toHaveLength(free)
    expect(await countNow()).toBe(MOST)
  })

  test('have no more new tags together than the limit, and no fewer', async () => {
    const [organization] = (await organizationsOf(server, 1)) as [TestOrganization]
    const create = createOf('workspaces', organization)
    const tagged = (...names: string[]) => ({
      tags: { data: names.map((name) => ({ type: 'tags', attributes: { name } })) },
    })
    const free = 3
    const known = Array.from({ length: MOST - free }, (_, number) => `known-${number}`)
    await create('first', tagged(...known))
    const statuses = await statusesOf(
      times(CREATES, (number) => create(`other-${number}`, tagged(`new-${number}`, 'known-1'))),
    )
    expect(statuses.filter((status) => status === 201)).toHaveLength(free)
    expect(statuses.filter((status) => status === 422)).toHaveLength(CREATES - free)
    const { json } = await organization.owner.client.get(
      `/organizations/${organization.name}/workspaces?page[size]=100`,
    )
    expect(json.data).toHaveLength(1 + free)
  })

  test('have the characters that they were given', async () => {
    const [organization] = (await organizationsOf(server, 1)) as [TestOrganization]
    const { client } = organization.owner
    const descriptions = ['NULL', '', null, '{"a",b}', 'back\\slash', `it's "quoted"`, '\\x41', 'é 😀\n\t']
    const made = descriptions.map((description) =>
      client.post(`/organizations/${organization.name}/projects`, {
        data: { type: 'projects', attributes: { name: uniqueName('one'), description } },
      }),
    )
    for (const [place, { status, json }] of (await Promise.all(made)).entries()) {
      expect(status).toBe(201)
      const { json: found } = await client.get(`/projects/${json.data.id}`)
      const attributes = [json, found].map(({ data }) => data.attributes.description)
      expect(attributes).toEqual([descriptions[place], descriptions[place]])
    }
  })

  test('are counted for the next statement, although they may be counted together', async () => {
    const [{ id }] = (await organizationsOf(server, 1)) as [TestOrganization]
    const counts = await server.app.deps.database.write(
      async (tx) => {
        await Promise.all([bumpVersion(tx, id, 1, 1), bumpVersion(tx, id, 1, 0)])
        const counted = await findOrganization(tx, id)
        await bumpVersion(tx, id, -2, -1)
        return counted
      },
      { organizationId: id },
    )
    expect(counts).toMatchObject({ teams_count: 3, visible_teams_count: 1 })
  })

  test('count against the limit only if they are made', async () => {
    const [organization] = (await organizationsOf(server, 1)) as [TestOrganization]
    for (let count = 2; count < MOST; count++) await create(organization)
    const [, taken] = await namesIn(organization)
    const refused = Array.from({ length: CREATES }, () => create(organization, taken))
    const statuses = await statusesOf(Promise.all([...refused, create(organization)]))
    expect(statuses).toEqual([...Array<number>(CREATES).fill(422), 200])
  })

  test.each(kinds)(
    'have different names, and those of another organization do not count: %s',
    async (kind) => {
      const organizations = await organizationsOf(server)
      const name = uniqueName('wanted')
      const answers = organizations.map((organization) => {
        const create = createOf(kind, organization)
        return statusesOf(times(CREATES, () => create(name)))
      })
      for (const statuses of await Promise.all(answers)) {
        expect(statuses.filter((status) => status < 300)).toHaveLength(1)
        expect(statuses.filter((status) => status === 422)).toHaveLength(CREATES - 1)
      }
    },
  )
})

onPostgres('teams created at once', (server, query) => {
  /** Runs SQL when a team of this name is inserted. */
  const onInsert = async (name: string, statement: string) => {
    await query(`create or replace function on_insert() returns trigger language plpgsql as $$
      begin if new.name = '${name}' then ${statement}; end if; return new; end $$`)
    await query(`create or replace trigger on_insert before insert on teams
      for each row execute function on_insert()`)
  }

  test('share transactions, also those of several organizations', async () => {
    const organizations = await organizationsOf(server)
    await Promise.all(organizations.map((organization) => createMany(organization, CREATES)))
    const { rows } = await query(
      `select count(*)::integer as teams, count(distinct organization_id)::integer as organizations
       from teams where is_owners = 0 group by xmin::text`,
    )
    const made = ORGANIZATIONS * CREATES
    expect(rows.reduce((sum, { teams }) => sum + teams, 0)).toBe(made)
    expect(rows.length).toBeLessThan(made / 2)
    expect(Math.max(...rows.map((row) => row.organizations))).toBeGreaterThan(1)
  })

  test.each(kinds)('are inserted once each, also beside one that is refused: %s', async (kind) => {
    const organizations = await organizationsOf(server)
    const [first] = organizations as [TestOrganization]
    const name = uniqueName('taken')
    await createOf(kind, first)(name)
    const sent = vi.spyOn(Client.prototype, 'query')
    const refused = createOf(kind, first)(name)
    const made = organizations.map((organization) => {
      const create = createOf(kind, organization)
      return statusesOf(times(CREATES, () => create()))
    })
    expect((await refused).status).toBe(422)
    for (const statuses of await Promise.all(made)) expect(Math.max(...statuses)).toBeLessThan(300)
    const inserts = statementsOf(sent.mock.calls).filter(({ text }) =>
      text.startsWith(`insert into "${kind}"`),
    )
    sent.mockRestore()
    // An insert of several rows has a list for each column.
    const names = inserts.flatMap(({ text, values }) => {
      const columns = /\((.*?)\)/.exec(text)?.[1]?.split(', ') ?? []
      return values[columns.indexOf('"name"')]
    })
    expect(names.filter((inserted) => inserted !== name)).toHaveLength(ORGANIZATIONS * CREATES)
    const { database, auditKey } = server.app.deps
    expect((await database.read((tx) => verifyAuditTrail(tx, auditKey))).problem).toBeUndefined()
  })

  // Workspaces and projects may still read before their insert, each at its own time.
  test('are inserted together, and their audit events and versions, too', async () => {
    const [organization] = (await organizationsOf(server, 1)) as [TestOrganization]
    const create = createOf('teams', organization)
    // Those behind it read ahead what it read.
    await create()
    await query('begin')
    await query('select 1 from organizations where id = $1 for update', [organization.id])
    const creating = statusesOf(times(2 * CREATES, () => create()))
    await vi.waitUntil(() => server.app.deps.database.load.waiting >= 2 * CREATES - 2, { timeout: 3_000 })
    const sent = vi.spyOn(Client.prototype, 'query')
    await query('commit')
    expect(Math.max(...(await creating))).toBeLessThan(300)
    const statements = statementsOf(sent.mock.calls)
    sent.mockRestore()
    for (const start of ['insert into "teams"', 'insert into "audit_events"', 'update "organizations"']) {
      const some = statements.filter(({ text }) => text.startsWith(start))
      expect(some.length, start).toBeLessThan(CREATES)
      expect(some.filter(({ values }) => Array.isArray(values[0])).length, start).toBeGreaterThan(0)
    }
    // All creates read the same before, so one has read it for the others.
    const ahead = statements.filter(({ text }) => text.startsWith('select given.place'))
    expect(ahead.length).toBeGreaterThan(0)
    for (const { values } of ahead) for (const list of values) expect(list).toHaveLength(1)
  })

  test('of several organizations are one statement in each transaction, too', async () => {
    const organizations = await organizationsOf(server)
    for (const organization of organizations) await createMany(organization, 1)
    const sent = vi.spyOn(Client.prototype, 'query')
    const made = organizations.map((organization) => statusesOf(createMany(organization, CREATES)))
    for (const statuses of await Promise.all(made)) expect(statuses).toEqual(Array(CREATES).fill(200))
    const texts = statementsOf(sent.mock.calls).map(({ text }) => text)
    sent.mockRestore()
    const count = (start: string) => texts.filter((text) => text.startsWith(start)).length
    const transactions = count('begin isolation level read committed')
    for (const start of ['insert into "teams"', 'insert into "audit_events"', 'update "audit_chains"'])
      expect(count(start), start).toBeLessThanOrEqual(transactions)
    const locks = texts.filter((text) => text.includes('from "audit_chains"') && text.includes('for update'))
    expect(locks.length).toBeGreaterThan(0)
    expect(locks.length).toBeLessThanOrEqual(transactions)
  })

  test('of one organization run alone if its lock does not come', async () => {
    const [locked, free] = (await organizationsOf(server, 2)) as [TestOrganization, TestOrganization]
    await query('begin')
    await query('select 1 from organizations where id = $1 for update', [locked.id])
    const waiting = statusesOf(createMany(locked, CREATES))
    // A group would be one session. Those that run alone are two.
    const waitFor = `select from pg_locks where not granted and pid in (
      select pid from pg_stat_activity where datname = current_database())`
    await expect.poll(async () => (await query(waitFor)).rows.length).toBeGreaterThanOrEqual(2)
    expect(await statusesOf(createMany(free, CREATES))).toEqual(Array(CREATES).fill(200))
    await query('commit')
    expect(await waiting).toEqual(Array(CREATES).fill(200))
  })

  test('wait for no other organization', async () => {
    const organizations = await organizationsOf(server, 3)
    const [one, free, other] = organizations as [TestOrganization, TestOrganization, TestOrganization]
    const locked = [one.id, other.id]
    await query('begin')
    await query('select 1 from organizations where id = any($1) for update', [locked])
    const answered: string[] = []
    const creating = organizations.map(async (organization) => {
      const statuses = await statusesOf(createMany(organization, CREATES))
      answered.push(organization.id)
      return statuses
    })
    expect(await creating[1]).toEqual(Array(CREATES).fill(200))
    expect(answered).toEqual([free.id])
    await query('commit')
    for (const statuses of await Promise.all(creating)) expect(statuses).toEqual(Array(CREATES).fill(200))
  })

  test('wait for no other audit trail', async () => {
    const [locked, free] = (await organizationsOf(server, 2)) as [TestOrganization, TestOrganization]
    await query('begin')
    await query('select 1 from audit_chains where organization_id = $1 for update', [locked.id])
    const warned = vi.spyOn(server.app.deps.database.availability, 'warn')
    onTestFinished(() => warned.mockRestore())
    let isAnswered = false
    const waiting = statusesOf(createMany(locked, CREATES)).finally(() => (isAnswered = true))
    expect(await statusesOf(createMany(free, CREATES))).toEqual(Array(CREATES).fill(200))
    expect(isAnswered).toBe(false)
    await query('commit')
    expect(await waiting).toEqual(Array(CREATES).fill(200))
    // A wait for a lock is nothing to be told of.
    expect(warned).not.toHaveBeenCalled()
  })

  test.each([
    ['is refused by the database', `raise exception 'refused' using errcode = '55P03'`],
    ['loses the connection', 'perform pg_terminate_backend(pg_backend_pid())'],
  ])('are all made but the one that %s', async (_, statement) => {
    const [organization, other] = (await organizationsOf(server, 2)) as [TestOrganization, TestOrganization]
    const name = uniqueName('fails')
    await onInsert(name, statement)
    const failing = create(organization, name)
    const others = [createMany(organization, CREATES), createMany(other, CREATES)].map(statusesOf)
    for (const statuses of await Promise.all(others)) expect(statuses).toEqual(Array(CREATES).fill(200))
    const { status, headers } = await failing
    expect(status).toBe(503)
    expect(headers.get('retry-after')).not.toBeNull()
    expect(await namesIn(organization)).toHaveLength(CREATES + 1)
  })
})
