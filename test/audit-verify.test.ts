import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { lockAuditHead } from '../src/audit/audit-chain-store.ts'
import { chainAuditEvents } from '../src/audit/audit-chains.ts'
import { AuditKey } from '../src/audit/audit-links.ts'
import { auditRetention } from '../src/audit/audit-retention.ts'
import { verifyAuditTrail, type AuditVerdict } from '../src/audit/audit-verify.ts'
import { readConfig } from '../src/config.ts'
import { openDatabase } from '../src/database/open.ts'
import type { Transaction } from '../src/database/database.ts'
import { engines } from './support/engines.ts'
import { onEachEngine, onPostgres } from './support/on-each-engine.ts'
import { Purser, run, settingsFor, settingsOf } from './support/purser.ts'
import { startNode, startServer, type TestServer } from './support/server.ts'
import { createState } from './support/states.ts'
import { verdictAfter } from './support/undone-tampering.ts'
import { createTeam, createTestOrganization, createUser, type TestOrganization } from './support/world.ts'

type Row = Awaited<ReturnType<typeof rowsOf>>[number]

const DAY_MS = 86_400_000

const verify = (server: TestServer): Promise<AuditVerdict> => {
  const { database, auditKey } = server.app.deps
  return database.read((tx) => verifyAuditTrail(tx, auditKey))
}

async function rowsOf(server: TestServer, { id }: TestOrganization) {
  return server.app.deps.database.read((tx) =>
    tx.db
      .selectFrom('audit_events')
      .where('organization_id', '=', id)
      .selectAll()
      .orderBy('position')
      .execute(),
  )
}

