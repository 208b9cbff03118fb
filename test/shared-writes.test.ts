import { sql } from 'kysely'
import { Client } from 'pg'
import { describe, expect, test, vi } from 'vitest'
import type { Transaction } from '../src/database/database.ts'
import { PostgresProbe } from '../src/database/postgres-probe.ts'
import { prepared } from '../src/database/prepared.ts'
import { onlyPostgres } from './support/engines.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { startServer, type TestServer } from './support/server.ts'
import { createTestOrganization, uniqueName } from './support/world.ts'

const WRITES = 20

type Work = (tx: Transaction, place: number) => Promise<unknown>

/** Starts many writes of one organization at once: all but the first ones wait. */
function writeAtOnce({ app }: TestServer, organizationId: string, work: Work) {
  const { database } = app.deps
  return Promise.allSettled(
    Array.from({ length: WRITES }, (_, place) =>
      database.write((tx) => work(tx, place), { organizationId, caller: `caller ${place}` }),
    ),
  )
}

async function addTag({ db }: Transaction, organizationId: string, name: string): Promise<string> {
  await db
    .insertInto('tags')
    .values({ id: name, organization_id: organizationId, name, created_at: '' })
    .execute()
  return name
}

const insertTag = prepared<{ id: string; organizationId: string }>()((db, param) =>
  db.insertInto('tags').values({
    id: param('id'),
    organization_id: param('organizationId'),
    name: param('id'),
    created_at: '',
  }),
)

function tagsOf({ app }: TestServer, organizationId: string): Promise<string[]> {
  return app.deps.database.read(async ({ db }) => {
    const rows = await db
      .selectFrom('tags')
      .where('organization_id', '=', organizationId)
      .select('name')
      .orderBy('name')
      .execute()
    return rows.map(({ name }) => name)
  })
}

onEachEngine('writes of one organization at once', (server) => {
  test('each has its own answer, and one that fails undoes only itself', async () => {
    const { id } = await createTestOrganization(server)
    const names = Array.from({ length: WRITES }, () => uniqueName('tag'))
    const committed: number[] = []
    const results = await writeAtOnce(server, id, async (tx, place) => {
      tx.afterCommit(() => committed.push(place))
      await addTag(tx, id, names[place] as string)
      if (place % 5 === 3) throw new Error(`refused ${place}`)
      return place
    })
    const isKept = (_: unknown, place: number) => place % 5 !== 3
    for (const [place, result] of results.entries()) {
      if (isKept(0, place)) expect(result).toEqual({ status: 'fulfilled', value: place })
      else expect(result).toMatchObject({ status: 'rejected', reason: { message: `refused ${place}` } })
    }
    expect(await tagsOf(server, id)).toEqual(names.filter(isKept).toSorted())
    expect(committed.toSorted((a, b) => a - b)).toEqual([...names.keys()].filter((n) => isKept(0, n)))
  })

  test('a statement that fails fails its own write only', async () => {
    const { id } = await createTestOrganization(server)
    const names = Array.from({ length: WRITES }, () => uniqueName('tag'))
    const results = await writeAtOnce(server, id, async (tx, place) => {
      await addTag(tx, id, names[place] as string)
      if (place === 7) await sql`select missing from tags`.execute(tx.db)
    })
    expect(results.map(({ status }, place) => [place, status])).toEqual(
      results.map((_, place) => [place, place === 7 ? 'rejected' : 'fulfilled']),
    )
    expect(await tagsOf(server, id)).toEqual(names.filter((_, place) => place !== 7).toSorted())
  })

  test('of teams with one name exactly one is made, and the audit trail has one event for each', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const path = `/organizations/${organization.name}/teams`
    const taken = uniqueName('taken')
    const answers = await Promise.all(
      Array.from({ length: WRITES }, (_, place) => {
        const name = place % 2 === 0 ? taken : `team-${place}`
        return client.post(path, { data: { type: 'teams', attributes: { name } } })
      }),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((_, place) => place % 2 === 1)).toEqual(Array(WRITES / 2).fill(200))
    const taking = statuses.filter((_, place) => place % 2 === 0)
    expect(taking.filter((status) => status === 200)).toHaveLength(1)
    expect(taking.filter((status) => status === 422)).toHaveLength(WRITES / 2 - 1)
    const trail = await client.get(
      `/organizations/${organization.name}/audit-events?filter[action]=team.create&page[size]=100`,
    )
    const made = trail.json.data.map(
      (event: { attributes: { details: { name: string } } }) => event.attributes.details.name,
    )
    expect(made).toHaveLength(WRITES / 2 + 1)
    expect(new Set(made).size).toBe(made.length)
  })
})

