import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { sql } from 'kysely'
import { newId } from '../src/core/ids.ts'
import type { Transaction } from '../src/database/database.ts'
import { migrate } from '../src/database/migrate.ts'
import { prepared } from '../src/database/prepared.ts'
import { SqliteDatabase } from '../src/database/sqlite.ts'
import { createOrganization } from '../src/organization-founding/create-organization.ts'
import { findOrganizationByName, updateOrganization } from '../src/organizations/organization-store.ts'
import { insertUser } from '../src/users/user-store.ts'

describe('a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'purser-test-'))
  let one: SqliteDatabase
  let other: SqliteDatabase
  let id: string
  const at = '2026-01-01T00:00:00.000Z'

  beforeAll(async () => {
    one = new SqliteDatabase(join(folder, 'test.sqlite'))
    await one.withConnection(migrate)
    other = new SqliteDatabase(join(folder, 'test.sqlite'))
    const ownerId = newId('user')
    const name = 'acme'
    const made = await one.write(async (tx) => {
      await insertUser(tx, { id: ownerId, username: 'x', username_key: 'x', created_at: at })
      return createOrganization(tx, newId, { name, email: 'a@example.com', settings: {}, ownerId, at })
    })
    id = made?.id as string
  })
  afterAll(async () => {
    await one.close()
    await other.close()
    rmSync(folder, { recursive: true })
  })

  const emailSeenBy = async (database: SqliteDatabase) =>
    (await database.read((tx) => findOrganizationByName(tx, 'acme')))?.email

  test('shows each commit to the next read, whichever connection it came from', async () => {
    for (const [number, writer] of [one, other, one, other].entries()) {
      await Promise.all([emailSeenBy(one), emailSeenBy(other)])
      const email = `${number}@example.com`
      await writer.write((tx) => updateOrganization(tx, id, { email }))
      expect(await emailSeenBy(writer)).toBe(email)
      await new Promise((resolve) => setImmediate(resolve))
      expect(await emailSeenBy(one)).toBe(email)
      expect(await emailSeenBy(other)).toBe(email)
    }
  })

  test('caches rows by all values of a query, so that no caller gets the row of other values', async () => {
    const query = prepared<{ first: string; second: string | number }>()((db, param) =>
      db
        .selectNoFrom((eb) => [eb.val(param('first')).as('first'), eb.val(param('second')).as('second')])
        .$castTo<{ first: string; second: string }>(),
    )
    const values = [
      ['a', 'bc'],
      ['ab', 'c'],
      ['', '1 abc'],
      ['abc', ''],
      ['3 abc', ''],
      ['a', 1],
      ['a', '1'],
      ['a'.repeat(600), 'b'],
      ['a'.repeat(600), 'c'],
    ] as const
    await one.read(async (tx) => {
      for (const _ of [1, 2]) {
        for (const [first, second] of values) {
          expect(await tx.first(query, { first, second })).toEqual({ first, second })
        }
      }
    })
    const isCached = ([first, second]: (typeof values)[number]) =>
      query.cacheKey('sqlite', { first, second }) !== undefined
    expect(values.filter((pair) => !isCached(pair)).map(([, second]) => second)).toEqual([1, 'b', 'c'])
  })

  test('dear reads that come together wait for each other, and another account for few of them', async () => {
    const order: string[] = []
    const dear = (account: string) =>
      one.read(
        async (tx) => {
          for (const end = performance.now() + 15; performance.now() < end;);
          await findOrganizationByName(tx, 'acme')
          order.push(account)
        },
        { account },
      )
    const reads = Array.from({ length: 8 }, () => dear('one'))
    reads.push(dear('another'))
    let turns = 0
    const tick = () => {
      turns += 1
      if (order.length < 9) setImmediate(tick)
    }
    setImmediate(tick)
    await Promise.all(reads)
    expect(order.indexOf('another')).toBeLessThan(4)
    expect(turns).toBeGreaterThan(5)
  })

  test('a slow read sees one snapshot, while others write', async () => {
    const emails = await one.read(
      async (tx) => {
        const before = await findOrganizationByName(tx, 'acme')
        await one.write((write) => updateOrganization(write, id, { email: 'after@example.com' }))
        return [before?.email, (await findOrganizationByName(tx, 'acme'))?.email]
      },
      { isSlow: true },
    )
    expect(emails[0]).not.toBe('after@example.com')
    expect(emails[1]).toBe(emails[0])
    expect(await emailSeenBy(one)).toBe('after@example.com')
    const slow = await one.read((tx) => findOrganizationByName(tx, 'acme'), { isSlow: true })
    expect(slow?.email).toBe('after@example.com')
  })

  const countTo = (rows: number) => async (tx: Transaction) => {
    const { rows: counted } = await sql<{
      n: number
    }>`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${rows})
      select count(*) + 0 * (select count(*) from sqlite_schema) as n from numbers`.execute(tx.db)
    return counted[0]?.n
  }

  test('while one statement of a slow read runs, others read and write', async () => {
    const order: string[] = []
    const slow = one
      .read(countTo(3_000_000), { isSlow: true, account: 'one' })
      .then((n) => order.push(`${n}`))
    for (const name of ['first', 'second', 'third']) {
      await one.write((tx) => updateOrganization(tx, id, { email: `${name}@example.com` }))
      order.push((await emailSeenBy(one)) as string)
    }
    await slow
    expect(order).toEqual(['first@example.com', 'second@example.com', 'third@example.com', '3000000'])
  })

  test('an account has one slow read at a time, so that another need not wait', async () => {
    const order: string[] = []
    const read = (account: string, rows: number) =>
      one.read(countTo(rows), { isSlow: true, account }).then(() => order.push(account))
    await Promise.all([...Array.from({ length: 4 }, () => read('one', 1_000_000)), read('another', 10)])
    expect(order).toEqual(['another', 'one', 'one', 'one', 'one'])
  })

  test('a slow read that takes too long is 503, and the next one gets a new thread', async () => {
    const hasty = new SqliteDatabase(join(folder, 'test.sqlite'), { slowReadMs: 1_500 })
    const read = (work: (tx: Transaction) => Promise<unknown>) =>
      hasty.read(work, { isSlow: true, account: 'one' })
    await expect(read(countTo(20_000_000))).rejects.toMatchObject({
      code: 'unavailable',
      problems: [{ detail: 'the read took too long' }],
    })
    // On a busy machine the thread itself may take too long to begin.
    await vi.waitUntil(async () => (await read(countTo(10)).catch(() => undefined)) === 10, {
      timeout: 60_000,
    })
    await hasty.close()
  })

  test('slow reads that overlap do not keep the log from being copied', async () => {
    const path = join(folder, 'log.sqlite')
    const database = new SqliteDatabase(path, { isDurable: false })
    await database.withConnection((db) =>
      sql`create table pages (id integer primary key, bytes blob)`.execute(db),
    )
    const over = new AbortController()
    const readOften = async (account: string) => {
      while (!over.signal.aborted) await database.read(countTo(300_000), { isSlow: true, account })
    }
    const readers = ['one', 'another', 'third'].map(readOften)
    for (let number = 0; number < 500; number++) {
      await database.write(({ db }) =>
        sql`insert or replace into pages values ${sql.join(Array.from({ length: 12 }, (_, id) => sql`(${id}, randomblob(60000))`))}`.execute(
          db,
        ),
      )
    }
    over.abort()
    await Promise.all(readers)
    // Everything that was written is 360 MB.
    expect(statSync(`${path}-wal`).size).toBeLessThan(250e6)
    await database.close()
  })

  test('a slow read whose thread cannot open the file is 503', async () => {
    const path = join(folder, 'away.sqlite')
    const database = new SqliteDatabase(path)
    await database.withConnection(migrate)
    rmSync(path)
    const read = database.read(countTo(10), { isSlow: true, account: 'one' })
    await expect(read).rejects.toMatchObject({
      code: 'unavailable',
      problems: [{ detail: 'the database cannot open a file' }],
    })
    await database.close()
  })

  test('an orderly end leaves nothing beside the file, also after slow reads', async () => {
    const path = join(folder, 'ended.sqlite')
    const ended = new SqliteDatabase(path)
    await ended.withConnection(migrate)
    for (const account of ['one', 'another']) await ended.read(countTo(10), { isSlow: true, account })
    expect(existsSync(`${path}-wal`)).toBe(true)
    await ended.close()
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  test('a name that was not there is found once it is', async () => {
    const find = (name: string) => one.read((tx) => findOrganizationByName(tx, name))
    expect(await find('renamed')).toBeUndefined()
    expect(await find('renamed')).toBeUndefined()
    await other.write((tx) => updateOrganization(tx, id, { name: 'renamed' }))
    await new Promise((resolve) => setImmediate(resolve))
    expect(await find('renamed')).toMatchObject({ id })
    expect(await find('acme')).toBeUndefined()
  })
})