onEachEngine('the chain of audit events', (server) => {
  let organization: TestOrganization
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    for (let count = 0; count < 5; count++) await createTeam(organization)
    await createTestOrganization(server)
  })

  const setOf = (number: number, values: Record<string, unknown>) => (tx: Transaction) =>
    tx.db.updateTable('audit_events').set(values).where('number', '=', number).execute()

  test('verifies what was written, of every organization and of the whole site', async () => {
    const verdict = await verify(server)
    expect(verdict.problem).toBeUndefined()
    expect(verdict.chains).toBe(3)
    const rows = await rowsOf(server, organization)
    expect(rows.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6])
    expect(verdict.events).toBeGreaterThan(rows.length)
  })

  test('shows a change of any column of an event, and names the event', async () => {
    const rows = await rowsOf(server, organization)
    const row = rows[2] as Row
    const changes: Record<string, unknown> = {
      number: row.number + 1_000,
      at:
        row.at.replace(/\d{3}Z$/, '000Z') === row.at
          ? row.at.replace('Z', '1Z')
          : row.at.replace(/\d{3}Z$/, '000Z'),
      request_id: null,
      actor_kind: 'team',
      actor_id: `${row.actor_id}x`,
      actor_name: row.actor_name?.toUpperCase(),
      token_id: null,
      action: 'team.creatf',
      resource_type: 'team',
      resource_id: row.resource_id.slice(1),
      details: row.details.replace('{', '{ '),
      mac: Buffer.from(row.mac).fill((row.mac[15] as number) ^ 1, 15),
    }
    const columns = Object.keys(row).filter((name) => !['position', 'organization_id'].includes(name))
    expect(Object.keys(changes).toSorted()).toEqual(columns.toSorted())
    for (const [column, value] of Object.entries(changes)) {
      const { problem } = await verdictAfter(server, setOf(row.number, { [column]: value }))
      expect(problem, column).toMatchObject({ position: 3, organizationId: organization.id })
      expect(problem?.detail).toContain('differs from what was written')
    }
    // Later events are unchanged, so they must not be reported.
    expect((await verdictAfter(server, setOf(row.number, { action: 'x' }))).problem?.detail).toContain(
      `event 3 of ${organization.id}`,
    )
    const [other] = await server.app.deps.database.read((tx) =>
      tx.db.selectFrom('organizations').where('id', '<>', organization.id).select('id').execute(),
    )
    for (const moved of [
      { position: 30 },
      { organization_id: null },
      { organization_id: other?.id },
      { position: 4 },
    ]) {
      expect(
        (await verdictAfter(server, setOf(row.number, moved))).problem,
        JSON.stringify(moved),
      ).toBeDefined()
    }
    expect((await verify(server)).problem).toBeUndefined()
  })

  test('shows events that were removed, at the end too, put in, or exchanged', async () => {
    const rows = await rowsOf(server, organization)
    const [first, second, last] = [rows[1], rows[2], rows[5]] as [Row, Row, Row]
    const remove = (number: number) => (tx: Transaction) =>
      tx.db.deleteFrom('audit_events').where('number', '=', number).execute()
    const detailAfter = async (tamper: (tx: Transaction) => Promise<unknown>) =>
      (await verdictAfter(server, tamper)).problem?.detail
    expect(await detailAfter(remove(first.number))).toBe(
      `event 2 is missing in the trail of ${organization.id}`,
    )
    expect(await detailAfter(remove(last.number))).toBe(
      `event 6 is missing in the trail of ${organization.id}`,
    )
    expect(
      await detailAfter(async (tx) => {
        const { number, ...copy } = last
        await tx.db
          .insertInto('audit_events')
          .values({ ...copy, number: number + 500 })
          .execute()
      }),
    ).toContain('another event has its position')
    const put = (values: object) => async (tx: Transaction) =>
      tx.db
        .insertInto('audit_events')
        .values({ ...last, number: last.number + 500, ...values })
        .execute()
    expect(await detailAfter(put({ position: 7 }))).toContain('event 7')
    expect(await detailAfter(put({ organization_id: 'org-none' }))).toContain('belongs to no trail')
    expect(await detailAfter(put({ position: 0 }))).toContain('belongs to no trail')
    expect(await detailAfter(put({ position: null }))).toContain('belongs to no trail')
    const exchange = async (tx: Transaction) => {
      await setOf(first.number, { position: second.position, mac: second.mac })(tx)
      await setOf(second.number, { position: first.position, mac: first.mac })(tx)
    }
    expect(await detailAfter(exchange)).toContain('event 2 of')
    // Someone who cuts off the end and updates the record does not know the link that the record needs.
    const cut = async (tx: Transaction) => {
      await remove(last.number)(tx)
      await tx.db
        .updateTable('audit_chains')
        .set({ position: 5, at: (rows[4] as Row).at })
        .where('organization_id', '=', organization.id)
        .execute()
    }
    expect(await detailAfter(cut)).toContain('the record of the last event was changed')
    // … and events that are written afterwards do not hide it.
    const goOn = async (tx: Transaction) => {
      const before = (rows[4] as Row).mac
      await cut(tx)
      await tx.db
        .updateTable('audit_chains')
        .set({ link: Buffer.concat([before, before]) })
        .where('organization_id', '=', organization.id)
        .execute()
      await chainAuditEvents(tx, server.app.deps.auditKey, [last])
    }
    expect(await detailAfter(goOn)).toContain('event 6 of')
  })

  test('shows a change of any record of a trail, and a trail that is gone', async () => {
    const [chain] = await server.app.deps.database.read((tx) =>
      tx.db.selectFrom('audit_chains').where('organization_id', '=', organization.id).selectAll().execute(),
    )
    const changes = {
      organization_id: 'org-other',
      position: 5,
      at: '2030-01-01T00:00:00.000Z',
      link: randomBytes(32),
      start_position: 1,
      start: Buffer.from(chain?.start as Uint8Array).map((byte, at) => (at === 3 ? byte ^ 1 : byte)),
      oldest_at: null,
    }
    expect(Object.keys(changes).toSorted()).toEqual(Object.keys(chain as object).toSorted())
    for (const [column, value] of Object.entries(changes)) {
      const { problem } = await verdictAfter(server, (tx) =>
        tx.db
          .updateTable('audit_chains')
          .set({ [column]: value })
          .where('organization_id', '=', organization.id)
          .execute(),
      )
      expect(problem, column).toBeDefined()
    }
    const removeChain = async (tx: Transaction) => {
      await tx.db.deleteFrom('audit_events').where('organization_id', '=', organization.id).execute()
      await tx.db.deleteFrom('audit_chains').where('organization_id', '=', organization.id).execute()
    }
    expect((await verdictAfter(server, removeChain)).problem?.detail).toBe(
      'there are 2 trails, and there should be 3',
    )
    const removeAll = async (tx: Transaction) => {
      await tx.db.deleteFrom('audit_events').execute()
      await tx.db.deleteFrom('audit_chains').execute()
    }
    expect((await verdictAfter(server, removeAll)).problem?.detail).toContain('whole site is missing')
  })

  test('begins anew if it is gone, also beside another one', async () => {
    const { database, auditKey } = server.app.deps
    const [row] = await rowsOf(server, organization)
    const { number: _number, position: _position, mac: _mac, ...event } = row as Row
    const undone = new Error('undone')
    const adding = database.write(async (tx) => {
      await tx.db.deleteFrom('audit_events').where('organization_id', '=', organization.id).execute()
      await tx.db.deleteFrom('audit_chains').where('organization_id', '=', organization.id).execute()
      await chainAuditEvents(tx, auditKey, [{ ...event, organization_id: null }, event])
      const added = tx.db.selectFrom('audit_events').select('organization_id').orderBy('number', 'desc')
      expect(await added.limit(2).execute()).toEqual([
        { organization_id: organization.id },
        { organization_id: null },
      ])
      throw undone
    })
    await expect(adding).rejects.toBe(undone)
  })

  test('is shown to be another when it was written with another key', async () => {
    const { database } = server.app.deps
    const verdict = await database.read((tx) => verifyAuditTrail(tx, new AuditKey(randomBytes(32))))
    expect(verdict.problem).toBeDefined()
  })

  test.each([
    ['as many', 2],
    ['fewer', 1],
  ])('goes on from an end that was locked before, for %s events', async (_, count) => {
    const { database, auditKey } = server.app.deps
    const other = await createTestOrganization(server)
    const [row] = await rowsOf(server, other)
    const { number: _number, position: _position, mac: _mac, ...event } = row as Row
    await database.write(
      async (tx) => {
        const head = await lockAuditHead(tx, other.id, { count, before: 0 })
        await chainAuditEvents(tx, auditKey, [event, event], head && [head])
      },
      { organizationId: other.id },
    )
    expect((await rowsOf(server, other)).map(({ position }) => position)).toEqual([1, 2, 3])
    expect((await verify(server)).problem).toBeUndefined()
  })
})