describe.each(onlyPostgres)('on %s', (engine) => {
  test('writes that wait share transactions', async () => {
    const server = await startServer(engine)
    try {
      const { id } = await createTestOrganization(server)
      const transactions = new Set<string>()
      await writeAtOnce(server, id, async ({ db }) => {
        const { rows } = await sql<{ xid: string }>`select pg_current_xact_id()::text as xid`.execute(db)
        transactions.add((rows[0] as { xid: string }).xid)
      })
      expect(transactions.size).toBeLessThan(WRITES / 2)
    } finally {
      await server.stop()
    }
  })

  test('inserts that wait behind another write run side by side, and one that is refused runs again alone', async () => {
    const server = await startServer(engine)
    try {
      const { id } = await createTestOrganization(server)
      const { database } = server.app.deps
      const names = Array.from({ length: 8 }, () => uniqueName('tag'))
      const besides: (number | undefined)[] = []
      const refused = names[4] as string
      const insert = (name: string) =>
        database.write(
          async (tx) => {
            besides.push(tx.beside)
            if (name === refused) throw new Error('refused')
            await tx.all(insertTag, { id: name, organizationId: id })
          },
          { organizationId: id, caller: name, isOneInsert: true },
        )
      let inserts: Promise<unknown>[] = []
      const first = await database.write(
        async (tx) => {
          inserts = names.map(insert)
          return addTag(tx, id, uniqueName('first'))
        },
        { organizationId: id, caller: 'first' },
      )
      const results = await Promise.allSettled(inserts)
      const kept = names.filter((name) => name !== refused)
      expect(results.map(({ status }) => status === 'fulfilled')).toEqual(
        names.map((name) => name !== refused),
      )
      expect(await tagsOf(server, id)).toEqual([...kept, first].toSorted())
      // One insert has a connection of its own, where it waits for the lock. The refused one runs twice.
      expect(besides).toHaveLength(names.length + 1)
      expect(besides).toEqual(expect.arrayContaining([0, 1, 2, 3, 4, 5, 6]))
    } finally {
      await server.stop()
    }
  })

  test('a write that another one takes along is not refused, although the database is found to be useless', async () => {
    const server = await startServer(engine)
    const refuse = vi.spyOn(PostgresProbe.prototype, 'refuseUseless')
    try {
      const { id } = await createTestOrganization(server)
      const { database } = server.app.deps
      const names = Array.from({ length: WRITES }, () => uniqueName('tag'))
      const locker = new Client({ connectionString: server.databaseUrl })
      await locker.connect()
      await locker.query('begin')
      await locker.query('select from organizations where id = $1 for update', [id])
      const writing = Promise.allSettled(
        names.map((name) =>
          database.write((tx) => addTag(tx, id, name), { organizationId: id, caller: name }),
        ),
      )
      const isWaiting = async () =>
        (await locker.query(`select from pg_stat_activity where wait_event_type = 'Lock'`)).rows.length > 1
      await expect.poll(isWaiting, { timeout: 5_000 }).toBe(true)
      refuse.mockImplementation(() => {
        throw new Error('useless')
      })
      await locker.query('commit')
      await locker.end()
      const results = await writing
      refuse.mockRestore()
      const answered = names.filter((_, place) => results[place]?.status === 'fulfilled')
      // The others were not done.
      expect(await tagsOf(server, id)).toEqual(answered.toSorted())
      // Two had their turn before. Those that are answered beside them were taken along.
      expect(answered.length).toBeGreaterThan(2)
    } finally {
      refuse.mockRestore()
      await server.stop()
    }
  })

  test('slow writes do not make each other late: a shared transaction takes no other along after a second', async () => {
    const server = await startServer(engine)
    try {
      const { id } = await createTestOrganization(server)
      const transactions = new Map<string, number>()
      const results = await writeAtOnce(server, id, async ({ db }) => {
        const { rows } = await sql<{
          xid: string
        }>`select pg_current_xact_id()::text as xid, pg_sleep(0.4)`.execute(db)
        const { xid } = rows[0] as { xid: string }
        transactions.set(xid, (transactions.get(xid) ?? 0) + 1)
      })
      expect(results.map(({ status }) => status)).toEqual(Array(WRITES).fill('fulfilled'))
      // The third begins before the second is over, and is the last.
      expect(Math.max(...transactions.values())).toBeLessThanOrEqual(3)
    } finally {
      await server.stop()
    }
  })

  test('a write that is refused before it changed a row makes no other run again', async () => {
    const server = await startServer(engine)
    try {
      const { id } = await createTestOrganization(server)
      let runs = 0
      const results = await writeAtOnce(server, id, async (tx, place) => {
        runs += 1
        // A change of no row counts as none.
        await tx.db.deleteFrom('tags').where('id', '=', 'missing').execute()
        if (place % 3 === 1) throw new Error('refused')
        await addTag(tx, id, uniqueName('tag'))
      })
      expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(Math.ceil((WRITES - 1) / 3))
      expect(runs).toBe(WRITES)
    } finally {
      await server.stop()
    }
  })

  test('a write that loses the connection loses no other', async () => {
    const server = await startServer(engine)
    try {
      const { id } = await createTestOrganization(server)
      const names = Array.from({ length: WRITES }, () => uniqueName('tag'))
      const results = await writeAtOnce(server, id, async (tx, place) => {
        await addTag(tx, id, names[place] as string)
        if (place === 9) await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx.db)
      })
      const kept = await tagsOf(server, id)
      expect(kept).toEqual(names.filter((_, place) => results[place]?.status === 'fulfilled').toSorted())
      expect(results[9]).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
      expect(kept.length).toBeGreaterThan(0)
    } finally {
      await server.stop()
    }
  })
})
