import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../src/core/ids.ts'
import { migrate } from '../src/database/migrate.ts'
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

  test('dear reads that come together wait for each other, and another caller for few of them', async () => {
    const order: string[] = []
    const dear = (caller: string) =>
      one.read(
        async (tx) => {
          for (const end = performance.now() + 15; performance.now() < end;);
          await findOrganizationByName(tx, 'acme')
          order.push(caller)
        },
        { caller },
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

  test('a slow read gives way to others, and sees nothing of what is written meanwhile', async () => {
    let turns = 0
    const findOften = (isSlow: boolean) =>
      one.read(
        async (tx) => {
          let isOver = false
          const tick = () => {
            turns += 1
            if (!isOver) setImmediate(tick)
          }
          setImmediate(tick)
          const emails = new Set<string | undefined>()
          for (const end = performance.now() + 50; performance.now() < end;) {
            emails.add((await findOrganizationByName(tx, 'acme'))?.email)
          }
          isOver = true
          return [...emails]
        },
        { isSlow },
      )
    await one.write((tx) => updateOrganization(tx, id, { email: 'before@example.com' }))
    const slow = findOften(true)
    await one.write((tx) => updateOrganization(tx, id, { email: 'after@example.com' }))
    expect(await slow).toEqual(['before@example.com'])
    expect(turns).toBeGreaterThan(2)
    expect(await emailSeenBy(one)).toBe('after@example.com')
    turns = 0
    await findOften(false)
    expect(turns).toBe(0)
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