describe.each(engines)('the chain of audit events on %s, as time goes by', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(engine)
  })
  afterAll(() => server.stop())

  const retain = async (days: number) => {
    const { database, auditKey, clock, log } = server.app.deps
    const retention = auditRetention(database, auditKey, clock, log, days)
    await retention.run()
    await retention.stop()
  }

  test('begins behind the events that PURSER_AUDIT_DAYS deletes, and verifies from there', async () => {
    const organization = await createTestOrganization(server)
    for (let count = 0; count < 250; count++) await createUser(server)
    for (let count = 0; count < 3; count++) await createTeam(organization)
    const before = await rowsOf(server, organization)
    await server.passTime(30 * DAY_MS)
    const kept = await createTeam(organization)
    await retain(20)
    expect((await verify(server)).problem).toBeUndefined()
    const rows = await rowsOf(server, organization)
    expect(rows.map(({ resource_id: id }) => id)).toEqual([kept])
    const list = await organization.owner.client.get(`/organizations/${organization.name}/audit-events`)
    expect(list.json.meta.pagination['total-count']).toBe(1)

    // Deleted events cannot be inserted again without being noticed, and neither can the earlier record of the chain.
    const [deleted] = before as [Row]
    const again = await verdictAfter(server, (tx) =>
      tx.db.insertInto('audit_events').values(deleted).execute(),
    )
    expect(again.problem?.detail).toContain('belongs to no trail')
    const emptied = await verdictAfter(server, async (tx) => {
      await tx.db.deleteFrom('audit_events').where('organization_id', '=', organization.id).execute()
      await tx.db
        .updateTable('audit_chains')
        .set({ position: 4, at: '', oldest_at: null })
        .where('organization_id', '=', organization.id)
        .execute()
    })
    expect(emptied.problem).toBeDefined()

    // After a long time without events nothing is left. New events continue the numbers.
    await server.passTime(30 * DAY_MS)
    await retain(20)
    expect(await rowsOf(server, organization)).toEqual([])
    expect((await verify(server)).problem).toBeUndefined()
    await createTeam(organization)
    expect(await rowsOf(server, organization)).toMatchObject([{ position: 6 }])
    expect((await verify(server)).problem).toBeUndefined()
  }, 60_000)

  test('keeps what does not verify, however old it is', async () => {
    const organization = await createTestOrganization(server)
    await createTeam(organization)
    const [first] = await rowsOf(server, organization)
    const change = (action: string) =>
      server.app.deps.database.write((tx) =>
        tx.db
          .updateTable('audit_events')
          .set({ action })
          .where('number', '=', first?.number as number)
          .execute(),
      )
    await change('another.act')
    await server.passTime(30 * DAY_MS)
    await retain(20)
    expect(await rowsOf(server, organization)).toHaveLength(2)
    expect((await verify(server)).problem).toMatchObject({ position: 1 })
    await change(first?.action as string)
    await retain(20)
    expect(await rowsOf(server, organization)).toHaveLength(0)
    expect((await verify(server)).problem).toBeUndefined()
  })

  test('ends with its organization, when the last event is too old', async () => {
    const organization = await createTestOrganization(server)
    await organization.owner.client.delete(`/organizations/${organization.name}`)
    await server.app.deps.deletions.run()
    expect((await verify(server)).problem).toBeUndefined()
    expect(await rowsOf(server, organization)).not.toEqual([])
    const { chains } = await verify(server)
    await server.passTime(30 * DAY_MS)
    await retain(20)
    const verdict = await verify(server)
    expect(verdict.problem).toBeUndefined()
    expect(verdict.chains).toBe(chains - 1)
  })
})

describe.each(engines)('audit events of two nodes on one %s database', (engine) => {
  test('stand one behind the other', async () => {
    const first = await startServer(engine)
    const second = await startNode(first)
    onTestFinished(async () => {
      await second.stop()
      await first.stop()
    })
    const organization = await createTestOrganization(first)
    const { workspaceId } = await createState(
      organization,
      '{"a": {"value": "secret", "type": "string", "sensitive": true}}',
    )
    const current = await organization.owner.client.get(`/workspaces/${workspaceId}/current-state-version`)
    const clients = [organization.owner.client, second.client(organization.owner.client.token)]
    const before = (await rowsOf(first, organization)).length
    await Promise.all(
      Array.from({ length: 60 }, async (_, count) => {
        const client = clients[count % 2] as (typeof clients)[number]
        if (count % 3 === 0) {
          // Reveals lock only the chain.
          const seen = await client.get(`/state-versions/${current.json.data.id}/outputs`)
          expect(seen.text).toContain('secret')
        } else if (count % 3 === 1) {
          const name = `team-${count}`
          const made = await client.post(`/organizations/${organization.name}/teams`, {
            data: { type: 'teams', attributes: { name } },
          })
          expect(made.status).toBe(200)
        } else {
          await createTestOrganization(
            count % 2 === 0 ? first : { ...second, admin: second.client(first.admin.token) },
          )
        }
      }),
    )
    const rows = await rowsOf(first, organization)
    expect(rows).toHaveLength(before + 40)
    expect(rows.map(({ number }) => number)).toEqual(
      rows.map(({ number }) => number).toSorted((a, b) => a - b),
    )
    const verdict = await verify(second)
    expect(verdict.problem).toBeUndefined()
    expect(verdict.chains).toBe(22)
  }, 60_000)
})

describe.each(engines)('purser audit verify on %s', (engine) => {
  test('says that all is well and ends with 0, or names the first bad event and ends with 1', async () => {
    const settings = await settingsFor(engine)
    expect(await run(['migrate'], settings)).toMatchObject({ code: 0 })
    expect(await run(['audit', 'verify'], settings)).toMatchObject({
      code: 0,
      stdout: 'intact: 0 events in 0 trails\n',
    })
    const purser = new Purser(['serve'], settings)
    await purser.address()
    for (const name of ['jane', 'joe']) {
      await run(['user', 'create', name, '--email', `${name}@example.com`], settings)
    }
    await run(['organization', 'create', 'acme', '--email', 'o@example.com', '--owner', 'jane'], settings)
    const seen = join(settings.PURSER_DATA as string, 'seen.json')
    const ends = await run(['audit', 'verify', '--json'], settings)
    writeFileSync(seen, ends.stdout)
    expect(JSON.parse(ends.stdout).ends).toMatchObject([{ organization: null }, { position: 1 }])
    const good = await run(['audit', 'verify', '--seen', seen], settings)
    expect(good).toMatchObject({ code: 0, stdout: 'intact: 4 events in 2 trails\n', stderr: '' })

    const config = readConfig(
      {
        data: settings.PURSER_DATA,
        ...(engine === 'postgres'
          ? {
              databaseUrl: settings.PURSER_DATABASE_URL,
              secretKey: settings.PURSER_SECRET_KEY,
            }
          : {}),
      },
      {},
    )
    const { database } = await openDatabase(config)
    onTestFinished(() => database.close())
    await database.write((tx) =>
      tx.db
        .updateTable('audit_events')
        .set({ actor_name: 'joe' })
        .where('action', '=', 'organization.create')
        .execute(),
    )
    const bad = await run(['audit', 'verify'], settings)
    expect(bad).toMatchObject({ code: 1, stdout: '' })
    expect(bad.stderr).toMatch(
      /^purser: the audit trail is not intact: event 1 of org-\w{16} \(number 4, 20\S+Z, organization.create\) differs from what was written.*organization acme\n$/,
    )
    const json = await run(['audit', 'verify', '--json'], settings)
    expect(json.code).toBe(1)
    expect(JSON.parse(json.stdout)).toMatchObject({
      intact: false,
      problem: { position: 1, number: 4, organization: { name: 'acme' } },
    })
    // `purser audit` without `verify` still prints the trail.
    expect((await run(['audit', '--json'], settings)).stdout.trim().split('\n')).toHaveLength(4)
  }, 120_000)
})

onPostgres('purser audit verify', (server, query) => {
  test('reads a trail that takes longer than a request may', async () => {
    const name = new URL(server.databaseUrl ?? '').pathname.slice(1)
    // Holds for reads of requests.
    await query(`alter database ${name} set lock_timeout = '200ms'`)
    await query('begin; lock table audit_events')
    const verifying = run(['audit', 'verify'], settingsOf(server))
    const isWaiting = async () =>
      (await query("select from pg_locks where relation = 'audit_events'::regclass and not granted")).rowCount
    await expect.poll(isWaiting).toBe(1)
    await Promise.race([verifying, new Promise((resolve) => setTimeout(resolve, 500))])
    await query('rollback')
    expect(await verifying).toMatchObject({ code: 0, stderr: '' })
  })
})
